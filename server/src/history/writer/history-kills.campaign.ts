import { packBlock } from "@sluice/encode";
import { type Random, seededRandom, systemClock } from "@sluice/lib";
import type { Ledger, LedgerChainStore } from "../../ledger/index.ts";
import type { ChainLog } from "../../log/index.ts";
import { type ModelChain, modelChain } from "../../log/testing/chain-model.ts";
import { blockOfHeader } from "../testing/blocks.ts";
import { chain, openTestLedger, openTestLog, testEvents } from "../testing/stand.ts";
import { LedgerWriter } from "./ledger-writer.ts";

const settleMsMax = 60_000;
const slotsOfRound = 40;

/**
 * The ledger as a process has it that is killed at one of its calls: that call may have its effect or not, and none
 * after it has.
 */
function mortal(store: LedgerChainStore, random: Random): LedgerChainStore {
  let left = Math.floor(random.next() * 30);
  const dead = async <T>(call: () => Promise<T>, hasEffect = random.next() < 0.5): Promise<T> => {
    left -= 1;
    if (left > 0) return await call();
    if (left === 0 && hasEffect) await call();
    throw new Error("killed");
  };
  return {
    writeBlocks: (network, range, tables) => {
      // Killed between two INSERTs: some tables have the block, and those that are written last do not.
      const isCut = left === 1 && random.next() < 0.5;
      const cut = isCut ? tables.slice(0, 1 + Math.floor(random.next() * (tables.length - 1))) : tables;
      return dead(() => store.writeBlocks(network, range, cut), isCut);
    },
    markDropped: (network, blocks) => dead(() => store.markDropped(network, blocks)),
    droppedFrom: (network, slot) => dead(() => store.droppedFrom(network, slot)),
    blocksOf: (network, range) => dead(() => store.blocksOf(network, range)),
    partsOf: (network, range) => dead(() => store.partsOf(network, range)),
    agedBefore: (network, sinceMs) => dead(() => store.agedBefore(network, sinceMs)),
    backfills: (network) => dead(() => store.backfills(network)),
    putBackfill: (network, order) => dead(() => store.putBackfill(network, order)),
    hold: (network, identity, range) => dead(() => store.hold(network, identity, range)),
    held: (network) => dead(() => store.held(network)),
    discard: (network) => dead(() => store.discard(network)),
  };
}

/** It gathers blocks of the head, or none: then it is killed between its calls more often. */
const writerOver = (store: LedgerChainStore, chainLog: ChainLog, gathers: boolean): LedgerWriter =>
  new LedgerWriter(
    { network: "devnet", chain, votes: false, discardsOtherChain: true, ...(gathers ? {} : { gatherMs: 0 }) },
    { store, chainLog, clock: systemClock, events: testEvents().events },
  );

async function append(log: ChainLog, records: ModelChain["records"]): Promise<void> {
  for (const record of records) {
    await log.append(record.kind === "block" ? { ...record, body: packBlock(blockOfHeader(record.header)) } : record);
  }
}

/** What differs between the ledger and the chain. */
async function faultsOf(ledger: Ledger, model: ModelChain): Promise<string[]> {
  const faults: string[] = [];
  const blocks = await ledger.chain.blocksOf("devnet", { first: 0n, until: 100_000n });
  const found = blocks.map(({ slot, blockhash }) => `${slot} ${blockhash}`);
  const wanted = model.blocks.map(({ slot, blockhash }) => `${slot} ${blockhash}`);
  for (const each of wanted) if (!found.includes(each)) faults.push(`missing: ${each}`);
  for (const each of found) if (!wanted.includes(each)) faults.push(`not of the chain: ${each}`);
  const final = model.blocks[model.finalized - 1]?.slot ?? null;
  const { watermark, ranges } = await ledger.chain.held("devnet");
  if (watermark !== final) faults.push(`final up to ${watermark} in place of ${final}`);
  if (final !== null && ranges.length !== 1) faults.push(`${ranges.length} ranges`);
  const rows = await ledger.query<{ blockhash: string; n: string }>(
    "SELECT blockhash, count() AS n FROM transactions FINAL WHERE network = 'devnet' GROUP BY blockhash",
  );
  const counts = new Map(rows.map(({ blockhash, n }) => [blockhash, Number(n)]));
  for (const { blockhash, transactions, slot } of model.blocks) {
    const count = counts.get(blockhash) ?? 0;
    if (count !== transactions) faults.push(`slot ${slot}: ${count} transactions of ${transactions}`);
    counts.delete(blockhash);
  }
  for (const blockhash of await ledger.chain.droppedFrom("devnet", 0n)) counts.delete(blockhash);
  for (const blockhash of counts.keys()) faults.push(`transactions of ${blockhash}, which nothing leaves out`);
  return faults;
}

async function round(ledger: Ledger, { seed, kills }: { seed: number; kills: number }): Promise<string[]> {
  const random = seededRandom(seed);
  await ledger.chain.discard("devnet");
  await using stand = await openTestLog();
  const { log } = stand;
  const model = modelChain(seed, slotsOfRound);
  const share = Math.ceil(model.records.length / (kills + 1));
  for (let kill = 0; kill < kills; kill++) {
    const writer = writerOver(mortal(ledger.chain, random), log, kill % 2 === 1);
    await append(log, model.records.slice(kill * share, (kill + 1) * share));
    // Now and then the engine is killed as well, while the writer uses it.
    const pid = ledger.childPid();
    if (pid !== null && random.next() < 0.3) process.kill(pid, "SIGKILL");
    await Bun.sleep(random.next() * 300);
    await writer[Symbol.asyncDispose]();
  }
  await using _last = writerOver(ledger.chain, log, true);
  await append(log, model.records.slice(kills * share));
  const untilMs = systemClock.monotonic() + settleMsMax;
  let faults: string[] = ["the ledger does not answer"];
  while (faults.length > 0 && systemClock.monotonic() < untilMs) {
    await Bun.sleep(100);
    faults = await faultsOf(ledger, model).catch((error: unknown) => [String(error)]);
  }
  return faults.map((fault) => `seed ${seed}: ${fault}`);
}

/**
 * Chains with forks of confirmed blocks, written by one writer after the other: each is killed at one of its calls, and
 * the engine with SIGKILL now and then. In the end the ledger holds exactly the chain, each transaction once, and says
 * what is final; `n` counts the killed writers.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  await using ledger = await openTestLedger();
  const faults: string[] = [];
  let killed = 0;
  for (let index = 0; killed < n; index++) {
    const kills = Math.min(n - killed, 4);
    faults.push(...(await round(ledger, { seed: seed + index, kills })));
    killed += kills;
  }
  const summary = `${killed} writers killed; ${faults.slice(0, 5).join("; ") || "no faults"}`;
  return { passed: faults.length === 0, summary };
}
