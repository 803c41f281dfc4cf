import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { PlatformTier } from "@sluice/contract/tiers";
import { type JsonObject, type JsonValue, readJson } from "@sluice/encode";
import { ManualClock } from "@sluice/lib";
import { TransactionView } from "@sluice/parser";
import { stringifyJsonExact } from "@sluice/wire/json";
import { programs } from "@sluice/wire/programs";
import { type DevnetRun, runDevnet } from "../testing/devnet-blocks.ts";
import { HeldChainModel } from "../testing/held-chain.ts";
import { LedgerArchive } from "./archive.ts";

let run: DevnetRun;
let archive: LedgerArchive;
let clock: ManualClock;

beforeAll(async () => {
  run = await runDevnet(40);
  clock = new ManualClock(Number(run.blocks.at(-1)?.blockTime) * 1_000 + 60_000);
  const events = { archiveAsked: () => undefined, archiveFailed: (...of: unknown[]) => expect(of).toEqual([]) };
  archive = new LedgerArchive({ chain: new HeldChainModel(run.blocks, run.finalized + 1n), clock, events });
}, 60_000);
afterAll(() => run[Symbol.asyncDispose]());

const method = "getTransactionsForAddress";

async function ask(
  config: JsonObject,
  { address = programs.token as string, tier = "developer" as PlatformTier } = {},
) {
  const params = stringifyJsonExact([address, { commitment: "confirmed", ...config }]);
  const asked = await archive.indexed({ network: "devnet", method, params, commitment: "confirmed" }, tier);
  if (asked === null) throw new Error("the ledger did not answer");
  if (!asked.ok) return { refused: asked.code, message: asked.message, error: null, data: [], token: null };
  const { body } = asked.answer;
  if (body.kind === "large") throw new Error("no answer of the ledger is still arriving");
  const text = Buffer.concat([Buffer.from(body.head), Buffer.from("1"), Buffer.from(body.tail)]).toString();
  const { result, error } = readJson(text) as { result?: JsonObject; error?: JsonObject };
  const data = (result?.["data"] ?? []) as readonly JsonObject[];
  return { refused: null, message: "", error: error ?? null, data, token: result?.["paginationToken"] ?? null };
}

/** What names the token program, the oldest first. */
const expected = () =>
  run.blocks.flatMap(({ slot, blockTime, transactions }) =>
    transactions
      .map((transaction, index) => ({ slot, index, blockTime, transaction, signature: transaction.signature }))
      .filter(({ transaction }) => new TransactionView(transaction).keys.includes(programs.token)),
  );
const signaturesOf = (data: readonly JsonObject[]): (JsonValue | undefined)[] => data.map(({ signature }) => signature);

describe("the transactions of an address", () => {
  test("are the rows of getSignaturesForAddress in either order, page by page", async () => {
    const known = expected().map(({ signature }) => signature);
    for (const sortOrder of ["asc", "desc"] as const) {
      const seen: (JsonValue | undefined)[] = [];
      let paginationToken: JsonValue | undefined;
      do {
        const { data, token } = await ask({ sortOrder, limit: 9, ...(paginationToken && { paginationToken }) });
        seen.push(...signaturesOf(data));
        paginationToken = token ?? undefined;
      } while (paginationToken !== undefined);
      expect(seen).toEqual(sortOrder === "asc" ? known : known.toReversed());
    }
    const rows = await run.ask("getSignaturesForAddress", [programs.token, { commitment: "confirmed", limit: 30 }]);
    const { data } = await ask({ limit: 30 });
    expect(readJson(rows)).toMatchObject({ result: data });
  });

  test("are whole in an encoding, as getTransaction has them, at most a hundred", async () => {
    const { data } = await ask({
      transactionDetails: "full",
      encoding: "jsonParsed",
      maxSupportedTransactionVersion: 0,
    });
    expect(data.length).toBeLessThanOrEqual(100);
    const [first] = data;
    const newest = expected().at(-1);
    const config = { commitment: "confirmed", encoding: "jsonParsed", maxSupportedTransactionVersion: 0 };
    expect(readJson(await run.ask("getTransaction", [newest?.signature, config]))).toMatchObject({
      result: first ?? {},
    });
    // Without a version only legacy transactions are taken, as a node does.
    const versioned = run.blocks
      .flatMap(({ transactions }) => transactions)
      .find(({ meta }) => (meta?.loadedAddresses.writable.length ?? 0) > 0);
    const loaded = versioned?.meta?.loadedAddresses.writable[0];
    const refused = await ask({ transactionDetails: "full" }, { address: loaded ?? "" });
    expect(refused.error?.["code"]).toBe(-32015);
  });

  test("are filtered by slot, time, signature and outcome, which must all hold", async () => {
    const all = expected();
    const middle = all[Math.floor(all.length / 2)];
    if (middle === undefined) throw new Error("nothing names the token program");
    const { slot, index, blockTime, signature } = middle;
    const time = Number(blockTime);
    const at = Number(slot);
    const cases: readonly (readonly [JsonObject, (each: (typeof all)[number]) => boolean])[] = [
      [{ slot: { gt: at } }, (each) => each.slot > slot],
      [{ slot: { gte: at, lt: at + 5 } }, (each) => each.slot >= slot && each.slot < slot + 5n],
      [{ slot: { lte: at } }, (each) => each.slot <= slot],
      [{ slot: { gte: 0, lte: 2n ** 64n - 1n } }, () => true],
      [{ slot: { lt: 0 } }, () => false],
      [{ blockTime: { gte: 0 } }, () => true],
      [{ blockTime: { eq: time } }, (each) => each.blockTime === blockTime],
      [{ blockTime: { gt: time } }, (each) => Number(each.blockTime) > time],
      [{ blockTime: { lte: time } }, (each) => Number(each.blockTime) <= time],
      [{ signature: { gt: signature } }, (each) => each.slot > slot || (each.slot === slot && each.index > index)],
      [{ signature: { gte: signature } }, (each) => each.slot > slot || (each.slot === slot && each.index >= index)],
      [{ signature: { lt: signature } }, (each) => each.slot < slot || (each.slot === slot && each.index < index)],
      [{ signature: { lte: signature } }, (each) => each.slot < slot || (each.slot === slot && each.index <= index)],
      [{ status: "failed" }, ({ transaction }) => transaction.meta?.error !== null],
      [{ status: "succeeded", slot: { gt: at } }, (each) => each.slot > slot && each.transaction.meta?.error === null],
    ];
    for (const [filters, holds] of cases) {
      for (const sortOrder of ["asc", "desc"]) {
        const { data } = await ask({ filters, sortOrder, limit: 1_000 });
        const wanted = all.filter(holds).map((each) => each.signature);
        expect([filters, signaturesOf(data)]).toEqual([filters, sortOrder === "asc" ? wanted : wanted.toReversed()]);
      }
    }
  });

  test("of an owner include those that moved its tokens without naming it", async () => {
    const owner =
      run.blocks
        .flatMap(({ transactions }) => transactions)
        .flatMap(({ meta }) => meta?.postTokenBalances ?? [])
        .at(-1)?.owner ?? "";
    const named = await ask({ limit: 1_000 }, { address: owner });
    const moved = await ask({ limit: 1_000, filters: { tokenAccounts: "balanceChanged" } }, { address: owner });
    for (const signature of signaturesOf(named.data)) expect(signaturesOf(moved.data)).toContain(signature);
    expect(moved.data.length).toBeGreaterThanOrEqual(named.data.length);
  });
});

describe("a call is refused", () => {
  test("by the name of what is wrong, and nothing of it is left out in silence", async () => {
    const wrong: readonly (readonly [JsonObject, string])[] = [
      [{ filters: [] }, "filters must be an object"],
      [{ filters: { slots: {} } }, "filters has no member slots"],
      [{ filters: { slot: { eq: 5 } } }, "filters.slot has no member eq"],
      [{ filters: { slot: { gt: -1 } } }, "filters.slot.gt"],
      [{ filters: { blockTime: 5 } }, "filters.blockTime must be an object"],
      [{ filters: { signature: { gt: "x" } } }, "filters.signature.gt must be a signature"],
      [{ filters: { status: "good" } }, "filters.status must be one of"],
      [{ filters: { tokenAccounts: "all" } }, "filters.tokenAccounts all is not indexed"],
      [{ paginationToken: "5" }, "paginationToken"],
      [{ paginationToken: "18446744073709551616:0" }, "paginationToken"],
    ];
    for (const [config, message] of wrong) {
      const answer = await ask(config);
      expect([config, answer.refused]).toEqual([config, "INVALID_PARAMS"]);
      expect(answer.message).toContain(message);
    }
    const ahead = await ask({ minContextSlot: 999_999_999 });
    expect(ahead.error).toMatchObject({ code: -32016, data: { contextSlot: expect.anything() } });
    const unknown = await ask({ filters: { signature: { gt: "5".repeat(87) } } });
    expect(unknown.error?.["code"]).toBe(-32020);
  });

  test("by the tier where it names what is older than three days; what is open begins there", async () => {
    clock.advance(4 * 86_400_000);
    expect((await ask({ filters: { slot: { gte: 3 } } }, { tier: "free" })).refused).toBe("TIER_REQUIRED");
    expect((await ask({ filters: { blockTime: { lt: 1_000 } } }, { tier: "free" })).refused).toBe("TIER_REQUIRED");
    expect((await ask({}, { tier: "free" })).data).toEqual([]);
    expect((await ask({}, { tier: "developer" })).data.length).toBeGreaterThan(0);
  });

  test("other methods are left to the nodes", () => {
    const call = { network: "devnet", method: "getSlot", params: null, commitment: "confirmed" } as const;
    expect(archive.indexed(call, "developer")).toBeNull();
  });
});
