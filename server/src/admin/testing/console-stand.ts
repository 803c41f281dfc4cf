import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ConsoleUpstream } from "@sluice/contract/schemas";
import type { Permission } from "@sluice/contract/tiers";
import { compileAddressSet, ManualClock, seededRandom } from "@sluice/lib";
import { Access } from "../../access/index.ts";
import { createKeys } from "../../keys/index.ts";
import type { LedgerTableState } from "../../ledger/index.ts";
import { createLimits } from "../../limits/index.ts";
import { createLog } from "../../observe/index.ts";
import { type KeyRecord, openState, type State } from "../../state/index.ts";
import { createConsole } from "../console.ts";
import type { ConsoleSessionDependencies } from "../console-session.ts";
import { insertKey } from "./insert-key.ts";

export const consoleHost = "127.0.0.1:8899";

/** The tables that operators are shown. */
export const ledgerOfTests: readonly LedgerTableState[] = [
  { name: "requests", rows: 5, bytes: 1_000, oldestMs: Date.UTC(2026, 9, 1), kept: 62 * 86_400_000 },
  { name: "oracle_ticks", rows: 0, bytes: 0, oldestMs: null, kept: null },
];

export const nodesOfTests: readonly ConsoleUpstream[] = [
  {
    label: "one",
    network: "mainnet",
    health: "healthy",
    out: null,
    restsUntil: null,
    slot: 5,
    slotLag: 0,
    latencyMs: 1,
  },
  {
    label: "two",
    network: "mainnet",
    health: "down",
    out: "silent",
    restsUntil: null,
    slot: null,
    slotLag: null,
    latencyMs: null,
  },
  {
    label: "other",
    network: "devnet",
    health: "down",
    out: "silent",
    restsUntil: null,
    slot: null,
    slotLag: null,
    latencyMs: null,
  },
];

interface Ask {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
  readonly socketAddress?: string;
}

/** The console's REST over a real state store, real keys and real limits, in one process. Its network is mainnet. */
export interface ConsoleStand extends AsyncDisposable {
  readonly state: State;
  readonly clock: ManualClock;
  readonly closing: AbortController;
  readonly sessions: ConsoleSessionDependencies;
  /** Swapped by a test to show other nodes. */
  nodes: readonly ConsoleUpstream[];
  /** The account that is open without a session; null at first. */
  openAccount: string | null;
  /** Whether no node tells where the chain is. */
  isSilent: boolean;
  account(tier?: "free" | "business"): Promise<string>;
  key(accountId: string, permissions: Permission[], changes?: Partial<KeyRecord>): Promise<{ id: string; key: string }>;
  ask(path: string, ask?: Ask): Promise<Response>;
  /** The cookie of a new session. */
  signIn(key: string): Promise<string>;
}

export async function openConsoleStand(
  options: { trustedProxies?: readonly string[]; publicUrl?: string } = {},
): Promise<ConsoleStand> {
  const directory = mkdtempSync(join(tmpdir(), "sluice-console-"));
  const clock = new ManualClock(Date.UTC(2026, 10, 20, 12));
  const random = seededRandom(7);
  const log = createLog({ level: "silent" });
  const state = await openState({ directory, databaseUrl: null }, { clock, random, log });
  const keys = createKeys(
    { developmentKeys: "accept", flushIntervalMs: null },
    { clock, log, findByHash: (hash) => state.keys.findByHash(hash), touch: (used) => state.keys.touch(used) },
  );
  const unused = (): never => {
    throw new Error("credits were not expected to be asked");
  };
  const closing = new AbortController();
  const trustedProxies = compileAddressSet(options.trustedProxies ?? []);
  const sessions: ConsoleSessionDependencies = {
    state,
    clock,
    access: new Access(
      { trustedProxies, network: "mainnet" },
      { keys, limits: createLimits({}, { clock }), credits: { take: unused, refund: unused, balance: unused } },
    ),
    openAccount: () => stand.openAccount,
  };
  const app = createConsole(
    { network: "mainnet", version: "1.2.3", publicUrl: options.publicUrl ?? null, closing: closing.signal },
    {
      ...sessions,
      state,
      log,
      requestId: () => "req-1",
      endpoints: ({ operates }) => [
        { name: "rpc", address: "http://rpc.example", protocol: "JSON-RPC", status: "open" },
        ...(operates
          ? [{ name: "metrics", address: "http://127.0.0.1:9464", protocol: "Prometheus", status: "open" as const }]
          : []),
      ],
      upstreams: () => stand.nodes,
      chainPosition: async () => {
        if (stand.isSilent) throw new Error("no node answers");
        return { slot: 5n, blockHeight: 4n, transactionCount: 3n };
      },
      ledgerTables: () => ledgerOfTests,
      usage: async () => ({ requests: 0, errors: 0, credits: 0, byMinute: [] }),
      creditsUsed: async () => ({ used: 0n }),
      names: null,
      prices: (frequencySeconds) => ({
        ...{ origin: "live", door: "http://127.0.0.1", prices: [], sources: [] },
        observedAt: `every ${frequencySeconds} s`,
      }),
      bundles: null,
      pool: null,
      sql: null,
      enhanced: null,
      webhooks: null,
    },
  );
  const stand: ConsoleStand = {
    state,
    clock,
    closing,
    sessions,
    nodes: nodesOfTests,
    openAccount: null,
    isSilent: false,
    account: async (platform = "business") => (await state.accounts.create({ name: "a", tiers: { platform } })).id,
    key: (accountId, permissions, changes = {}) =>
      insertKey({ accountId, permissions, changes }, { state, clock, random }),
    ask: async (path, { method = "GET", headers = {}, body, socketAddress = "198.51.100.7" } = {}) => {
      const text = body === undefined ? null : JSON.stringify(body);
      const json = body === undefined ? {} : { "content-type": "application/json" };
      const request = new Request(`http://${consoleHost}/api/v1/console/${path}`, {
        method,
        headers: { host: consoleHost, ...json, ...headers },
        body: text,
      });
      return await app.fetch(request, { requestId: "req-1", socketAddress });
    },
    signIn: async (key) => {
      const answer = await stand.ask("session", {
        method: "POST",
        headers: { origin: `http://${consoleHost}` },
        body: { key },
      });
      if (!answer.ok) throw new Error(await answer.text());
      return answer.headers.get("set-cookie")?.split(";")[0] ?? "";
    },
    [Symbol.asyncDispose]: async () => {
      await keys[Symbol.asyncDispose]();
      await state[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
  return stand;
}
