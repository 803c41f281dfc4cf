import { afterAll, beforeAll, expect, test } from "bun:test";
import { ManualClock, systemClock } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import type { Ledger, LedgerChainStore } from "../../ledger/index.ts";
import type { ChainLog, LogRecord } from "../../log/index.ts";
import { hashOf, headerOf, stageOf } from "../../log/testing/chain-model.ts";
import { blockRecord } from "../testing/blocks.ts";
import { chain, openTestLedger, openTestLog, testEvents } from "../testing/stand.ts";
import { run as runKills } from "./history-kills.campaign.ts";
import { LedgerWriter } from "./ledger-writer.ts";

let ledger: Ledger;
beforeAll(async () => {
  ledger = await openTestLedger();
});
afterAll(async () => {
  await ledger[Symbol.asyncDispose]();
});

const writerOf = (chainLog: ChainLog, changes: { firstBlockhash?: string; discards?: boolean } = {}) => {
  const { events, metrics, lines } = testEvents();
  const identity = { ...chain, firstBlockhash: changes.firstBlockhash ?? chain.firstBlockhash };
  const discardsOtherChain = changes.discards ?? false;
  const options = { network: "devnet", chain: identity, votes: false, discardsOtherChain } as const;
  const writer = new LedgerWriter(options, { store: ledger.chain, chainLog, clock: systemClock, events });
  return { writer, metrics, lines };
};

/** The ledger's tables, whose writes wait for `gate`, and how many blocks each of them had. */
const watchedStore = (gate: Promise<void>) => {
  const batches: number[] = [];
  const gated: LedgerChainStore["writeBlocks"] = async (network, range, tables) => {
    batches.push(tables.at(-1)?.rows ?? 0);
    await gate;
    await ledger.chain.writeBlocks(network, range, tables);
  };
  const store = new Proxy(ledger.chain, {
    get: (of, name) => {
      if (name === "writeBlocks") return gated;
      const member: unknown = Reflect.get(of, name, of);
      return typeof member === "function" ? member.bind(of) : member;
    },
  });
  return { store, batches };
};

const stored = async (): Promise<string[]> => {
  const blocks = await ledger.chain.blocksOf("devnet", { first: 0n, until: 1_000n });
  return blocks.map(({ slot, blockhash }) => `${slot} ${blockhash}`);
};
const named = (slots: readonly number[], branch = "main"): string[] =>
  slots.map((slot) => `${slot} ${hashOf(`${branch} ${slot}`)}`);

const text = (_name: string, value: unknown): unknown => (typeof value === "bigint" ? String(value) : value);

test("blocks of the log are in the ledger without forks that died, and another writer goes on where one ended", async () => {
  await using stand = await openTestLog();
  const { log } = stand;
  const first = writerOf(log);
  for (const slot of [100, 101, 102]) await log.append(blockRecord(headerOf(slot)));
  const dead = headerOf(103, headerOf(102), "dead");
  await log.append(blockRecord(dead));
  await eventually("the fork is written", async () => (await stored()).includes(`103 ${dead.blockhash}`));
  await log.append(stageOf(headerOf(101), "finalized"));
  // The chain goes on from slot 102, over skipped slots.
  const after = headerOf(105, headerOf(102));
  await log.append(blockRecord(after));
  await log.append(blockRecord(headerOf(106)));
  await eventually(
    "the fork is left out",
    async () => (await stored()).join() === named([100, 101, 102, 105, 106]).join(),
  );
  await eventually("what is final is told", async () => (await ledger.chain.held("devnet")).watermark === 101n);
  await first.writer[Symbol.asyncDispose]();
  for (let slot = 107; slot < 160; slot++) await log.append(blockRecord(headerOf(slot)));
  await log.append(stageOf(headerOf(150), "finalized"));
  const second = writerOf(log);
  await eventually("all is written", async () => (await stored()).length === 58);
  await eventually("what is final is told", async () => (await ledger.chain.held("devnet")).watermark === 150n);
  await second.writer[Symbol.asyncDispose]();
  const held = await ledger.chain.held("devnet");
  expect(held.ranges).toEqual([{ first: 100n, until: 151n }]);
  expect(held.chain).toEqual({ genesisHash: chain.genesisHash, firstBlockhash: chain.firstBlockhash ?? "" });
  // Behind, a writer sends sixteen slots at once.
  expect(await second.metrics.render()).toContain('sluice_history_blocks_total{network="devnet",source="writer"} 53');
  const count = async (table: string): Promise<number> => {
    const [row] = await ledger.query<{ n: string }>(`SELECT count() AS n FROM ${table} FINAL`);
    return Number(row?.n);
  };
  const [sum] = await ledger.query<{ n: string }>("SELECT sum(transactions) AS n FROM blocks FINAL");
  expect(await count("transactions")).toBe(Number(sum?.n));
  expect(await count("native_movements")).toBe(Number(sum?.n));
  expect(await count("transactions_by_address")).toBe(Number(sum?.n) * 3);
  expect(await count("rewards")).toBe(59);
}, 60_000);

test("a block of which a killed writer has written some tables alone is left out where the chain goes on without it", async () => {
  await ledger.chain.discard("devnet");
  await using stand = await openTestLog();
  const { log } = stand;
  const dead = headerOf(103, headerOf(102), "dead");
  const isWritten = Promise.withResolvers<void>();
  const { chain: store } = ledger;
  const killed: Partial<LedgerChainStore> = {
    held: (...of) => store.held(...of),
    droppedFrom: (...of) => store.droppedFrom(...of),
    blocksOf: (...of) => store.blocksOf(...of),
    partsOf: (...of) => store.partsOf(...of),
    hold: (...of) => store.hold(...of),
    writeBlocks: async (network, range, tables) => {
      if (range.until <= dead.slot) return await store.writeBlocks(network, range, tables);
      await store.writeBlocks(network, range, tables.slice(0, 1));
      isWritten.resolve();
      throw new Error("killed");
    },
  };
  const options = { network: "devnet", chain, votes: false, discardsOtherChain: false } as const;
  const dependencies = {
    store: killed as LedgerChainStore,
    chainLog: log,
    clock: systemClock,
    events: testEvents().events,
  };
  const first = new LedgerWriter(options, dependencies);
  for (const slot of [100, 101, 102]) await log.append(blockRecord(headerOf(slot)));
  await eventually("the chain is written", async () => (await stored()).length === 3);
  await log.append(blockRecord(dead));
  await isWritten.promise;
  await first[Symbol.asyncDispose]();
  await log.append(blockRecord(headerOf(105, headerOf(102))));
  const second = writerOf(log);
  await eventually("the chain goes on", async () => (await stored()).join() === named([100, 101, 102, 105]).join());
  expect(await ledger.chain.droppedFrom("devnet", 0n)).toContain(dead.blockhash);
  // It comes back, whole.
  await log.append(blockRecord(headerOf(106, dead)));
  await eventually("the fork is the chain", async () => (await stored()).includes(`103 ${dead.blockhash}`));
  expect(await ledger.chain.droppedFrom("devnet", 0n)).not.toContain(dead.blockhash);
  await second.writer[Symbol.asyncDispose]();
}, 60_000);

test("another chain of the network is not written beside the first, and takes its place where that is wanted", async () => {
  await using stand = await openTestLog();
  const { log } = stand;
  await log.append(blockRecord(headerOf(7)));
  const before = await stored();
  const refused = writerOf(log, { firstBlockhash: hashOf("another first") });
  await eventually("it is refused", () => refused.lines.some((line) => line.includes("holds another chain")));
  await refused.writer[Symbol.asyncDispose]();
  expect(await stored()).toEqual(before);
  const discarding = writerOf(log, { firstBlockhash: hashOf("another first"), discards: true });
  await eventually("the new chain alone is there", async () => (await stored()).join() === named([7]).join());
  await discarding.writer[Symbol.asyncDispose]();
  expect(await ledger.query("SELECT count() AS n FROM transactions WHERE slot >= 100")).toEqual([{ n: "0" }]);
}, 60_000);

test("a block of the log that cannot be read is a hole in the ledger, which says so, and what follows is written", async () => {
  await using stand = await openTestLog();
  const { log } = stand;
  const slots = [200, 201, 202, 203, 204, 205];
  for (const slot of slots) {
    const record = blockRecord(headerOf(slot));
    if (record.kind !== "block") throw new Error("no block");
    // Cut within its last field, as damage of a disk or of a program before this one leaves it.
    await log.append(slot === 202 ? { ...record, body: record.body.subarray(0, -5) } : record);
  }
  await log.append(stageOf(headerOf(205), "finalized"));
  const first = writerOf(log, { firstBlockhash: hashOf("a third first"), discards: true });
  const whole = named([200, 201, 203, 204, 205]).join();
  await eventually("the others are written", async () => (await stored()).join() === whole);
  const ranges = [
    { first: 200n, until: 202n },
    { first: 203n, until: 206n },
  ];
  await eventually("what is held has the hole", async () => {
    const held = await ledger.chain.held("devnet");
    return JSON.stringify(held.ranges, text) === JSON.stringify(ranges, text) && held.watermark === 205n;
  });
  const rendered = await first.metrics.render();
  expect(rendered).toContain('sluice_history_malformed_blocks_total{network="devnet"} 1');
  expect(rendered).toContain('sluice_history_watermark_slot{network="devnet"} 205');
  const lines = first.lines.filter((line) => line.includes("cannot be read and is missing in the ledger"));
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('"slot":"202"');
  await first.writer[Symbol.asyncDispose]();
  // No row of it is there, and the next writer goes on behind it.
  expect(await ledger.query("SELECT count() AS n FROM transactions WHERE slot = 202")).toEqual([{ n: "0" }]);
  const second = writerOf(log, { firstBlockhash: hashOf("a third first") });
  await log.append(blockRecord(headerOf(206)));
  await eventually("the next one is written", async () => (await stored()).includes(named([206])[0] ?? ""));
  await second.writer[Symbol.asyncDispose]();
  expect(await second.metrics.render()).not.toContain("sluice_history_malformed_blocks_total{");
  expect((await ledger.chain.held("devnet")).ranges).toEqual(ranges);
}, 60_000);

test("blocks that come slowly are gathered while the batch before them is written", async () => {
  await using stand = await openTestLog();
  const { log } = stand;
  const slots = [320, 321, 322, 323, 324];
  for (const slot of slots) await log.append(blockRecord(headerOf(slot)));
  let told = 0;
  // Each block takes longer than rows wait for the one after them.
  const slow: ChainLog = Object.create(log, {
    latest: { value: log.latest.bind(log) },
    setWatermark: { value: log.setWatermark.bind(log) },
    follow: {
      value: (options: Parameters<ChainLog["follow"]>[0]) => {
        const outcome = log.follow(options);
        if (!outcome.ok) return outcome;
        const next = async () => {
          if (told > 0) await Bun.sleep(250);
          const event = await outcome.follower.next();
          told += 1;
          return event;
        };
        return { ok: true, follower: { next, return: () => outcome.follower.return() } };
      },
    },
  });
  const gate = Promise.withResolvers<void>();
  const { store, batches } = watchedStore(gate.promise);
  const identity = { ...chain, firstBlockhash: hashOf("a fourth first") };
  const options = { network: "devnet", chain: identity, votes: false, discardsOtherChain: true } as const;
  await using _writer = new LedgerWriter(options, { store, chainLog: slow, clock: systemClock, ...testEvents() });
  await eventually("all are told while the first is written", () => told === slots.length, 30_000);
  gate.resolve();
  await eventually("all are written", async () => (await stored()).join() === named(slots).join());
  expect(batches).toEqual([1, 4]);
}, 60_000);

test("small blocks of the head that come within a second are one INSERT of each table; a large one waits for none", async () => {
  await using stand = await openTestLog();
  const { log } = stand;
  const clock = new ManualClock(Date.now());
  const { store, batches } = watchedStore(Promise.resolve());
  let taken = 0;
  const { events } = testEvents();
  const counting = {
    ...events,
    writerLag: () => {
      taken += 1;
    },
  };
  const identity = { ...chain, firstBlockhash: hashOf("a fifth first") };
  const options = { network: "devnet", chain: identity, votes: false, discardsOtherChain: true } as const;
  await using _writer = new LedgerWriter(options, { store, chainLog: log, clock, events: counting });
  const put = async (...records: readonly LogRecord[]): Promise<void> => {
    const before = taken;
    for (const record of records) await log.append(record);
    await eventually("the writer has it", () => taken === before + records.length);
  };
  await put(blockRecord(headerOf(400)));
  clock.advance(250);
  await put(blockRecord(headerOf(401)));
  clock.advance(250);
  await put(blockRecord(headerOf(402)));
  clock.advance(250);
  await eventually("all are there", async () => (await stored()).join() === named([400, 401, 402]).join());
  expect(batches).toEqual([3]);
  // Rows of more than a megabyte, and no time passes.
  await put(blockRecord({ ...headerOf(403), transactions: 800 }));
  await eventually("it is there", async () => (await stored()).length === 4);
  expect(batches).toEqual([3, 1]);
}, 60_000);

test("writers killed at any of their calls leave exactly the chain (campaign history-kills, first slice)", async () => {
  expect(await runKills({ n: 4, seed: 1 })).toMatchObject({ passed: true });
}, 120_000);
