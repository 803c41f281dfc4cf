import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { systemClock } from "@sluice/lib";
import { programs } from "@sluice/wire/programs";
import type { Transaction } from "@sluice/wire/transaction";
import { processLog } from "../../log.ts";
import type { Chain } from "../bank/chain.ts";
import { signaturesValid } from "../bank/resolve.ts";
import { tokenAmount } from "../model/token-state.ts";
import { bootNode } from "../testing/boot.ts";
import { type ManualChain, startManualChain } from "../testing/chain.ts";
import { type TrafficKind, trafficKinds } from "./kinds.ts";
import { Traffic } from "./traffic.ts";

interface Sent {
  readonly kind: TrafficKind | "maintenance";
  readonly transaction: Transaction;
}

interface Running extends Disposable {
  readonly sent: Sent[];
}

function startTraffic(chain: Chain, seed = "test", transactionsPerSecond = 20, nftsMax = 500): Running {
  const sent: Sent[] = [];
  const submitted = (kind: Sent["kind"], transaction: Transaction) => void sent.push({ kind, transaction });
  const traffic = new Traffic(
    { transactionsPerSecond, seed, slotMs: 0, nftsMax },
    { chain, clock: systemClock, log: processLog("test chain"), submitted },
  );
  return { sent, [Symbol.dispose]: () => traffic[Symbol.dispose]() };
}

function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n);
}

function lamportsOfAll(chain: Chain): bigint {
  return sum([...chain.accounts.all(chain.at("processed").slot)].map(([, account]) => account.lamports));
}

function missing(): never {
  throw new Error("there is no such account");
}

/** Beyond what a loaded machine needs. */
const patienceMs = 60_000;
const slotCount = 300n;

describe("over several hundred slots", () => {
  let manual: ManualChain;
  let traffic: Running;
  const genesis = { lamports: 0n };
  /** Lamports that each slot's block accounts for: the burn of half its base fees, and the rewards that it issued. */
  const changes: { readonly burned: bigint; readonly issued: bigint; readonly capitalization: bigint }[] = [];

  beforeAll(async () => {
    manual = await startManualChain({ slotsPerEpoch: 64n });
    const { chain } = manual;
    genesis.lamports = lamportsOfAll(chain);
    traffic = startTraffic(chain);
    for (let slot = 1n; slot <= slotCount; slot += 1n) {
      await manual.closeSlots(1);
      const block = chain.history.block(slot);
      if (block === null) throw new Error(`slot ${slot} has no block`);
      const burned = block.transactions.map(({ signature, fee }) => {
        return (fee - (chain.history.transaction(signature)?.priorityFee ?? 0n)) / 2n;
      });
      const issued = block.rewards.flatMap(({ rewardType, lamports }) => (rewardType === "Fee" ? [] : [lamports]));
      changes.push({ burned: sum(burned), issued: sum(issued), capitalization: chain.at("processed").capitalization });
    }
  }, patienceMs);

  afterAll(async () => {
    traffic[Symbol.dispose]();
    await manual[Symbol.asyncDispose]();
  });

  test("every kind lands: failures as failed, everything else as done", () => {
    const { history, openSlot } = manual.chain;
    expect(openSlot).toBe(slotCount + 1n);
    const landed = traffic.sent.slice(0, -8).map(({ kind, transaction }) => {
      const executed = history.transaction(transaction.id)?.executed;
      return { kind, error: executed === undefined ? "missing" : executed.error };
    });
    expect(landed.filter(({ error }) => error === "missing")).toEqual([]);
    expect(landed.filter(({ kind, error }) => (kind === "failure") !== (error !== null))).toEqual([]);
    const kinds = new Set(landed.map(({ kind }) => kind));
    expect(trafficKinds.filter((kind) => !kinds.has(kind))).toEqual([]);
    const errors = new Set(landed.map(({ error }) => JSON.stringify(error)));
    expect(errors.size).toBeGreaterThanOrEqual(4);
  });

  test("stakes are delegated, deactivated and withdrawn", () => {
    const steps = new Map<string, number>();
    for (const { kind, transaction } of traffic.sent) {
      const program = transaction.message.staticAddresses.indexOf(programs.stake);
      const last = transaction.message.instructions.at(-1);
      if (kind !== "stake" || last?.programIndex !== program) continue;
      const name = { 2: "delegated", 5: "deactivated", 4: "withdrawn" }[last.data[0] ?? 0] ?? "unknown";
      steps.set(name, (steps.get(name) ?? 0) + 1);
    }
    expect([...steps.keys()].sort()).toEqual(["deactivated", "delegated", "withdrawn"]);
  });

  test("a delegation runs for three epochs before it is deactivated, so that it earns", () => {
    const { history } = manual.chain;
    let deactivated = 0;
    for (const { kind, transaction } of traffic.sent) {
      const program = transaction.message.staticAddresses.indexOf(programs.stake);
      const last = transaction.message.instructions.at(-1);
      if (kind !== "stake" || last?.programIndex !== program || last.data[0] !== 5) continue;
      expect(history.transaction(transaction.id)?.executed.slot ?? 0n).toBeGreaterThanOrEqual(3n * 64n);
      deactivated += 1;
    }
    expect(deactivated).toBeGreaterThan(3);
  });

  test("swaps move prices, and pools stay near where genesis put them", () => {
    const { accounts, genesis } = manual.chain;
    for (const { sides } of genesis.description.pools) {
      const now = sides.map(({ vault }) => Number(tokenAmount(accounts.newest(vault) ?? missing())));
      const before = sides.map(({ amount }) => Number(amount));
      const [into = 0, out = 0, from = 0, of = 0] = [...now, ...before];
      const moved = out / into / (of / from);
      expect(moved).not.toBe(1);
      expect(Math.abs(moved - 1)).toBeLessThan(0.1);
      // Fees stay in the pool: its product only grows.
      expect(into * out).toBeGreaterThan(from * of);
    }
  });

  test("tokens of one unit are minted, verified, listed, sold, handed on", () => {
    const said = new Set<string>();
    for (let slot = 1n; slot <= slotCount; slot += 1n) {
      for (const { logs, error } of manual.chain.history.block(slot)?.transactions ?? []) {
        if (error === null) for (const line of logs) said.add(line.replace("Program log: ", ""));
      }
    }
    for (const line of [
      "IX: Create Metadata Accounts v3",
      "IX: Create Master Edition v3",
      "IX: Verify Collection",
      "Instruction: ListLegacy",
      "Instruction: BuyLegacy",
      "Instruction: SwapBaseInput",
      "TokenMetadataInstruction: Initialize",
    ]) {
      expect([...said]).toContain(line);
    }
  });

  test("no lamport comes or goes but by the burn of base fees and the rewards of an epoch", () => {
    let expected = genesis.lamports;
    for (const { burned, issued, capitalization } of changes) {
      expected += issued - burned;
      expect(capitalization).toBe(expected);
    }
    expect(lamportsOfAll(manual.chain)).toBe(expected);
    expect(changes.filter(({ issued }) => issued > 0n)).toHaveLength(4);
  });

  test("a transaction takes its fee from its accounts, and no more", () => {
    for (let slot = 1n; slot <= slotCount; slot += 1n) {
      for (const { preBalances, postBalances, fee } of manual.chain.history.block(slot)?.transactions ?? []) {
        expect(sum(preBalances) - sum(postBalances)).toBe(fee);
      }
    }
  });
});

test(
  "one seed gives one traffic, byte for byte, and another seed another",
  async () => {
    const run = async (seed: string) => {
      await using manual = await startManualChain({ slotsPerEpoch: 32n });
      using traffic = startTraffic(manual.chain, seed);
      await manual.closeSlots(80);
      return traffic.sent.map(({ transaction }) => transaction.id);
    };
    const first = await run("one");
    expect(await run("one")).toEqual(first);
    const other = new Set(await run("two"));
    expect(first.filter((id) => other.has(id))).toEqual([]);
  },
  patienceMs,
);

test(
  "signatures are real, versions and bids vary, and a lookup table is used",
  async () => {
    await using manual = await startManualChain();
    using traffic = startTraffic(manual.chain);
    await manual.closeSlots(120);
    const transactions = traffic.sent.map(({ transaction }) => transaction);
    expect(transactions.filter((transaction, at) => at % 10 === 0 && !signaturesValid(transaction))).toEqual([]);
    expect(transactions.some(({ message }) => message.version === 0 && message.lookups.length === 1)).toBe(true);
    const prices = transactions.map(({ id }) => manual.chain.history.transaction(id)?.unitPrice ?? 0n);
    expect(new Set(prices).size).toBeGreaterThan(20);
    expect(prices.filter((price) => price === 0n).length).toBeGreaterThan(prices.length / 3);
  },
  patienceMs,
);

test(
  "the rate is kept to the transaction, and accounts do not grow with time",
  async () => {
    await using manual = await startManualChain({ slotsPerEpoch: 32n, transactionsMax: 1_000 });
    const { chain } = manual;
    using traffic = startTraffic(chain, "rate", 33, 6);
    await manual.closeSlots(100);
    const atFirst = traffic.sent.length;
    await manual.closeSlots(100);
    expect(traffic.sent.length - atFirst).toBe(1_320);
    // 50 wallets, 3 mints with 50 accounts each, 12 stakes, a table; 12 traders' accounts of two mints and of the
    // wrapped
    // native one; 6 tokens with 8 accounts each and 16 with 4.
    const most = 50 + 3 + 150 + 12 + 1 + 36 + 48 + 64;
    await using idle = await startManualChain({ slotsPerEpoch: 32n });
    expect(chain.accounts.size).toBeLessThanOrEqual(idle.chain.accounts.size + most);
  },
  patienceMs,
);

test(
  "a chain that loses unconfirmed transactions gets what is missing again",
  async () => {
    await using manual = await startManualChain({ pendingMax: 3 });
    const { chain } = manual;
    using traffic = startTraffic(chain);
    await manual.closeSlots(200);
    expect(chain.dropped).toBeGreaterThan(10);
    const kinds = new Set(traffic.sent.map(({ kind }) => kind));
    expect(trafficKinds.filter((kind) => !kinds.has(kind))).toEqual([]);
  },
  patienceMs,
);

test(
  "nothing is sent after the traffic was stopped",
  async () => {
    await using manual = await startManualChain();
    const traffic = startTraffic(manual.chain);
    await manual.closeSlots(30);
    traffic[Symbol.dispose]();
    const { length } = traffic.sent;
    expect(length).toBeGreaterThan(0);
    await manual.closeSlots(10);
    expect(traffic.sent.length).toBe(length);
  },
  patienceMs,
);

test(
  "traffic goes on over forks and skipped slots, and no lamport is lost on the way",
  async () => {
    await using manual = await startManualChain({ confirmedAfter: 5, slotsPerEpoch: 64n });
    const { chain } = manual;
    let expected = lamportsOfAll(chain);
    using traffic = startTraffic(chain);
    for (let round = 0; round < 30; round += 1) {
      await manual.closeSlots(6);
      if (round % 3 === 0) await chain.closeSlot(4n);
      await chain.settled();
      await chain.fork(Math.min(3, chain.forkDepthMax()), round % 2 === 0);
    }
    await manual.closeSlots(6);
    for (const slot of chain.history.slots(1n, chain.at("processed").slot, 1_000)) {
      for (const { signature, fee } of chain.history.block(slot)?.transactions ?? []) {
        expected -= (fee - (chain.history.transaction(signature)?.priorityFee ?? 0n)) / 2n;
      }
      for (const { rewardType, lamports } of chain.history.block(slot)?.rewards ?? []) {
        if (rewardType !== "Fee") expected += lamports;
      }
    }
    expect(lamportsOfAll(chain)).toBe(expected);
    const late = traffic.sent
      .slice(-100)
      .filter(({ transaction }) => chain.history.transaction(transaction.id) !== null);
    expect(late.length).toBeGreaterThan(40);
    const kinds = new Set(traffic.sent.map(({ kind }) => kind));
    expect(trafficKinds.filter((kind) => !kinds.has(kind))).toEqual([]);
  },
  patienceMs,
);

test(
  "a node that was asked for traffic spreads it over its slots by its own clock, and ends with it",
  async () => {
    let landed = 0n;
    let slots = 0n;
    {
      await using node = await bootNode({ slotMs: 50, traffic: 100 });
      for (let waited = 0; waited < 400 && landed < 150n; waited += 1) {
        await Bun.sleep(25);
        landed = node.chain.at("processed").transactionCount;
      }
      slots = node.chain.at("processed").slot;
    }
    expect(landed).toBeGreaterThanOrEqual(150n);
    // Five a slot, and up to eight while it prepares.
    expect(landed).toBeLessThanOrEqual(slots * 8n);
  },
  patienceMs,
);

test("without being asked a node makes no traffic", async () => {
  await using node = await bootNode({ slotMs: 0 });
  for (let slot = 0; slot < 5; slot += 1) await node.closeSlot();
  expect(node.chain.at("processed").transactionCount).toBe(0n);
});

test(
  "on a chain whose genesis has neither pools nor a collection everything but swaps goes on",
  async () => {
    const genesisPath = join(mkdtempSync(join(tmpdir(), "genesis-")), "bare.json");
    writeFileSync(genesisPath, "{}");
    await using node = await bootNode({ slotMs: 0, traffic: 50, genesisPath });
    for (let slot = 0; slot < 60; slot += 1) {
      await node.chain.settled();
      await node.closeSlot();
    }
    rmSync(dirname(genesisPath), { recursive: true });
    const said = new Set<string>();
    for (const slot of node.chain.history.slots(1n, 60n, 100)) {
      for (const { logs } of node.chain.history.block(slot)?.transactions ?? [])
        for (const line of logs) said.add(line);
    }
    expect([...said]).toContain("Program log: IX: Create Metadata Accounts v3");
    expect([...said]).not.toContain("Program log: Instruction: SwapBaseInput");
    expect(node.chain.at("processed").transactionCount).toBeGreaterThan(800n);
  },
  patienceMs,
);
