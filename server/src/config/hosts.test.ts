import { expect, test } from "bun:test";
import { findHostFaults } from "./hosts.ts";
import { loadConfig } from "./load.ts";

async function faultsOf(env: Record<string, string>): Promise<string[]> {
  const outcome = loadConfig({ mode: "dev", env });
  if (!outcome.ok) throw new Error("the form of the hosts is valid");
  const resolve = async (host: string) => {
    if (host !== "known.example") throw new Error("ENOTFOUND");
  };
  const faults = await findHostFaults(outcome.config, resolve);
  return faults.map(({ key, source, given }) => `${key} ${source} ${given}`);
}

test("a host to listen on is an address or a name that resolves, told with its key and where it is from", async () => {
  expect(await faultsOf({})).toEqual([]);
  for (const host of ["127.0.0.1", "::", "[::1]", "known.example"]) expect(await faultsOf({ BIND: host })).toEqual([]);
  for (const host of ["xyz", "1.2.3.999", "256.1.1.1"]) {
    expect(await faultsOf({ BIND: host })).toEqual([`BIND environment ${host}`]);
  }
  expect(await faultsOf({ API_BIND: "xyz:8691", METRICS_BIND: "abc:9464" })).toEqual([
    "API_BIND environment xyz",
    "METRICS_BIND environment abc",
  ]);
});
