import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Network } from "@sluice/contract/tiers";
import { packBlock } from "@sluice/encode";
import { systemClock, systemRandom } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import type { Slot } from "@sluice/wire/identifiers";
import type { Ledger } from "../../ledger/index.ts";
import type { BlockHeader } from "../../log/index.ts";
import { headerOf } from "../../log/testing/chain-model.ts";
import { blockOfHeader } from "../testing/blocks.ts";
import { chain, openTestLedger, testEvents, unreadable } from "../testing/stand.ts";
import { BlockRows } from "../writer/block-rows.ts";
import { Backfills } from "./backfills.ts";
import { ChainBackfill } from "./chain-backfill.ts";
import type { BackfillSource } from "./slot-words.ts";

let ledger: Ledger;
beforeAll(async () => {
  ledger = await openTestLedger();
});
afterAll(async () => {
  await ledger[Symbol.asyncDispose]();
});

/** Blocks of every slot from 10 to 120 but each seventh, linked. */
const headers: BlockHeader[] = [];
for (let slot = 10; slot <= 120; slot++) {
  if (slot % 7 !== 0) headers.push(headerOf(slot, headers.at(-1) ?? 9));
}
const final = 100n;

/** A node; `hides` are slots that its list leaves out, `lacks` those whose blocks it does not have. */
function nodeOf(
  name: string,
  changes: { hides?: readonly bigint[]; lacks?: (slot: bigint) => boolean; of?: readonly BlockHeader[] } = {},
) {
  const asked: bigint[] = [];
  const own = changes.of ?? headers;
  const source: BackfillSource = {
    node: name,
    fetchBlock: async (slot) => {
      asked.push(slot);
      const header = own.find((each) => each.slot === slot);
      if (header === undefined) return { kind: "absent", code: -32_009 };
      if (changes.lacks?.(slot) === true) return { kind: "unavailable", reason: "refused" };
      const body = packBlock(blockOfHeader(header));
      return { kind: "present", block: { header, body, signatureHash: new Uint8Array(32) } };
    },
    fetchDigest: async (slot) => {
      const header = own.find((each) => each.slot === slot);
      if (header === undefined) return { kind: "absent", code: -32_009 };
      if (changes.lacks?.(slot) === true) return { kind: "unavailable", reason: "refused" };
      return { kind: "present", digest: { ...header, signatureHash: new Uint8Array(32) } };
    },
    fetchSlots: async (from, to) =>
      own
        .map(({ slot }) => slot as Slot)
        .filter((slot) => slot >= from && slot <= to && changes.hides?.includes(slot) !== true),
  };
  return { source, asked };
}

function runOver(
  sources: readonly BackfillSource[],
  finalSlot = final,
  network: Network = "devnet",
  keptFrom: bigint | null = null,
) {
  const { events, lines, metrics } = testEvents();
  const keptSince = () => (keptFrom === null ? null : Number(headerOf(Number(keptFrom), 0).blockTime) * 1_000);
  const running = new ChainBackfill(
    { network, chain, votes: false },
    { store: ledger.chain, sources: () => sources, finalized: () => finalSlot, keptSince, clock: systemClock, events },
  );
  const orders = new Backfills({
    store: ledger.chain,
    networks: () => [network],
    keptSince,
    progressOf: () => running.progress(),
    clock: systemClock,
    random: systemRandom,
  });
  return { running, orders, lines, metrics };
}

const stored = async (first: bigint, until: bigint): Promise<string[]> =>
  (await ledger.chain.blocksOf("devnet", { first, until })).map(({ slot, blockhash }) => `${slot} ${blockhash}`);
const expected = (first: bigint, until: bigint): string[] =>
  headers.filter(({ slot }) => slot >= first && slot < until).map(({ slot, blockhash }) => `${slot} ${blockhash}`);

test("an order is filled from who has the blocks, with those that lists leave out, and what is not of the chain goes", async () => {
  // What a writer had left: a block that died, in a slot that the chain has another one for, and one that was skipped.
  const rows = new BlockRows({ network: "devnet", votes: false, unreadable });
  for (const slot of [33, 35]) rows.add(packBlock(blockOfHeader(headerOf(slot, 32, "dead"))), 0);
  await ledger.chain.writeBlocks("devnet", { first: 33n, until: 36n }, rows.rows.encode());
  const poor = nodeOf("poor", { lacks: (slot) => slot % 3n === 0n, hides: [30n, 31n, 60n] });
  const archive = nodeOf("archive");
  const { running, orders, metrics } = runOver([poor.source, archive.source]);
  const ordered = await orders.add("devnet", { first: 20n, until: 71n });
  expect(ordered).toMatchObject({ ok: true, record: { from: "20", to: "70", state: "active", slots: 51, held: 0 } });
  await eventually("the order is done", async () => (await orders.list())[0]?.state === "done");
  expect(await stored(20n, 71n)).toEqual(expected(20n, 71n));
  // Of the blocks that one of two nodes does not have, its word is enough.
  expect(await metrics.render()).toContain('sluice_history_single_words_total{network="devnet"} 14');
  // Slot 70 was skipped, which the block after it proves.
  expect((await ledger.chain.held("devnet")).ranges).toEqual([{ first: 20n, until: 71n }]);
  // Once more: what is held is not read.
  archive.asked.length = 0;
  poor.asked.length = 0;
  await orders.add("devnet", { first: 25n, until: 60n });
  await eventually("the order is done", async () => (await orders.list()).every(({ state }) => state === "done"));
  expect([archive.asked, poor.asked]).toEqual([[], []]);
  await running[Symbol.asyncDispose]();
}, 60_000);

test("a hole between what is held is filled by itself, by the next process where one was ended", async () => {
  const hold = { source: "writer", first: 90n, until: 96n, version: 2n ** 40n, cursor: "" } as const;
  const identity = { genesisHash: chain.genesisHash, firstBlockhash: chain.firstBlockhash ?? "" };
  const rows = new BlockRows({ network: "devnet", votes: false, unreadable });
  for (const header of headers.filter(({ slot }) => slot >= 90n && slot < 96n)) {
    rows.add(packBlock(blockOfHeader(header)), 0);
  }
  await ledger.chain.writeBlocks("devnet", { first: 90n, until: 96n }, rows.rows.encode());
  await ledger.chain.hold("devnet", identity, hold);
  const first = runOver([nodeOf("half", { lacks: (slot) => slot > 80n }).source]);
  await eventually("what can be had is held", async () => {
    const { ranges } = await ledger.chain.held("devnet");
    return (ranges[0]?.until ?? 0n) >= 80n && first.running.progress().fault !== null;
  });
  expect(first.running.progress().fault).toContain("cannot be had: half refused");
  expect(await first.metrics.render()).toMatch(/sluice_history_missing_slots\{network="devnet"\} [1-9]/);
  await first.running[Symbol.asyncDispose]();
  const second = runOver([nodeOf("whole").source]);
  await eventually("the hole is filled", async () => (await ledger.chain.held("devnet")).ranges.length === 1);
  const none = 'sluice_history_missing_slots{network="devnet"} 0';
  await eventually("no slot is missing", async () => (await second.metrics.render()).includes(none));
  expect(await stored(20n, 96n)).toEqual(expected(20n, 96n));
  await second.running[Symbol.asyncDispose]();
}, 60_000);

test("nodes that contradict what is held fill nothing, and an order that is cancelled ends", async () => {
  const node = nodeOf("liar");
  const liar: BackfillSource = {
    ...node.source,
    fetchBlock: async (slot, signal) => {
      const answer = await node.source.fetchBlock(slot, signal);
      if (answer.kind !== "present" || slot !== 96n) return answer;
      return { kind: "present", block: { ...answer.block, header: { ...answer.block.header, parentBlockhash: "x" } } };
    },
  };
  const { running, orders } = runOver([liar]);
  const ordered = await orders.add("devnet", { first: 96n, until: 99n });
  await eventually("it says why", () => running.progress().fault !== null);
  expect(running.progress().fault).toContain("does not follow on");
  expect((await ledger.chain.held("devnet")).watermark).toBe(95n);
  if (!ordered.ok) throw new Error(ordered.reason);
  expect(await orders.cancel(ordered.record.id)).toBe(true);
  expect(await orders.cancel(ordered.record.id)).toBe(false);
  expect((await orders.list()).find(({ id }) => id === ordered.record.id)?.state).toBe("cancelled");
  await running[Symbol.asyncDispose]();
}, 60_000);

test("the newest final block proves the skipped slot before it, and one that contradicts the span leaves it open", async () => {
  const node = nodeOf("liar");
  const contradicts: BackfillSource = {
    ...node.source,
    fetchBlock: async (slot, signal) => {
      const answer = await node.source.fetchBlock(slot, signal);
      if (answer.kind !== "present" || slot !== 113n) return answer;
      return { kind: "present", block: { ...answer.block, header: { ...answer.block.header, parentBlockhash: "x" } } };
    },
  };
  const first = runOver([contradicts], 113n);
  // Slot 112 was skipped.
  await first.orders.add("devnet", { first: 110n, until: 113n });
  await eventually("it says why", () => first.running.progress().fault !== null);
  expect(first.running.progress().fault).toBe("the block after slot 112 does not follow on that of slot 111");
  expect((await ledger.chain.held("devnet")).ranges.at(-1)?.until).toBe(112n);
  await first.running[Symbol.asyncDispose]();
  const second = runOver([node.source], 113n);
  await eventually("the slot is held", async () => (await ledger.chain.held("devnet")).ranges.at(-1)?.until === 113n);
  await second.running[Symbol.asyncDispose]();
}, 60_000);

test("the chain is filled from its genesis on, whose block names its own slot as its parent's", async () => {
  const young = [headerOf(0, 0)];
  for (let slot = 1; slot <= 12; slot++) young.push(headerOf(slot, young.at(-1)));
  const node = nodeOf("archive", { of: young });
  const { running, orders } = runOver([node.source], 12n, "testnet");
  await orders.add("testnet", { first: 0n, until: 11n });
  const isDone = async () => (await orders.list())[0]?.state === "done";
  await eventually("the order is done", async () => (await isDone()) || running.progress().fault !== null);
  expect([running.progress().fault, await isDone()]).toEqual([null, true]);
  expect((await ledger.chain.held("testnet")).ranges).toEqual([{ first: 0n, until: 11n }]);
  expect(node.asked.filter((slot) => slot === 0n)).toHaveLength(1);
  await running[Symbol.asyncDispose]();
}, 60_000);

test("of an order that begins before what the ledger keeps, what is kept is filled, and the rest told and not read", async () => {
  const node = nodeOf("archive");
  const { running, orders } = runOver([node.source], final, "mainnet", 60n);
  // Nothing is held, so that nodes alone know how old the slots are.
  await orders.add("mainnet", { first: 10n, until: 80n });
  await orders.add("mainnet", { first: 20n, until: 50n });
  await eventually("both are done", async () => (await orders.list()).every(({ state }) => state === "done"));
  expect((await orders.list()).map(({ slots, held, too_old }) => ({ slots, held, too_old }))).toEqual([
    { slots: 70, held: 20, too_old: 50 },
    { slots: 30, held: 0, too_old: 30 },
  ]);
  expect((await ledger.chain.held("mainnet")).ranges).toEqual([{ first: 60n, until: 80n }]);
  expect(await ledger.chain.blocksOf("mainnet", { first: 0n, until: 60n })).toEqual([]);
  // Some of the old blocks are asked for their times alone.
  expect(node.asked.filter((slot) => slot < 60n).length).toBeLessThan(10);
  // A skipped slot before which no block is held is proved by the one after it.
  await orders.add("mainnet", { first: 84n, until: 85n });
  await eventually("the skipped slot is held", async () =>
    (await orders.list()).every(({ state }) => state === "done"),
  );
  expect((await ledger.chain.held("mainnet")).ranges[1]).toEqual({ first: 84n, until: 85n });
  await running[Symbol.asyncDispose]();
}, 60_000);

test("an order of slots whose blocks retention has removed is refused, and of one that reaches further the rest is told", async () => {
  const network = "mainnet";
  const identity = { genesisHash: chain.genesisHash, firstBlockhash: chain.firstBlockhash ?? "" };
  await ledger.chain.discard(network);
  // Held from slot 10 on; retention has removed the blocks up to slot 57.
  const rows = new BlockRows({ network, votes: false, unreadable });
  for (const header of headers.filter(({ slot }) => slot >= 58n && slot < 80n)) {
    rows.add(packBlock(blockOfHeader(header)), 0);
  }
  await ledger.chain.writeBlocks(network, { first: 58n, until: 80n }, rows.rows.encode());
  const range = { source: "writer", first: 10n, until: 80n, version: 2n ** 40n, cursor: "" } as const;
  await ledger.chain.hold(network, identity, range);
  for (const keptFrom of [58n, 60n]) {
    const { running, orders } = runOver([], final, network, keptFrom);
    expect(await orders.add(network, { first: 10n, until: keptFrom })).toEqual({ ok: false, reason: "aged" });
    const ordered = await orders.add(network, { first: 20n, until: 70n });
    const counts = { slots: 50, held: 70 - Number(keptFrom), too_old: Number(keptFrom) - 20 };
    expect(ordered).toMatchObject({ ok: true, record: { state: "done", ...counts } });
    await running[Symbol.asyncDispose]();
  }
}, 60_000);
