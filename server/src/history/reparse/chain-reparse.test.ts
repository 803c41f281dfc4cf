import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type ConfirmedBlock, packBlock } from "@sluice/encode";
import { systemClock, systemRandom } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import { parserVersion } from "@sluice/parser";
import fc from "fast-check";
import { arbitraryBlock } from "../../../../encode/body/testing/arbitrary-block.ts";
import { type Ledger, LedgerUnavailableError, versionOrder } from "../../ledger/index.ts";
import { headerOf } from "../../log/testing/chain-model.ts";
import { blockOfHeader } from "../testing/blocks.ts";
import { chain, openTestLedger, testEvents, unreadable } from "../testing/stand.ts";
import { BlockRows } from "../writer/block-rows.ts";
import { ChainReparse, type ChainReparseDependencies } from "./chain-reparse.ts";
import { Reparses } from "./reparses.ts";

const network = "devnet";
const first = 10n;
const until = 140n;

let ledger: Ledger;
beforeAll(async () => {
  ledger = await openTestLedger();
}, 60_000);
afterAll(async () => {
  await ledger[Symbol.asyncDispose]();
});

/** Transfers in every slot, and some drawn blocks, whose times and failures are odd. */
const drawn = fc.sample(arbitraryBlock, { numRuns: 10, seed: 7 });
const blocks: readonly ConfirmedBlock[] = Array.from({ length: Number(until - first) }, (_, at) => {
  const block = blockOfHeader({ ...headerOf(Number(first) + at, Number(first) + at - 1), transactions: 3 });
  const odd = drawn[at % 13];
  return odd === undefined ? block : { ...block, transactions: odd.transactions, blockTime: odd.blockTime };
});

const shown = () =>
  ledger.query<{ slot: string; type: string; version: number }>(
    "SELECT * EXCEPT (batch) FROM parsed FINAL WHERE network = 'devnet' ORDER BY slot, transaction_index, blockhash",
  );

/** What the writer of this version writes. */
let expected: Awaited<ReturnType<typeof shown>>;

async function write(of: readonly ConfirmedBlock[], isParsed: boolean): Promise<void> {
  const rows = new BlockRows({ network, votes: false, unreadable });
  for (const block of of) rows.add(packBlock(block), 1_790_000_000_000);
  const tables = rows.rows.encode().filter(({ table }) => isParsed || table.name !== "parsed");
  const span = { first: of[0]?.slot ?? 0n, until: (of.at(-1)?.slot ?? 0n) + 1n };
  await ledger.chain.writeBlocks(network, span, tables);
}

/** Rows as an older version left them. */
const writeOld = (from: bigint, below: bigint) =>
  ledger.command(
    "INSERT INTO parsed (network, slot, transaction_index, blockhash, block_time, at, signature, version, type) " +
      "SELECT network, slot, transaction_index, blockhash, block_time, at, signature, 0, 'OLD' FROM transactions FINAL " +
      `WHERE network = 'devnet' AND NOT is_vote AND slot >= ${from} AND slot < ${below}`,
  );

beforeEach(async () => {
  await ledger.chain.discard(network);
  await write(blocks, true);
  expected = await shown();
  await ledger.command("TRUNCATE TABLE parsed");
  const held = { source: "writer", first, until, version: 1n, cursor: "c" } as const;
  await ledger.chain.hold(network, { genesisHash: chain.genesisHash, firstBlockhash: "" }, held);
}, 60_000);

function reparse(changes: Partial<ChainReparseDependencies> = {}, version = parserVersion) {
  const { events, metrics, lines } = testEvents();
  const dependencies = { store: ledger.chain, parsed: ledger.parsed, clock: systemClock, events, ...changes };
  const running = new ChainReparse({ network, chain, votes: false, version }, dependencies);
  const orders = new Reparses({
    ...{
      store: ledger.chain,
      parsed: ledger.parsed,
      networks: () => [network],
      clock: systemClock,
      random: systemRandom,
    },
    progressOf: () => running.progress(),
    wake: () => running.wake(),
  });
  return { running, orders, metrics, lines };
}

const own = async () => (await ledger.parsed.orders(network)).find(({ id }) => id === versionOrder);
const isDone = async (): Promise<boolean> => (await own())?.state === "done";

describe("without an order", () => {
  test("what has no row, or one of an older version, gets the row that the writer would write", async () => {
    await write(blocks.slice(0, 20), true);
    await writeOld(50n, 100n);
    const { running, orders, metrics } = reparse();
    await using _running = running;
    await eventually("all is parsed", isDone);
    expect(await shown()).toEqual(expected);
    const kept = expected.filter(({ slot }) => BigInt(slot) < first + 20n).length;
    const parsed = BigInt(expected.length - kept);
    expect(await own()).toMatchObject({ first, until, next: until, parserVersion, transactions: parsed });
    expect(await metrics.render()).toContain(`sluice_history_reparsed_transactions_total{network="devnet"} ${parsed}`);
    const [record] = await orders.list();
    expect(record).toMatchObject({
      id: "version",
      state: "done",
      slots: 130,
      done: 130,
      eta_seconds: null,
      fault: null,
    });
  }, 60_000);

  test("a row of an older version that is written later is not read", async () => {
    const { running } = reparse();
    await using _running = running;
    await eventually("all is parsed", isDone);
    await writeOld(first, until);
    expect(await shown()).toEqual(expected);
  }, 60_000);

  test("nothing is parsed where a newer version of the parser has begun", async () => {
    const newer = { first, until, next: first, state: "active", transactions: 0n } as const;
    await ledger.parsed.putOrder(network, { ...newer, id: versionOrder, parserVersion: parserVersion + 1 });
    let looks = 0;
    const held = (): ReturnType<typeof ledger.chain.held> => {
      looks++;
      return ledger.chain.held(network);
    };
    const { running } = reparse({ store: { held } });
    await using _running = running;
    for (let look = 0; look < 3; look++) {
      const seen = looks;
      running.wake();
      await eventually("it looks again", () => looks > seen);
    }
    expect(await shown()).toEqual([]);
  }, 60_000);

  test("what a fault interrupts is tried again, and told while it lasts", async () => {
    let faults = 2;
    const parsed = withWrites(async (...of) => {
      if (faults-- > 0) throw new LedgerUnavailableError("it is away");
      await ledger.parsed.write(...of);
    });
    const { running, lines } = reparse({ parsed });
    await using _running = running;
    await eventually("the fault is told", () => running.progress().fault !== null);
    await eventually("all is parsed", async () => {
      running.wake();
      return await isDone();
    });
    expect(await shown()).toEqual(expected);
    expect(lines.filter((line) => line.includes("cannot be parsed again now"))).toHaveLength(1);
  }, 60_000);
});

describe("an order", () => {
  test("parses its slots whatever rows they have, after a kill from where it was", async () => {
    const { running, orders } = reparse();
    await using _running = running;
    await eventually("all is parsed", isDone);
    // As if a row had been lost.
    await ledger.command("TRUNCATE TABLE parsed");
    const outcome = await orders.add(null, { first: 20n, until: null });
    expect(outcome).toMatchObject({ ok: true, record: { from: "20", to: "139", state: "active" } });
    await eventually("the order is done", async () =>
      (await orders.list()).some(({ id, state }) => id !== "version" && state === "done"),
    );
    expect(await shown()).toEqual(expected.filter(({ slot }) => BigInt(slot) >= 20n));
  }, 60_000);

  test("goes on in another process", async () => {
    let writes = 0;
    const gate = Promise.withResolvers<never>();
    const parsed = withWrites(async (...of) => {
      if (++writes > 1) return await gate.promise;
      await ledger.parsed.write(...of);
    });
    const before = reparse({ parsed });
    await eventually("a part is written and another on its way", () => writes === 2);
    const ended = before.running[Symbol.asyncDispose]();
    gate.reject(new LedgerUnavailableError("the process was killed"));
    await ended;
    const after = reparse();
    await using _running = after.running;
    await eventually("all is parsed", isDone);
    expect(await shown()).toEqual(expected);
  }, 60_000);

  test("that is cancelled ends, and is refused where nothing is held or too many wait", async () => {
    const { running, orders } = reparse();
    await running[Symbol.asyncDispose]();
    expect(await orders.add("mainnet", { first: null, until: null })).toEqual({ ok: false, reason: "network" });
    expect(await orders.add(network, { first: until, until: null })).toEqual({ ok: false, reason: "not-held" });
    const outcome = await orders.add(network, { first: 1n, until: 500n });
    if (!outcome.ok) throw new Error(outcome.reason);
    expect(outcome.record).toMatchObject({ from: "10", to: "139" });
    expect(await orders.cancel(outcome.record.id)).toBe(true);
    expect(await orders.cancel(outcome.record.id)).toBe(false);
    expect(await orders.cancel(versionOrder)).toBe(false);
    const ids = await Promise.all(Array.from({ length: 100 }, () => orders.add(network, { first: null, until: null })));
    expect(ids.every(({ ok }) => ok)).toBe(true);
    expect(await orders.add(network, { first: null, until: null })).toEqual({ ok: false, reason: "full" });
  }, 60_000);
});

function withWrites(write: Ledger["parsed"]["write"]): Ledger["parsed"] {
  const { parsed } = ledger;
  return {
    orders: (of) => parsed.orders(of),
    putOrder: (of, order) => parsed.putOrder(of, order),
    blocks: (of, question) => parsed.blocks(of, question),
    transactions: (of, part, votes) => parsed.transactions(of, part, votes),
    write,
  };
}
