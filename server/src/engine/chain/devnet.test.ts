import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { type JsonValue, packBlock, readBlock, readJson, unpackBlock } from "@sluice/encode";
import { ManualClock } from "@sluice/lib";
import { tipAccountAddress, tipAccountCount, tipPrograms } from "@sluice/wire/accounts/tips";
import { decodeAddress } from "@sluice/wire/base58";
import { addressOfBytes, parseAddress } from "@sluice/wire/identifiers";
import type { Transaction } from "@sluice/wire/transaction";
import { Keypair, PublicKey, SystemProgram } from "@solana/web3.js";
import { bootFaultyNode, type FaultyNode } from "../../../../devnet/chain/faults/testing/faulty-node.ts";
import { call, post } from "../../../../devnet/chain/testing/boot.ts";
import { signed } from "../../../../devnet/chain/testing/chain.ts";
import { acceptedBundle } from "../testing/accepted-bundle.ts";
import { ChainState } from "./chain-state.ts";
import { chainBlockOf } from "./flow-reader.ts";
import { LeaderSchedule } from "./leader-schedule.ts";
import { BlockReader, blockParameters, TipAccounts } from "./node-answers.ts";
import { DevnetChain } from "./testing/devnet-chain.ts";
import { SimulatedPool } from "./testing/simulated-pool.ts";
import { type BlockFacts, Tracker } from "./tracker.ts";

const sha256 = (bytes: Uint8Array): Uint8Array => new Uint8Array(createHash("sha256").update(bytes).digest());
const paymentProgram = decodeAddress(tipPrograms.payment) ?? new Uint8Array(32);
const tipAccounts = Array.from({ length: tipAccountCount }, (_, index) => {
  return addressOfBytes(tipAccountAddress(index, paymentProgram, sha256).bytes);
});

/** The engine's view of the development chain itself, whose slots close when the test says so. */
let faulty: FaultyNode;
let chain: DevnetChain;
let state: ChainState;
let tracker: Tracker;
const clock = new ManualClock(1_800_000_000_000);
const pool = new SimulatedPool();
const facts: BlockFacts[] = [];
const lost: bigint[] = [];
let place: string | null = null;
const payers = Array.from({ length: 4 }, () => Keypair.generate());

function newTracker(): Tracker {
  return new Tracker(
    { catchUpSlotsMax: 1_500n },
    {
      chain,
      tips: new TipAccounts(tipAccounts),
      flow: null,
      pool,
      state,
      clock,
      place: {
        load: () => Promise.resolve(place),
        save: async (text) => {
          place = text;
        },
      },
      events: {
        blockSeen: (each) => void facts.push(each),
        blockLost: (slot) => void lost.push(slot),
        blockRead: () => {},
        placeLeft: () => {},
      },
    },
  );
}

async function follow(): Promise<void> {
  await chain.notice();
  await state.settled();
  while (await tracker.step());
}

async function close(count: number): Promise<void> {
  await faulty.closeSlots(count);
  await follow();
}

let lamports = 1;
/** A transfer, of a new amount each time so that no two are the same transaction. */
function transfer(payer: Keypair, to: PublicKey, amount = 1_000_000): Transaction {
  lamports += 1;
  const { blockhash } = faulty.node.chain.at("processed");
  return signed(
    payer,
    blockhash,
    SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports: amount + lamports }),
  );
}

const tipAccount = new PublicKey(tipAccounts[3] ?? "");

function accept(id: string, transactions: readonly Transaction[]): void {
  pool.add(
    acceptedBundle({
      id,
      signatures: transactions.map((each) => each.id),
      lastValidBlockHeight: faulty.node.chain.at("processed").blockHeight + 150n,
      expiresAt: clock.now() + 300_000,
    }),
  );
}

function bundle(id: string, payer: Keypair): Transaction[] {
  const transactions = [transfer(payer, payers[0]?.publicKey ?? payer.publicKey), transfer(payer, tipAccount, 5_000)];
  accept(id, transactions);
  return transactions;
}

const submit = (transactions: readonly Transaction[]): void => {
  for (const transaction of transactions) faulty.node.chain.submit(transaction);
};

const payer = (index: number): Keypair => payers[index] ?? Keypair.generate();
const stateOf = (id: string) => pool.records.get(id)?.state;

beforeAll(async () => {
  faulty = await bootFaultyNode({ confirmedAfter: 3, finalizedAfter: 8, slotsPerEpoch: 64n });
  chain = new DevnetChain(faulty.node.rpcUrl);
  state = new ChainState({ chain, clock, events: { blockhashFailed: () => {} } });
  tracker = newTracker();
  for (const { publicKey } of payers)
    await call(faulty.node.rpcUrl, "requestAirdrop", [publicKey.toBase58(), 10_000_000_000]);
  await close(12);
});

afterAll(async () => {
  state[Symbol.dispose]();
  await faulty[Symbol.asyncDispose]();
});

describe("on the development chain", () => {
  test("a bundle that lands whole is included when confirmed, with its tip, and then finalized, over skipped slots", async () => {
    const before = facts.length;
    submit(bundle("whole", payer(1)));
    await faulty.admin("devnet_skipSlots", 3);
    await close(2);
    expect(stateOf("whole")).toBe("accepted");
    await close(6);
    expect(stateOf("whole")).toBe("included");
    const { landed, tipSeen } = pool.records.get("whole") ?? {};
    const block = facts.slice(before).find((each) => each.tips.length > 0);
    expect(block).toMatchObject({ slot: landed?.slot, blockhash: landed?.blockhash, tips: [tipSeen] });
    expect(tipSeen).toBeGreaterThan(5_000n);
    expect(block?.bundleComputeUnits).toBe(block?.computeUnits ?? 0);
    await close(8);
    expect(stateOf("whole")).toBe("finalized");
    expect(pool.history.get("whole")).toEqual(["accepted", "included", "finalized"]);
  });
  test("a bundle of which only a part lands is dropped", async () => {
    submit(bundle("part", payer(2)).slice(0, 1));
    await close(5);
    expect(pool.records.get("part")).toMatchObject({ state: "dropped", reason: "already_processed" });
    expect(pool.records.get("part")?.detail).toStartWith("1 of 2 transactions are in slot");
  });
  test("a bundle that shares a transaction with one that lands was already processed", async () => {
    const shared = bundle("winner", payer(1));
    accept("loser", [...shared.slice(0, 1), transfer(payer(3), tipAccount)]);
    submit(shared);
    await close(5);
    expect(stateOf("winner")).toBe("included");
    expect(pool.records.get("loser")).toMatchObject({ state: "dropped", reason: "already_processed" });
  });
  test("after a fork a bundle is included where it landed again, and one that did not land again expires", async () => {
    const again = bundle("again", payer(2));
    submit(again);
    await close(1);
    await faulty.admin("devnet_fork", { depth: 1, landAgain: true });
    submit(bundle("gone", payer(3)));
    await close(1);
    await faulty.admin("devnet_fork", { depth: 1, landAgain: false });
    await close(8);
    expect(stateOf("gone")).toBe("accepted");
    // The second fork took away the slot in which the first had landed again.
    expect(stateOf("again")).toBe("accepted");
    submit(again);
    await close(5);
    expect(stateOf("again")).toBe("included");
    await close(165);
    expect(stateOf("again")).toBe("finalized");
    expect(pool.records.get("gone")).toMatchObject({ state: "expired", reason: "blockhash_expired" });
    expect(lost).toEqual([]);
  });
  test("a tracker that was ended goes on from its place: nothing is missed, and a node that lags or fails costs time only", async () => {
    submit(bundle("meanwhile", payer(1)));
    await faulty.closeSlots(20);
    tracker = newTracker();
    await faulty.admin("devnet_error", { share: 1, code: -32_000 });
    await expect(tracker.step()).rejects.toThrow();
    await faulty.admin("devnet_clear");
    await faulty.admin("devnet_zombie", 30);
    await follow();
    await faulty.admin("devnet_clear");
    await close(8);
    expect(pool.history.get("meanwhile")).toEqual(["accepted", "included", "finalized"]);
  });
  test("reads of a block in the flow what it reads of a node's answer", async () => {
    const tips = new TipAccounts(tipAccounts);
    const reader = new BlockReader(chain, tips);
    const slots = await reader.slotsFrom(1n, 64);
    let seen = 0;
    for (const slot of slots) {
      const block = await reader.block(slot, "confirmed");
      const parameters = { ...blockParameters, rewards: true, commitment: "confirmed" };
      const request = { jsonrpc: "2.0", id: 1, method: "getBlock", params: [Number(slot), parameters] };
      const answer = readJson(await (await post(faulty.node.rpcUrl, JSON.stringify(request))).text());
      const model = unpackBlock(packBlock(readBlock(slot, (answer as { result: JsonValue }).result)));
      expect(chainBlockOf(model, tips)).toEqual(block);
      seen += block.transactions.filter(({ tip }) => tip > 0n).length;
    }
    expect(seen).toBeGreaterThan(0);
  });
  test("knows blockhashes and processed transactions as the node does", async () => {
    const { blockhash, blockHeight } = faulty.node.chain.at("processed");
    await close(1);
    const known = parseAddress(blockhash);
    expect(known === null ? null : await state.blockhash(known)).toEqual({
      valid: true,
      lastValidBlockHeight: blockHeight + 150n,
    });
    const [first] = pool.records.get("meanwhile")?.signatures ?? [];
    const [gone] = pool.records.get("gone")?.signatures ?? [];
    if (first === undefined || gone === undefined) throw new Error("no signatures");
    expect(await state.processed([gone, first])).toEqual([first]);
  });
  test("knows the leaders that the node knows", async () => {
    using schedule = new LeaderSchedule({ chain, events: { scheduleFailed: () => {} } });
    await schedule.settled();
    const from: bigint = chain.newestSlot("processed") ?? 0n;
    const { result } = await call(faulty.node.rpcUrl, "getSlotLeaders", [Number(from), 64]);
    const leaders = Array.from({ length: 64 }, (_, index) => String(schedule.leaderAt(from + BigInt(index))));
    expect(leaders).toEqual(Array.isArray(result) ? result : []);
  });
});
