import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ManualClock, SecretVault, seededRandom } from "@sluice/lib";
import { createManagement } from "../admin/index.ts";
import { fact } from "../ledger/testing/ledger-directory.ts";
import { openState, type State } from "../state/index.ts";
import { backfillRecord, fillRecord, ingestRecord, reparseRecord } from "./testing/chain-records.ts";
import { runProgram } from "./testing/run-program.ts";

/** Commands against a server's socket, behind which is its management application over a real state store. */

let heldCredits = 0n;
let keptSince: number | null = null;
const noon = Date.UTC(2026, 10, 20, 12);
const directory = mkdtempSync(join(tmpdir(), "sluice-verbs-"));
const resources = new AsyncDisposableStack();
const forgotten: string[] = [];
const asked: object[] = [];
let state: State;

const node = {
  network: "devnet" as const,
  label: "alpha",
  url: "https://alpha.example/…",
  ws: "wss://alpha.example/…",
  grpc: null,
  groups: ["read"],
  weight: 1,
  requests_per_second: null,
  headers: [],
  origin: "run time" as const,
  order: "open" as const,
  serving: true,
  out: null,
  rests_until: null,
  refuses: [],
  slot: 7,
  slot_lag: 0,
  latency_ms: 1.25,
  error_rate: 0,
  in_flight: 0,
};
const figures = {
  requests: 3,
  errors: 1,
  credits: 7n,
  bytesIn: 1n,
  bytesOut: 2n,
  cacheHits: 1,
  cacheMisses: 2,
  latencyMs: { p50: 1, p95: 2, p99: 3 },
};

beforeAll(async () => {
  const clock = new ManualClock(noon);
  const random = seededRandom(5);
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  state = resources.use(
    await openState({ directory: join(directory, "state"), databaseUrl: null }, { clock, random, log }),
  );
  const app = createManagement(
    { actor: "operator" },
    {
      state,
      clock,
      random,
      vault: new SecretVault("a".repeat(64), random),
      processId: "ab".repeat(12),
      backups: { start: () => undefined, progress: () => ({ status: "none" }) },
      log,
      requestId: () => "req-1",
      developmentKeys: "refuse",
      invalidateKey: (hash) => void forgotten.push(hash),
      invalidateAccount: (id) => void forgotten.push(id),
      engine: { figures: () => null, standsBy: () => false, refreshSwitches: async () => undefined },
      creditsUsed: async () => ({ month: "2026-11", used: 7n + heldCredits }),
      creditsHeld: async () => heldCredits,
      flushUsage: async () => undefined,
      readUsage: async (question) => {
        asked.push(question);
        return { rows: [{ group: "getSlot", ...figures }], more: false, total: figures };
      },
      requestsKeptSince: () => keptSince,
      ledgerTables: async () => [
        { name: "requests", rows: 2, bytes: 3 * 1024 ** 2, oldestMs: noon, kept: 62 * 86_400_000 },
        { name: "oracle_ticks", rows: 0, bytes: 0, oldestMs: null, kept: null },
      ],
      servedRequests: async () => 10n,
      recordedRequests: async () => new Map([["2026-11", 3n]]),
      requests: {
        flush: async () => undefined,
        find: async (id) => (id === "req_1" ? [fact({ requestId: "req_1", at: noon, rpcCode: -33429 })] : []),
        search: async (search) => {
          asked.push(search);
          return { facts: [fact({ requestId: "req_1", at: noon })], next: { atMs: noon, requestId: "req_1", skip: 1 } };
        },
      },
      lastHour: async () => ({ requests: 1, errors: 0, credits: 1 }),
      requestsUsed: async (_account, product) => ({ month: "2026-11", used: product === "oracle" ? 12n : 3n }),
      reload: async () => ({ kind: "unavailable" }),
      migrations: async () => ({ stores: [] }),
      contract: async () => [],
      server: {
        upstreams: {
          list: () => [node],
          prepare: () => ({ ok: false, reason: "taken" }),
          remove: async () => undefined,
          follow: async () => undefined,
        },
        ingest: {
          status: () => [ingestRecord],
          skip: (network, from, to) => {
            skipped.push(`${network} ${from} ${to}`);
            return to > 500n ? { ok: false, reason: "range" } : { ok: true };
          },
        },
        pool: {
          explain: async (question) => {
            const text = JSON.stringify({
              record: question.record,
              at: "2026-11-20T00:00:00.000Z",
              slot: "7",
              inputs: [{ what: "tips", where: "a", value: "5" }],
              steps: [JSON.stringify(question)],
            });
            return { text, body: new TextEncoder().encode(text), sinceMs: null, fromMs: 0 };
          },
        },
        backfills: {
          list: async () => [backfillRecord],
          add: async (network, { first, until }) => {
            if (network === "testnet") return { ok: false, reason: "network" };
            if (until < 10n) return { ok: false, reason: "aged" };
            return { ok: true, record: { ...backfillRecord, from: String(first), to: String(until - 1n) } };
          },
          cancel: async (id) => id === backfillRecord.id,
        },
        reparses: {
          list: async () => [reparseRecord],
          add: async (network, { first, until }) => {
            if (network === null) return { ok: false, reason: "networks" };
            if (network === "testnet") return { ok: false, reason: "network" };
            if (first !== null && first > 109n) return { ok: false, reason: "not-held" };
            const to = until === null ? reparseRecord.to : String(until - 1n);
            return { ok: true, record: { ...reparseRecord, from: String(first ?? 10n), to } };
          },
          cancel: async (id) => id === reparseRecord.id,
        },
        assetFills: {
          list: async () => [fillRecord],
          order: async (network, terms) => {
            if (network === "testnet") return { ok: false, reason: "network" };
            return { ok: true, record: { ...fillRecord, ...terms } };
          },
          cancel: async (id) => id === fillRecord.id,
        },
        closing: new AbortController().signal,
        status: async () => ({
          status: "degraded",
          version: "0.1.0",
          mode: "serve",
          pid: 7,
          uptime_seconds: 60,
          roles: ["gateway", "engine"],
          parts: { nodes: "ok", engine: "standby" },
          reasons: [{ role: "engine", part: "engine", is: "standby", message: "another process runs the engine" }],
          processes: [
            { id: "5eed", version: "0.0.9", roles: ["gateway", "engine"], since: "2026-11-23T00:00:00.000Z" },
          ],
          endpoints: [{ name: "rpc", url: "http://127.0.0.1:8899/rpc" }],
          nodes: [{ network: "devnet", serving: 1, of: 2 }],
          ingest: [ingestRecord],
        }),
      },
    },
  );
  const server = Bun.serve({ unix: join(directory, "sluice.sock"), fetch: (request) => app.fetch(request) });
  resources.defer(() => server.stop(true));
});
const skipped: string[] = [];
afterAll(async () => {
  await resources.disposeAsync();
  rmSync(directory, { recursive: true, force: true });
});

/** What a command prints. */
async function say(...args: string[]): Promise<string> {
  const { ok, text } = await runProgram(...args, "--data-dir", directory);
  if (!ok) throw new Error(text);
  return text;
}
const read = async (...args: string[]) => JSON.parse(await say(...args, "--json"));
const account = async (): Promise<string> => (await read("accounts", "create", "--name", "Acme")).id;

test("a record of the stake pool is explained by its inputs and its arithmetic", async () => {
  const shown = await say("pool", "explain", "apy");
  for (const part of [
    "apy, read at 2026-11-20T00:00:00.000Z by accounts of slot 7",
    "INPUT",
    "tips",
    '{"record":"apy"}',
  ])
    expect(shown).toContain(part);
  expect(await read("pool", "explain", "apy")).toMatchObject({ record: "apy", inputs: [{ value: "5" }] });
  const asked = async (...args: string[]) => JSON.parse((await read("pool", "explain", ...args)).steps[0]);
  expect(await asked("charts/tvl", "--period", "90d")).toEqual({ record: "charts/tvl", period: "90d" });
  const profits = { record: "pnl", strategy: "jit", period: "1h" };
  expect(await asked("pnl", "--strategy", "jit", "--period", "1h")).toEqual({ ...profits, accountId: null });
  expect(await asked("pnl", "--account", "a", "--strategy", "jit", "--period", "1h")).toEqual({
    ...profits,
    accountId: "a",
  });
  await expect(say("pool", "explain", "position")).rejects.toThrow();
  await expect(say("pool", "explain", "mev")).rejects.toThrow();
});

test("ingest is shown with its sources, and slots are given up at an operator's word", async () => {
  const shown = await say("ingest", "status");
  for (const part of ["lagging", "430", "contradicted", "devnet: The disk is full."]) expect(shown).toContain(part);
  expect(await say("status")).toMatch(/blocks of devnet\s+lagging, at slot 430/);
  expect(await read("ingest", "skip", "devnet", "431", "433")).toMatchObject({ networks: [{ network: "devnet" }] });
  expect(skipped).toEqual(["devnet 431 433"]);
  const audit = await read("audit");
  expect(audit.items[0]).toMatchObject({
    action: "ingest.skip",
    subject: "devnet",
    detail: { from: "431", to: "433" },
  });
  await expect(say("ingest", "skip", "devnet", "431", "900")).rejects.toThrow("ten million");
  await expect(say("ingest", "skip", "devnet", "x", "900")).rejects.toThrow("It must be a slot");
  await expect(say("ingest", "skip", "moonnet", "1", "2")).rejects.toThrow("mainnet");
});

test("slots of the past are ordered, shown with their pace, and cancelled", async () => {
  const order = ["backfill", "--network", "devnet", "--from", "10", "--to", "109"];
  expect(await read(...order)).toMatchObject({ from: "10", to: "109" });
  const shown = await say("backfill", "list");
  const aged = "m1: 50 of its 100 slots are older than the ledger keeps blocks (LEDGER_RETENTION_BLOCKS)";
  for (const part of ["m1", "50%", "2.5", "30 s", "m1: the block of slot 40 cannot be had", aged]) {
    expect(shown).toContain(part);
  }
  expect(await read("backfill", "cancel", "m1")).toMatchObject({ items: [{ id: "m1" }] });
  const audit = await read("audit");
  const actions = audit.items.slice(0, 2).map(({ action, subject }: Record<string, string>) => `${action} ${subject}`);
  expect(actions).toEqual(["backfill.cancel m1", "backfill.order m1"]);
  await expect(say("backfill", "cancel", "m2")).rejects.toThrow("No active order has this id");
  await expect(say("backfill", "--network", "devnet", "--from", "9", "--to", "8")).rejects.toThrow("below from");
  await expect(say("backfill", "--network", "testnet", "--from", "1", "--to", "8")).rejects.toThrow("has no nodes");
  await expect(say("backfill", "--network", "devnet", "--from", "1", "--to", "8")).rejects.toThrow(
    "All of these slots",
  );
  await expect(say("backfill", "--network", "devnet", "--from", "1")).rejects.toThrow("are needed");
  await expect(say("backfill", "--network", "devnet", "--from", "-1", "--to", "8")).rejects.toThrow("must be a slot");
});

test("transactions of the ledger are ordered to be parsed again, with pace and end, and an order is cancelled", async () => {
  expect(await read("reparse", "--network", "devnet")).toMatchObject({ from: "10", to: "109" });
  expect(await read("reparse", "--network", "devnet", "--from", "20", "--to", "30")).toMatchObject({ to: "30" });
  const shown = await say("reparse", "list");
  for (const part of ["r1", "7", "40%", "8000", "3210.5", "12 s", "r1: it is away"]) expect(shown).toContain(part);
  expect(await read("reparse", "cancel", "r1")).toMatchObject({ items: [{ id: "r1" }] });
  const audit = await read("audit");
  const actions = audit.items.slice(0, 3).map(({ action, subject }: Record<string, string>) => `${action} ${subject}`);
  expect(actions).toEqual(["reparse.cancel r1", "reparse.order r1", "reparse.order r1"]);
  await expect(say("reparse", "cancel", "r2")).rejects.toThrow("No active order has this id");
  await expect(say("reparse", "--network", "devnet", "--from", "9", "--to", "8")).rejects.toThrow("below from");
  await expect(say("reparse", "--network", "devnet", "--from", "110")).rejects.toThrow("holds none");
  await expect(say("reparse", "--network", "testnet")).rejects.toThrow("has no nodes");
  await expect(say("reparse")).rejects.toThrow("name one");
  await expect(say("reparse", "--network", "devnet", "--from", "x")).rejects.toThrow("must be a slot");
});

test("a fill of the index of assets is ordered, shown with its progress, and cancelled", async () => {
  const authority = "11111111111111111111111111111111";
  const order = ["assets", "fill", "--network", "devnet", "--authority", authority, "--per-second", "7"];
  expect(await read(...order)).toMatchObject({ of: { authority, creator: null }, per_second: 7 });
  expect(await read("assets", "fill", "--network", "devnet")).toMatchObject({ per_second: 50 });
  const shown = await say("assets", "status");
  for (const part of ["f1", "everything", "active", "100 of 200", "f1: nodes list nothing"]) {
    expect(shown).toContain(part);
  }
  expect(await read("assets", "cancel", "f1")).toMatchObject({ items: [{ id: "f1" }] });
  await expect(say("assets", "cancel", "f2")).rejects.toThrow("No fill with this id runs");
  await expect(say("assets", "fill", "--network", "testnet")).rejects.toThrow("has no nodes");
  await expect(say("assets", "fill")).rejects.toThrow("--network is needed");
  await expect(say(...order, "--creator", authority)).rejects.toThrow("must stand alone");
  await expect(say("assets", "fill", "--network", "devnet", "--per-second", "0")).rejects.toThrow("whole number");
});

test("an account is created with all three tiers, shown, renamed, moved, limited, disabled and enabled", async () => {
  const tiers = ["--tier", "business", "--oracle-tier", "ultra", "--oracle-v2-tier", "developer"];
  const { id, ...created } = await read("accounts", "create", "--name", "Acme", ...tiers);
  expect(created).toMatchObject({ tiers: { platform: "business", oracle: "ultra", "oracle-v2": "developer" } });
  expect(await say("accounts", "show", id)).toContain("Acme");
  expect(await read("accounts", "rename", id, "Acme Ltd")).toMatchObject({ id, name: "Acme Ltd" });
  const moved = await read("accounts", "set-tier", id, "enterprise", "--product", "oracle-v2");
  expect(moved.tiers).toEqual({ platform: "business", oracle: "ultra", "oracle-v2": "enterprise" });
  const limited = await read("accounts", "set-limits", id, "--credits-monthly", "9007199254740993");
  expect(limited).toMatchObject({ credits_monthly: "9007199254740993", requests_per_second: null });
  expect(await read("accounts", "set-limits", id, "--credits-monthly", "tier")).toMatchObject({
    credits_monthly: null,
  });
  forgotten.length = 0;
  expect(await read("accounts", "disable", id)).toMatchObject({ status: "disabled" });
  expect(forgotten).toEqual([id]);
  expect(await read("accounts", "enable", id)).toMatchObject({ status: "active" });
  await account();
  expect(await say("accounts", "list", "--limit", "1")).toContain("--cursor");
  expect(await say("accounts", "credits", id)).toContain("2026-11: 7 of");
  heldCredits = 990n;
  expect(await say("accounts", "credits", id)).toMatch(/2026-11: 7 of .*; 990 held by processes that are gone/);
  expect(await read("accounts", "credits", id)).toMatchObject({ used: "7", held: "990" });
  heldCredits = 0n;
  const usage = await say("accounts", "usage", id);
  expect(usage).toContain("last hour: 1 requests");
  expect(usage).toContain(
    "oracle (Ultra Access), 2026-11: 12 of unlimited requests, resets at 2026-12-01T00:00:00.000Z",
  );
  expect(usage).toContain(
    "oracle-v2 (Enterprise), 2026-11: 3 of unlimited requests, resets at 2026-12-01T00:00:00.000Z",
  );
});

test("a key is created, shown, updated, rotated, disabled, enabled and revoked", async () => {
  const id = await account();
  const made = await read("keys", "create", "--account", id, "--ip", "10.0.0.0/8", "--expires", "2027-01-01T00:00:00Z");
  expect(made).toMatchObject({ environment: "live", expires_at: "2027-01-01T00:00:00.000Z" });
  expect(await say("keys", "show", made.id)).toContain("10.0.0.0/8");
  const narrowed = await read("keys", "update", made.id, "--name", "narrow", "--domain", "*.acme.example");
  expect(narrowed).toMatchObject({
    name: "narrow",
    restrictions: { domains: ["*.acme.example"], ipRanges: ["10.0.0.0/8"] },
  });
  const moved = await read("keys", "update", made.id, "--unrestricted", "--network", "devnet", "--expires", "never");
  expect(moved).toMatchObject({ expires_at: null, restrictions: { networks: ["devnet"], domains: [], ipRanges: [] } });
  const rotated = await read("keys", "rotate", made.id, "--overlap", "2h");
  expect(rotated).toMatchObject({ name: "narrow", replaces: { id: made.id, expires_at: "2026-11-20T14:00:00.000Z" } });
  expect(rotated.key).not.toBe(made.key);
  expect(await say("keys", "rotate", rotated.id)).toContain(`The old key ${rotated.id} works until 2026-11-21`);
  expect(await read("keys", "disable", rotated.id)).toMatchObject({ status: "disabled" });
  expect(await read("keys", "enable", rotated.id)).toMatchObject({ status: "active" });
  expect(await read("keys", "revoke", rotated.id)).toMatchObject({ status: "revoked" });
  expect((await read("keys", "list", "--account", id)).items).toHaveLength(3);
});

test("the methods that a key may call are named, shown, changed and freed, and a new key reads and sends", async () => {
  const made = await read(
    "keys",
    "create",
    "--account",
    await account(),
    "--method",
    "getSlot",
    "--method",
    "getToken*",
  );
  expect(made).toMatchObject({ methods: ["getSlot", "getToken*"], permissions: ["read", "transactions:write"] });
  expect(await say("keys", "show", made.id)).toMatch(/methods +getSlot, getToken\*/);
  expect(await read("keys", "update", made.id, "--name", "app")).toMatchObject({ methods: ["getSlot", "getToken*"] });
  expect(await read("keys", "update", made.id, "--method", "get*")).toMatchObject({ methods: ["get*"] });
  expect(await read("keys", "update", made.id, "--all-methods")).toMatchObject({ methods: [] });
  await expect(say("keys", "update", made.id, "--expires", "2020-01-01T00:00:00Z")).rejects.toThrow(
    "--expires: must be in the future",
  );
});

test("the only key with admin can be revoked here, where another can be made", async () => {
  const made = await read("keys", "create", "--account", await account(), "--permission", "admin");
  expect(await read("keys", "revoke", made.id)).toMatchObject({ status: "revoked" });
});

test("a development key is refused where the server would refuse it, in the words of the command line", async () => {
  const id = await account();
  await expect(say("keys", "create", "--account", id, "--environment", "dev")).rejects.toThrow(
    "--environment: must be live: this server refuses development keys",
  );
  await expect(say("keys", "create", "--account", "acct_nobody")).rejects.toThrow("There is no such account");
});

test("the trail names who changed what, and is read for one subject", async () => {
  const id = await account();
  await say("accounts", "rename", id, "Other");
  const { items } = await read("audit", "--subject", id);
  expect(items.map(({ actor, action }: { actor: string; action: string }) => `${actor} ${action}`)).toEqual([
    "operator account.change",
    "operator account.create",
  ]);
  expect(await say("audit", "--subject", id)).toContain("account.change");
});

test("usage is asked for by days and groups, and refused in the words of the command line", async () => {
  const id = await account();
  const text = await say(
    "usage",
    id,
    "--from",
    "2026-11-01",
    "--to",
    "2026-11-19",
    "--by",
    "method",
    "--network",
    "devnet",
  );
  expect(text).toContain("getSlot");
  expect(text).toContain("2026-11: 7 of");
  expect(asked.at(-1)).toMatchObject({
    accountId: id,
    groupBy: "method",
    network: "devnet",
    fromMs: Date.UTC(2026, 10, 1),
    untilMs: Date.UTC(2026, 10, 20),
  });
  expect(await say("usage", id)).toContain("2026-11: 7 requests were served and have no record");
  await expect(say("usage", id, "--from", "2026-11-19", "--to", "2026-11-01")).rejects.toThrow(
    "--from: must not be after",
  );
});

test("an answer that begins before records are kept says so beside it, for people and for programs", async () => {
  const id = await account();
  keptSince = Date.UTC(2026, 10, 10);
  const note = "sluice: records are kept from 2026-11-10T00:00:00.000Z on; what lies before is not in this answer";
  for (const words of [
    ["usage", id, "--from", "2026-11-01", "--json"],
    ["requests", "list", "--since", "2026-11-01", "--json"],
  ]) {
    const { ok, text, aside } = await runProgram(...words, "--data-dir", directory);
    expect([ok, aside]).toEqual([true, note]);
    expect(JSON.parse(text.replace(`${note}\n`, ""))).toHaveProperty("items");
  }
  const within = await runProgram("usage", id, "--from", "2026-11-11", "--data-dir", directory);
  keptSince = null;
  expect([within.ok, within.aside]).toEqual([true, ""]);
});

test("nodes are listed, ordered about and not added twice, and the server tells how it does", async () => {
  expect(await say("upstreams", "list")).toContain("alpha");
  expect(await read("upstreams", "cordon", "devnet", "alpha")).toMatchObject({ label: "alpha" });
  expect((await state.upstreamOrders.list())[0]).toMatchObject({ label: "alpha", order: "cordoned" });
  await say("upstreams", "uncordon", "devnet", "alpha");
  expect(await state.upstreamOrders.list()).toEqual([]);
  await expect(say("upstreams", "add", "devnet", "alpha", "https://a.example")).rejects.toThrow(
    "There is a node alpha",
  );
  await expect(say("upstreams", "remove", "devnet", "alpha")).rejects.toThrow("must be drained first");
  expect(await say("upstreams", "remove", "devnet", "alpha", "--force")).toContain("devnet/alpha is removed");
  const status = await say("status");
  for (const part of [
    "degraded: sluice 0.1.0 (serve), process 7, up for 60 s, roles gateway, engine",
    "engine does not serve: another process runs the engine",
    "1 of 2 nodes",
    "http://127.0.0.1:8899/rpc",
    "2026-11-23T00:00:00.000Z",
  ]) {
    expect(status).toContain(part);
  }
});

test("a request is shown by its id with the name of its code, and listed by all that a list can be asked for", async () => {
  const shown = await say("requests", "show", "req_1");
  expect(shown).toMatch(/request_id +req_1/);
  expect(shown).toMatch(/error +RATE_LIMIT_EXCEEDED/);
  expect(shown).toMatch(/upstream +node-1/);
  await expect(say("requests", "show", "req_2")).rejects.toThrow("without a valid key");
  const filters = ["--account", "acct_1", "--key", "key_1", "--status", "429", "--code", "RATE_LIMIT_EXCEEDED"];
  const more = ["--method", "getSlot", "--network", "devnet", "--since", "2026-11-19", "--limit", "7"];
  const listed = await say("requests", "list", ...filters, ...more, "--until", "2026-11-20T12:00:00Z");
  expect(listed).toContain("req_1");
  expect(listed).toMatch(/More with --cursor \S+/);
  expect(asked.at(-1)).toEqual({
    accountId: "acct_1",
    keyId: "key_1",
    network: "devnet",
    method: "getSlot",
    status: 429,
    code: "RATE_LIMIT_EXCEEDED",
    rpcCode: -33429,
    sinceMs: noon - 36 * 3_600_000,
    untilMs: noon,
    after: null,
    limit: 7,
  });
  await expect(say("requests", "list", "--since", "tomorrow")).rejects.toThrow("--since");
  await expect(say("requests", "list", "--code", "NO_SUCH_CODE")).rejects.toThrow("--code: is no code");
});

test("the tables of the ledger with their size, their oldest row and how long they keep their rows", async () => {
  expect(await say("ledger", "tables")).toBe(
    [
      "TABLE         ROWS  SIZE     OLDEST                    KEPT                  LEAST  HOLDS",
      "requests      2     3.0 MiB  2026-11-20T12:00:00.000Z  62d                   62d    a row for each request that was served",
      "oracle_ticks  0     0.0 MiB  -                         by a rule of its own  1d     prices of single exchanges",
    ].join("\n"),
  );
  expect((await read("ledger", "tables")).items).toHaveLength(2);
});
