import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { permissions } from "@sluice/contract/tiers";
import { systemClock, systemRandom } from "@sluice/lib";
import { issueKey } from "../../server/src/admin/index.ts";
import { openState } from "../../server/src/state/index.ts";
import { freePortOffset } from "../../server/test/testing/network.ts";
import { spawnChild } from "../rpc/child.ts";

const root = join(import.meta.dir, "..", "..");
const startMs = 60_000;

export interface SearcherPlan {
  readonly bundlesPerSecond: number;
  readonly burst: number;
}

export interface RunningSluice extends AsyncDisposable {
  readonly pid: number;
  readonly grpcPort: number;
  /** A key for each searcher that was asked for, in their order. */
  readonly keys: readonly string[];
  rpc<Result>(method: string, ...params: unknown[]): Promise<Result>;
  /** The sum of a metric over all its labels. */
  metric(name: string): Promise<number>;
}

/** Accounts with their own keys and limits, written before the server opens its state. */
async function makeSearchers(directory: string, plans: readonly SearcherPlan[]): Promise<string[]> {
  const log = { info: () => undefined, warn: () => undefined, error: console.error };
  const dependencies = { clock: systemClock, random: systemRandom, log };
  await using state = await openState({ directory: join(directory, "state"), databaseUrl: null }, dependencies);
  const keys: string[] = [];
  for (const [index, limit] of plans.entries()) {
    const tiers = { platform: "enterprise", oracle: "community", "oracle-v2": "community" } as const;
    const { id } = await state.accounts.create({ name: `searcher ${index}`, tiers });
    const { key, record } = issueKey(
      {
        accountId: id,
        name: "bench",
        environment: "dev",
        restrictions: { networks: [], domains: [], ipRanges: [] },
        permissions: [...permissions],
        methods: [],
        enhanced: false,
        enhancedRequestsPerSecond: null,
        requestsPerSecond: null,
        expiresAt: null,
      },
      dependencies,
    );
    await state.keys.insert(record);
    await state.engine.searchers.setLimit(id, limit);
    keys.push(key);
  }
  return keys;
}

/** The server as `npm start` runs it, with a chain whose validators take its bundles, and no oracle. */
export async function startSluice(
  options: { readonly slotMs: number; readonly simulators: number },
  searchers: readonly SearcherPlan[],
): Promise<RunningSluice> {
  const directory = mkdtempSync(join(tmpdir(), "sluice-bench-"));
  const devFile = join(directory, "dev.json");
  const keys = await makeSearchers(directory, searchers);
  const ports = ["--port-offset", String(await freePortOffset())];
  const chain = ["--slot-ms", String(options.slotMs), "--traffic", "0"];
  const profile = process.env["BENCH_PROFILE"];
  const bin = join(root, "bin", profile === undefined ? "sluice" : "with-bun");
  const main =
    profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profile}`, join(root, "server/src/main.ts")];
  const child = spawnChild(["sh", bin, ...main, "dev", ...ports, ...chain, "--log-level", "error"], {
    DATA_DIR: directory,
    ROLES: "gateway,engine",
    ENGINE_SIMULATORS: String(options.simulators),
  });
  for (const until = Date.now() + startMs; !existsSync(devFile); await Bun.sleep(50)) {
    if (child.isOver() || Date.now() > until) throw new Error("sluice dev did not start");
  }
  const dev = JSON.parse(readFileSync(devFile, "utf8")) as { key: string; pid: number; doors: Record<string, string> };
  const endpoint = (name: string): string => {
    const url = dev.doors[name];
    if (url === undefined || url === null) throw new Error(`there is no endpoint ${name}`);
    return url;
  };
  return {
    pid: dev.pid,
    grpcPort: Number(new URL(endpoint("engineGrpc")).port),
    keys,
    rpc: async (method, ...params) => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
      const headers = { "content-type": "application/json", "x-api-key": dev.key };
      const answer = await fetch(endpoint("rpc"), { method: "POST", headers, body });
      const { result, error } = await answer.json();
      if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
      return result;
    },
    metric: async (name) => {
      const text = await (await fetch(endpoint("metrics"))).text();
      const lines = text.split("\n").filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
      return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
    },
    [Symbol.asyncDispose]: async () => {
      await child.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
