import { type Config, type ConfigOutcome, changedKeys, formatFault, type KeyName } from "../config/index.ts";
import type { RootLog } from "../observe/index.ts";
import type { Gateway } from "./gateway.ts";

/** What came of reading the configuration again. */
export type ReloadOutcome =
  | { readonly kind: "reloaded"; readonly applied: readonly string[]; readonly needsRestart: readonly string[] }
  /** Nothing has changed. Faults hold no secrets. */
  | { readonly kind: "invalid"; readonly faults: readonly string[] }
  /** Whoever started this server did not say where its configuration is read from. */
  | { readonly kind: "unavailable" };

export type Reload = () => Promise<ReloadOutcome>;

/** Keys that are followed while connections and calls go on; all others hold at the next start. */
const followed: ReadonlySet<KeyName> = new Set<KeyName>([
  "UPSTREAMS_MAINNET",
  "UPSTREAMS_DEVNET",
  "UPSTREAMS_TESTNET",
  "CORDON_SLOTS",
  "CACHE_BYTES",
  "TRUSTED_PROXIES",
  "LOG_LEVEL",
]);

/**
 * Reads the configuration again and follows what can be followed without dropping a connection. All of it is validated
 * before any of it is applied. Reloads come one after another.
 */
export function createReload(
  started: Config,
  dependencies: {
    readonly read: (() => ConfigOutcome) | null;
    readonly gateway: Pick<Gateway, "upstreams" | "resizeCache" | "trustedProxies">;
    readonly log: RootLog;
    /** Has operators' orders stand over nodes that came in. */
    readonly recallOrders: () => Promise<void>;
  },
): Reload {
  const { read, gateway, log, recallOrders } = dependencies;
  let present = started;
  const reload: Reload = async () => {
    if (read === null) return { kind: "unavailable" };
    const outcome = read();
    if (!outcome.ok) {
      const faults = outcome.faults.map(formatFault);
      log.warn({ faults }, "the configuration is not valid; nothing was changed");
      return { kind: "invalid", faults };
    }
    const { upstreams, cordonSlots, cacheBytes, trustedProxies, logLevel } = outcome.config;
    const changed = changedKeys(present, outcome.config);
    const applied = changed.filter((key) => followed.has(key));
    // The one step that can fail comes first, and changes nothing when it does.
    gateway.upstreams.reconfigure(upstreams, BigInt(cordonSlots));
    gateway.resizeCache(cacheBytes);
    gateway.trustedProxies.replace(trustedProxies);
    log.setLevel(logLevel);
    present = { ...present, upstreams, cordonSlots, cacheBytes, trustedProxies, logLevel };
    await recallOrders();
    const needsRestart = changed.filter((key) => !followed.has(key));
    log.info({ applied, needsRestart }, "the configuration was read again");
    return { kind: "reloaded", applied, needsRestart };
  };
  let last: Promise<unknown> = Promise.resolve();
  return () => {
    const next = last.then(reload);
    last = next.catch(() => undefined);
    return next;
  };
}
