import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import type { Config } from "./config.ts";
import type { ConfigFault } from "./faults.ts";
import type { KeyName } from "./keys.ts";

/** Rejects for a name that has no address. */
type Resolve = (host: string) => Promise<unknown>;

/**
 * The hosts to listen on that are neither an address nor a name that resolves: faults that only the machine can tell,
 * asked before anything is opened. An address of another machine is left to the listener, since what is checked here
 * may run there.
 */
export async function findHostFaults(
  { bind, resolver, metrics, settings }: Pick<Config, "bind" | "resolver" | "metrics" | "settings">,
  resolve: Resolve = lookup,
): Promise<ConfigFault[]> {
  const hosts: readonly [KeyName, string][] = [
    ["BIND", bind],
    ...(resolver.host === bind ? [] : [["API_BIND", resolver.host] as [KeyName, string]]),
    ["METRICS_BIND", metrics.host],
  ];
  const faults = await Promise.all(
    hosts.map(async ([key, host]): Promise<ConfigFault[]> => {
      if (isIP(host) !== 0 || (await resolve(host).catch(() => null)) !== null) return [];
      const source = settings.find(({ name }) => name === key)?.source ?? "default";
      return [{ key, source, given: host, expected: "an IP address, or a host name that resolves", suggestion: null }];
    }),
  );
  return faults.flat();
}
