import { afterAll, beforeAll, expect, test } from "bun:test";
import { systemClock } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import type { Ledger } from "../../ledger/index.ts";
import type { ChainLog } from "../../log/index.ts";
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

const stored = async (): Promise<string[]> => {
  const blocks = await ledger.chain.blocksOf("devnet", { first: 0n, until: 1_000n });
  return blocks.map(({ slot, blockhash }) => `${slot} ${blockhash}`);
};
const named = (slots: readonly number[], branch = "main"): string[] =>
  slots.map((slot) => `${slot} ${hashOf(`${branch} ${slot}`)}`);

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

test("writers killed at any of their calls leave exactly the chain (campaign history-kills, first slice)", async () => {
  expect(await runKills({ n: 4, seed: 1 })).toMatchObject({ passed: true });
}, 120_000);
