import { afterAll, beforeAll, beforeEach, describe, expect, spyOn, test } from "bun:test";
import type { PlatformTier } from "@sluice/contract/tiers";
import { ManualClock } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import { TransactionView } from "@sluice/parser";
import { programs } from "@sluice/wire/programs";
import { accessOfTests, grantOfTests } from "../../access/testing/grants.ts";
import type { RestrictionCode } from "../../keys/index.ts";
import { LedgerQueryError, LedgerUnavailableError, type RequestFact } from "../../ledger/index.ts";
import { Lookups } from "../lookups/lookups.ts";
import { type DevnetRun, runDevnet } from "../testing/devnet-blocks.ts";
import { HeldChainModel } from "../testing/held-chain.ts";
import { HistoryApp } from "./history-app.ts";

let run: DevnetRun;
let held: HeldChainModel;
let app: HistoryApp;
let clock: ManualClock;
let facts: RequestFact[];
let refused: string[];
const caller = {
  accountId: grantOfTests.accountId,
  tier: "developer" as PlatformTier,
  permissions: grantOfTests.permissions,
  restriction: null as RestrictionCode | null,
  isLimited: false,
  creditsLeft: 1_000_000,
  keptSinceMs: null as number | null,
};

const hour = 3_600_000;
const newestMs = (): number => Number(run.blocks.at(-1)?.blockTime) * 1_000;

beforeAll(async () => {
  run = await runDevnet(48);
  held = new HeldChainModel(run.blocks, run.finalized + 1n);
}, 60_000);
afterAll(() => run[Symbol.asyncDispose]());

beforeEach(() => {
  Object.assign(caller, {
    accountId: grantOfTests.accountId,
    tier: "developer",
    permissions: ["read"],
    restriction: null,
    isLimited: false,
  });
  Object.assign(caller, { creditsLeft: 1_000_000, keptSinceMs: null });
  held.fault = null;
  clock = new ManualClock(newestMs() + hour);
  facts = [];
  refused = [];
  const decision = () => ({
    ...{ allowed: !caller.isLimited, limit: 50, burst: 100, remaining: 99, resetAt: 1, retryAfterSeconds: 2 },
  });
  const access = accessOfTests({
    keys: {
      authenticate: (presented) =>
        presented === "good"
          ? { ...grantOfTests, accountId: caller.accountId, tier: caller.tier, permissions: caller.permissions }
          : { ok: false, code: "INVALID_API_KEY" },
      checkRestrictions: () => caller.restriction,
    },
    limits: { take: decision },
    credits: {
      take: (_account, _monthly, cost) => {
        if (caller.creditsLeft < cost) return false;
        caller.creditsLeft -= cost;
        return true;
      },
      refund: (_account, cost) => {
        caller.creditsLeft += cost;
      },
      balance: () => ({ remaining: caller.creditsLeft, resetsAtMs: 0 }),
    },
  });
  app = new HistoryApp({
    clock,
    access,
    networkDefault: "devnet",
    requestId: () => "req_1",
    log: { error: (_fields, message) => expect(message).toBe(""), warn: () => undefined },
    served: (fact) => facts.push(fact),
    refused: (code) => refused.push(code),
    lookups: new Lookups({ chain: held, clock, keptSince: () => caller.keptSinceMs }),
  });
});

const root = "http://gateway/api/v1/history";
async function ask(path: string, init: RequestInit = {}) {
  const headers = { "x-api-key": "good", ...init.headers };
  const response = await app.fetch(new Request(`${root}${path}`, { ...init, headers }));
  const text = await response.text();
  // Answers differ by route; a test reads the members that it names.
  const body = text === "" ? {} : JSON.parse(text);
  return { status: response.status, headers: response.headers, text, body };
}
const search = (body: unknown) =>
  ask("/search", { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } });

const transactions = () =>
  run.blocks.flatMap(({ slot, transactions: list }) => list.map((each) => ({ slot, ...each })));

describe("a transaction by its signature", () => {
  test("is the record of this API, or what the node answers in an encoding, and costs 5 credits", async () => {
    for (const { signature, slot, meta, bytes } of transactions().filter((_each, index) => index % 41 === 0)) {
      const { status, body } = await ask(`/transactions/${signature}`);
      expect([status, body.signature, body.slot, body.success]).toEqual([
        200,
        signature,
        Number(slot),
        meta?.error === null,
      ]);
      const view = new TransactionView({ signature, bytes, meta });
      expect([body.accounts, body.instructions.length, body.log_messages]).toEqual([
        view.keys,
        view.calls.length,
        meta?.logs,
      ]);
      expect(body.fee_payer).toBe(body.signers[0]);
      const config = { commitment: "confirmed", encoding: "jsonParsed", maxSupportedTransactionVersion: 1 };
      const node = await run.ask("getTransaction", [signature, config]);
      const { text } = await ask(`/transactions/${signature}?encoding=jsonParsed`);
      expect(`{"jsonrpc":"2.0","result":${text},"id":7}\n`).toBe(node);
    }
    expect(facts[0]).toMatchObject({ credits: 5, status: 200, network: "devnet", code: "" });
    expect(facts[0]?.method).toBe("GET /api/v1/history/transactions/:signature");
    expect(caller.creditsLeft).toBe(1_000_000 - 5 * facts.length);
  });

  test("that failed says which instruction, by which error and in a node's words", async () => {
    const failed = transactions().find(({ meta }) => JSON.stringify(meta?.error ?? null).includes("InstructionError"));
    const { body } = await ask(`/transactions/${failed?.signature}`);
    expect(body).toMatchObject({ success: false, error: { type: "InstructionError" }, token_transfers: [] });
    expect([typeof body.error.index, body.error.message.startsWith("Error processing Instruction")]).toEqual([
      "number",
      true,
    ]);
  });

  test("that is not there costs the same, one that is malformed nothing", async () => {
    const unknown = await ask(`/transactions/${"5".repeat(87)}`);
    expect([unknown.status, unknown.body.code]).toEqual([404, "TRANSACTION_NOT_FOUND"]);
    expect(caller.creditsLeft).toBe(1_000_000 - 5);
    for (const wrong of [
      "/transactions/abc",
      "/blocks/-1",
      "/blocks/99999999999999999999",
      "/transactions/x?encoding=y",
    ]) {
      expect([wrong, (await ask(wrong)).body.code]).toEqual([wrong, "INVALID_INPUT"]);
    }
    expect(caller.creditsLeft).toBe(1_000_000 - 5);
  });
});

describe("a block by its slot", () => {
  test("has the counts of its transactions and, as asked, their signatures or all of them", async () => {
    const block = run.blocks[20];
    const { body } = await ask(`/blocks/${block?.slot}`);
    expect(body).toMatchObject({ blockhash: block?.blockhash, transaction_count: block?.transactions.length });
    expect(body.signatures).toEqual(block?.transactions.map(({ signature }) => signature));
    expect(body.successful_transactions + body.failed_transactions).toBe(body.transaction_count);
    const full = (await ask(`/blocks/${block?.slot}?transactions=full`)).body;
    expect(full.transactions.map(({ signature }: { signature: string }) => signature)).toEqual(body.signatures);
    expect((await ask(`/blocks/${block?.slot}?transactions=none`)).body.signatures).toBeUndefined();
  });

  test("that is not there is told with what is known of it", async () => {
    const { status, body } = await ask("/blocks/100000");
    expect([status, body.code]).toEqual([404, "BLOCK_NOT_FOUND"]);
    expect(body.detail).toContain("no block beyond slot");
  });
});

describe("lists", () => {
  test("pages meet without gap or repeat, in both orders, whatever their size", async () => {
    for (const order of ["asc", "desc"]) {
      const seen: string[] = [];
      let cursor: string | null = null;
      do {
        const query = `/transactions?address=${programs.token}&order=${order}&limit=7&details=signatures`;
        const { body } = await ask(cursor === null ? query : `${query}&cursor=${cursor}`);
        seen.push(...body.items.map(({ signature }: { signature: string }) => signature));
        cursor = body.next_cursor;
      } while (cursor !== null);
      const expected = transactions()
        .filter((each) => new TransactionView(each).keys.includes(programs.token))
        .map(({ signature }) => signature);
      expect(seen).toEqual(order === "asc" ? expected : expected.reverse());
      expect(seen.length).toBeGreaterThan(20);
    }
  });

  test("ranges of slots and of time bound blocks and transactions, both ends as stated", async () => {
    const { body } = await ask("/blocks?from_slot=5&to_slot=9&order=asc");
    expect(body.items.map(({ slot }: { slot: number }) => slot)).toEqual([5, 6, 7, 8, 9]);
    // Blocks that the chain closes at once may share a second.
    const from = run.blocks[3]?.blockTime ?? 0n;
    const later = run.blocks[30]?.blockTime ?? 0n;
    const to = later > from ? later : from + 1n;
    const [since, until] = [from, to].map((time) => new Date(Number(time) * 1_000).toISOString());
    const inTime = await ask(`/transactions?since=${since}&until=${until}&limit=1000&details=signatures`);
    const expected = transactions().filter(({ slot }) => {
      const time = run.blocks.find((block) => block.slot === slot)?.blockTime ?? 0n;
      return time >= from && time < to;
    });
    expect(inTime.body.items.length).toBe(Math.min(expected.length, 1_000));
    const named = await ask(`/blocks?address=${programs.vote}&limit=3`);
    expect(named.body.items.length).toBe(3);
  });

  test("blocks of an address end at the last whole one, and go on however few of a page are there", async () => {
    const found = spyOn(held.blocks, "slotsOfAddress");
    const rows = spyOn(held.blocks, "blocksOf");
    const newest = run.blocks.at(-1)?.slot ?? 0n;
    try {
      rows.mockImplementationOnce(async () => []);
      const { body } = await ask(`/blocks?address=${programs.vote}&limit=3`);
      expect([body.items, typeof body.next_cursor]).toEqual([[], "string"]);
      expect(found.mock.calls[0]?.[0].to).toBe(newest);
    } finally {
      found.mockRestore();
      rows.mockRestore();
    }
  });

  test("a cursor of another list, or of none, is refused, and so is what contradicts itself", async () => {
    const { body } = await ask("/transactions?limit=1");
    const wrong = [
      `/transactions?limit=1&success=true&cursor=${body.next_cursor}`,
      `/blocks?limit=1&cursor=${body.next_cursor}`,
      "/transactions?cursor=abc",
      "/transactions?limit=0",
      "/transactions?limit=1001",
      "/transactions?from_slot=9&to_slot=8",
      "/transactions?since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z",
      "/transactions?address=11111111111111111111111111111112222222222222",
      `/blocks?address=${programs.vote}&program=${programs.vote}`,
    ];
    for (const path of wrong) expect([path, (await ask(path)).status]).toEqual([path, 400]);
    expect((await ask(`/transactions?limit=5&cursor=${body.next_cursor}`)).status).toBe(200);
  });
});

describe("the search", () => {
  test("finds what all of its conditions hold for, and costs 25 credits", async () => {
    const failed = await search({ success: false, error: "InstructionError", limit: 1_000, details: "signatures" });
    const expected = transactions().filter(({ meta }) => JSON.stringify(meta?.error).includes("InstructionError"));
    expect(failed.body.items.length).toBe(expected.length);
    expect(caller.creditsLeft).toBe(1_000_000 - 25);
    const moved = transactions().find(
      (each) => (each.meta?.postTokenBalances ?? []).length > 0 && each.meta?.error === null,
    );
    const mint = moved?.meta?.postTokenBalances?.[0]?.mint;
    const { body } = await search({ mint, min_amount: "1", program: programs.token, limit: 20 });
    for (const item of body.items) {
      expect(item.token_transfers.some((each: { mint: string }) => each.mint === mint)).toBe(true);
    }
    const fees = await search({ min_fee: 5_000, max_fee: "5000", votes: true, limit: 5 });
    expect(fees.body.items.every(({ fee }: { fee: number }) => fee === 5_000)).toBe(true);
  });

  test("is refused by the names of its members", async () => {
    for (const [body, path] of [
      [{ accounts: [] }, "accounts"],
      [{ accounts: Array.from({ length: 17 }, () => programs.vote) }, "accounts"],
      [{ counterparties: [programs.vote] }, "counterparties"],
      [{ min_amount: "-1" }, "min_amount"],
      [{ min_amount: "18446744073709551616" }, "min_amount"],
      [{ min_amount: 9, max_amount: 8 }, "min_amount"],
      [{ error: "DROP TABLE" }, "error"],
      [{ success: true, error: "InstructionError" }, "error"],
      [{ types: ["'"] }, "types.0"],
      [{ limit: 1_001 }, "limit"],
      [[], ""],
    ] as const) {
      const answer = await search(body);
      expect([path, answer.status, answer.body.errors?.[0]?.path]).toEqual([path, 400, path]);
    }
    expect((await ask("/search", { method: "POST", body: "{" })).status).toBe(415);
    expect(caller.creditsLeft).toBe(1_000_000);
  });
});

describe("what a tier sees", () => {
  test("a Free key sees three days: what is named and older is refused, what is open begins there", async () => {
    caller.tier = "free";
    const [oldest] = transactions();
    expect((await ask(`/transactions/${oldest?.signature}`)).status).toBe(200);
    clock.advance(100 * hour);
    caller.creditsLeft = 100;
    const since = new Date(newestMs()).toISOString();
    for (const path of [
      `/transactions/${oldest?.signature}`,
      "/blocks/3",
      `/transactions?since=${since}`,
      `/blocks?until=${since}`,
    ]) {
      const { status, body } = await ask(path);
      expect([path, status, body.code, body.history_days]).toEqual([path, 403, "TIER_REQUIRED", 3]);
    }
    expect(caller.creditsLeft).toBe(100);
    const open = await ask("/transactions");
    expect([open.status, open.body.items, open.headers.get("x-data-since")]).toEqual([
      ...[200, []],
      new Date(clock.now() - 72 * hour).toISOString(),
    ]);
    caller.tier = "developer";
    expect((await ask("/blocks/3")).status).toBe(200);
    expect((await ask("/transactions")).headers.get("x-data-since")).toBeNull();
  });

  test("rows that retention has deleted are told by the moment from which they are kept", async () => {
    caller.keptSinceMs = newestMs() - 1_000;
    expect((await ask("/transactions")).headers.get("x-data-since")).toBe(new Date(caller.keptSinceMs).toISOString());
  });
});

describe("who may ask", () => {
  test("key, network, restrictions, permission, rate and credits are asked in this order", async () => {
    const codeOf = async (init: RequestInit = {}): Promise<[number, string]> => {
      const { status, body } = await ask("/blocks/3", init);
      return [status, body.code];
    };
    caller.restriction = "NETWORK_NOT_ALLOWED";
    caller.permissions = [];
    caller.isLimited = true;
    caller.creditsLeft = 4;
    expect(await codeOf({ headers: { "x-api-key": "bad" } })).toEqual([401, "INVALID_API_KEY"]);
    expect(refused).toEqual(["INVALID_API_KEY"]);
    expect(await codeOf({ headers: { "x-network": "moon" } })).toEqual([400, "INVALID_INPUT"]);
    expect(await codeOf()).toEqual([403, "NETWORK_NOT_ALLOWED"]);
    caller.restriction = null;
    expect(await codeOf()).toEqual([403, "PERMISSION_DENIED"]);
    caller.permissions = ["read"];
    expect(await codeOf()).toEqual([429, "RATE_LIMIT_EXCEEDED"]);
    caller.isLimited = false;
    expect(await codeOf()).toEqual([402, "INSUFFICIENT_CREDITS"]);
    expect(facts.map(({ code, credits }) => [code, credits])).toEqual(
      ["INVALID_INPUT", "NETWORK_NOT_ALLOWED", "PERMISSION_DENIED", "RATE_LIMIT_EXCEEDED", "INSUFFICIENT_CREDITS"].map(
        (code) => [code, 0],
      ),
    );
  });

  test("a ledger that is away answers 503 and costs nothing, one that is busy likewise", async () => {
    held.fault = new LedgerUnavailableError("connect ECONNREFUSED 10.0.0.1:8123");
    const away = await ask("/blocks/3");
    expect([away.status, away.body.code, away.headers.get("retry-after")]).toEqual([503, "STORE_UNAVAILABLE", "1"]);
    expect(away.text).not.toContain("10.0.0.1");
    held.fault = new LedgerQueryError(159, "Timeout exceeded");
    expect((await ask("/transactions")).body.code).toBe("OVERLOADED");
    expect(caller.creditsLeft).toBe(1_000_000);
  });

  test("one account reads two lists at a time, and others go on", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const find = held.find.bind(held);
    const holding = spyOn(held, "find").mockImplementation(async (...asked) => {
      await promise;
      return await find(...asked);
    });
    try {
      const first = [ask("/transactions"), ask("/transactions")];
      await eventually("two lists being read", () => holding.mock.calls.length === 2);
      expect((await ask("/transactions")).body.code).toBe("OVERLOADED");
      caller.accountId = "another";
      const other = ask("/transactions");
      await eventually("a list of another account", () => holding.mock.calls.length === 3);
      resolve();
      expect((await Promise.all([...first, other])).map(({ status }) => status)).toEqual([200, 200, 200]);
      caller.accountId = grantOfTests.accountId;
      expect((await ask("/transactions")).status).toBe(200);
    } finally {
      resolve();
      holding.mockRestore();
    }
  });

  test("pages of any origin may read it: OPTIONS without a key, open headers, and no other method", async () => {
    const options = await app.fetch(new Request(`${root}/search`, { method: "OPTIONS" }));
    expect([options.status, options.headers.get("access-control-allow-methods")]).toEqual([204, "POST, OPTIONS"]);
    const { headers } = await ask("/blocks/3");
    expect([headers.get("access-control-allow-origin"), headers.get("x-request-id")]).toEqual(["*", "req_1"]);
    expect(headers.get("x-ratelimit-limit")).toBe("50");
    const deleted = await ask("/blocks/3", { method: "DELETE" });
    expect([deleted.status, deleted.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    expect((await ask("/nothing")).status).toBe(404);
  });
});
