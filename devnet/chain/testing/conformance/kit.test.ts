import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type Address,
  type Base64EncodedWireTransaction,
  type Blockhash,
  createSolanaRpc,
  lamports,
  type Rpc,
  type Signature,
  type SolanaRpcApi,
  type TransactionMessageBytesBase64,
} from "@solana/kit";
import { makeWorld, missingAddress, type World } from "./world.ts";

let world: World;
let rpc: Rpc<SolanaRpcApi>;
beforeAll(async () => {
  world = await makeWorld();
  rpc = createSolanaRpc(world.node.rpcUrl);
}, 60_000);
afterAll(() => world[Symbol.asyncDispose]());

const named = () => {
  const { names } = world;
  return {
    vote: names.vote as Address,
    mint: names.mint as Address,
    owner: names["token owner"] as Address,
    tokenAccount: names["token account"] as Address,
    features: names.features as Address,
    signature: names.signature as Signature,
    blockhash: names.blockhash as Blockhash,
    slot: names.slot as bigint,
    message: names.message as TransactionMessageBytesBase64,
    missing: missingAddress as Address,
  };
};

const isWhole = expect.any(BigInt) as unknown as bigint;

/** One call of each method as a client writes it with kit, and the result that it must give. */
const calls: Readonly<Record<string, () => Promise<void>>> = {
  async getAccountInfo() {
    const { vote } = named();
    const { value } = await rpc.getAccountInfo(vote, { encoding: "base64" }).send();
    expect(value?.owner).toBe("Vote111111111111111111111111111111111111111" as Address);
    expect(value).toMatchObject({ rentEpoch: 18_446_744_073_709_551_615n });
  },
  async getAgGenesisCert() {
    expect(await rpc.getAgGenesisCert().send()).toBeNull();
  },
  async getBalance() {
    const { vote, missing } = named();
    expect((await rpc.getBalance(vote).send()).value).toBeGreaterThan(0n);
    expect((await rpc.getBalance(missing).send()).value).toBe(lamports(0n));
  },
  async getBlock() {
    const { slot, signature } = named();
    const config = { maxSupportedTransactionVersion: 0, transactionDetails: "signatures", rewards: false } as const;
    expect((await rpc.getBlock(slot, config).send())?.signatures).toContain(signature);
  },
  async getBlockCommitment() {
    const { totalStake } = await rpc.getBlockCommitment(named().slot).send();
    expect(totalStake).toBeGreaterThan(0n);
  },
  async getBlockHeight() {
    expect(await rpc.getBlockHeight().send()).toBeGreaterThan(60n);
  },
  async getBlockProduction() {
    const { value } = await rpc.getBlockProduction().send();
    const made = Object.values(value.byIdentity);
    expect(made.every(([slots, blocks]) => slots >= blocks)).toBe(true);
    expect(value.range.lastSlot).toBeGreaterThanOrEqual(value.range.firstSlot);
  },
  async getBlockTime() {
    expect(await rpc.getBlockTime(named().slot).send()).toBe(1_800_000_000n as never);
  },
  async getBlocks() {
    expect(await rpc.getBlocks(3n, 6n).send()).toEqual([3n, 4n, 5n, 6n]);
  },
  async getBlocksWithLimit() {
    expect(await rpc.getBlocksWithLimit(3n, 2).send()).toEqual([3n, 4n]);
  },
  async getClusterNodes() {
    const nodes = await rpc.getClusterNodes().send();
    expect(nodes.some(({ rpc }) => rpc !== null && world.node.rpcUrl.endsWith(rpc))).toBe(true);
  },
  async getEpochInfo() {
    const info = await rpc.getEpochInfo().send();
    expect(info.absoluteSlot).toBe((info.epoch * info.slotsInEpoch + info.slotIndex) as never);
  },
  async getEpochSchedule() {
    expect(await rpc.getEpochSchedule().send()).toMatchObject({ slotsPerEpoch: 40n, warmup: false });
  },
  async getFeeForMessage() {
    expect((await rpc.getFeeForMessage(named().message).send()).value).toBe(lamports(5_000n) as never);
  },
  async getFirstAvailableBlock() {
    expect(await rpc.getFirstAvailableBlock().send()).toBe(0n as never);
  },
  async getGenesisHash() {
    expect(await rpc.getGenesisHash().send()).toBe(world.node.chain.genesis.hashText as never);
  },
  async getHealth() {
    expect(await rpc.getHealth().send()).toBe("ok");
  },
  async getHighestSnapshotSlot() {
    expect(rpc.getHighestSnapshotSlot().send()).rejects.toMatchObject({ context: { __code: -32008 } });
  },
  async getIdentity() {
    expect((await rpc.getIdentity().send()).identity).toMatch(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/);
  },
  async getInflationGovernor() {
    expect((await rpc.getInflationGovernor().send()).initial).toBe(0.08 as never);
  },
  async getInflationRate() {
    const { total, validator, foundation } = await rpc.getInflationRate().send();
    expect(Number(validator) + Number(foundation)).toBeCloseTo(Number(total), 12);
  },
  async getInflationReward() {
    const [reward, none] = await rpc.getInflationReward([named().vote, named().missing], { epoch: 1n }).send();
    expect(reward).toMatchObject({ epoch: 1n, amount: isWhole });
    expect(none).toBeNull();
  },
  async getLargestAccounts() {
    const { value } = await rpc.getLargestAccounts().send();
    const held = value.map((row) => row.lamports);
    expect(held).toEqual(held.toSorted((left, right) => (left < right ? 1 : left > right ? -1 : 0)));
  },
  async getLatestBlockhash() {
    const { value } = await rpc.getLatestBlockhash({ commitment: "confirmed" }).send();
    expect((await rpc.isBlockhashValid(value.blockhash, { commitment: "confirmed" }).send()).value).toBe(true);
  },
  async getLeaderSchedule() {
    const schedule = await rpc.getLeaderSchedule().send();
    const slots = Object.values(schedule ?? {}).flat();
    expect(slots.length).toBe(40);
  },
  async getMaxRetransmitSlot() {
    expect(await rpc.getMaxRetransmitSlot().send()).toBeGreaterThan(60n);
  },
  async getMaxShredInsertSlot() {
    expect(await rpc.getMaxShredInsertSlot().send()).toBeGreaterThan(60n);
  },
  async getMinimumBalanceForRentExemption() {
    expect(await rpc.getMinimumBalanceForRentExemption(165n).send()).toBe(lamports(2_039_280n));
  },
  async getMultipleAccounts() {
    const { value } = await rpc.getMultipleAccounts([named().vote, named().missing], { encoding: "base64" }).send();
    expect(value.map((account) => account === null)).toEqual([false, true]);
  },
  async getProgramAccounts() {
    const found = await rpc.getProgramAccounts(named().features, { encoding: "base64" }).send();
    expect(found.length).toBeGreaterThan(10);
  },
  async getRecentPerformanceSamples() {
    expect(await rpc.getRecentPerformanceSamples(2).send()).toBeArray();
  },
  async getRecentPrioritizationFees() {
    const rows = await rpc.getRecentPrioritizationFees([named().owner]).send();
    expect(rows.length).toBeGreaterThan(0);
  },
  async getSignatureStatuses() {
    const config = { searchTransactionHistory: true };
    const { value } = await rpc.getSignatureStatuses([named().signature], config).send();
    expect(value[0]).toMatchObject({ confirmationStatus: "finalized", slot: named().slot });
  },
  async getSignaturesForAddress() {
    const rows = await rpc.getSignaturesForAddress(named().owner, { limit: 5, commitment: "finalized" }).send();
    expect(rows.length).toBe(5);
    expect(rows.every(({ confirmationStatus }) => confirmationStatus === "finalized")).toBe(true);
  },
  async getSlot() {
    const [processed, finalized] = await Promise.all([
      rpc.getSlot({ commitment: "processed" }).send(),
      rpc.getSlot({ commitment: "finalized" }).send(),
    ]);
    expect(processed).toBeGreaterThan(finalized);
  },
  async getSlotLeader() {
    const leader = await rpc.getSlotLeader({ commitment: "processed" }).send();
    const slot = await rpc.getSlot({ commitment: "processed" }).send();
    expect(await rpc.getSlotLeaders(slot, 1).send()).toEqual([leader]);
  },
  async getSlotLeaders() {
    expect(await rpc.getSlotLeaders(41n, 9).send()).toHaveLength(9);
  },
  async getStakeMinimumDelegation() {
    expect((await rpc.getStakeMinimumDelegation().send()).value).toBe(lamports(1_000_000_000n));
  },
  async getSupply() {
    const { value } = await rpc.getSupply({ excludeNonCirculatingAccountsList: true }).send();
    expect(value.total).toBe((value.circulating + value.nonCirculating) as never);
  },
  async getTokenAccountBalance() {
    const { value } = await rpc.getTokenAccountBalance(named().tokenAccount).send();
    expect(BigInt(value.amount)).toBeGreaterThanOrEqual(0n);
  },
  async getTokenAccountsByDelegate() {
    const filter = { programId: world.names["token program"] as Address };
    const { value } = await rpc.getTokenAccountsByDelegate(named().missing, filter, { encoding: "base64" }).send();
    expect(value).toEqual([]);
  },
  async getTokenAccountsByOwner() {
    const filter = { mint: named().mint };
    const { value } = await rpc.getTokenAccountsByOwner(named().owner, filter, { encoding: "jsonParsed" }).send();
    expect(value.map(({ pubkey }) => pubkey)).toContain(named().tokenAccount);
  },
  async getTokenLargestAccounts() {
    const { value } = await rpc.getTokenLargestAccounts(named().mint).send();
    expect(value.length).toBeGreaterThan(0);
  },
  async getTokenSupply() {
    expect(Number((await rpc.getTokenSupply(named().mint).send()).value.decimals)).toBeLessThan(10);
  },
  async getTransaction() {
    const config = { encoding: "json", maxSupportedTransactionVersion: 0 } as const;
    const found = await rpc.getTransaction(named().signature, config).send();
    expect(found).toMatchObject({ slot: named().slot, version: "legacy" });
  },
  async getTransactionCount() {
    expect(await rpc.getTransactionCount().send()).toBeGreaterThan(100n);
  },
  async getVersion() {
    expect((await rpc.getVersion().send())["solana-core"]).toMatch(/^\d+\.\d+\.\d+$/);
  },
  async getVoteAccounts() {
    const { current } = await rpc.getVoteAccounts().send();
    expect(current.map(({ votePubkey }) => votePubkey)).toContain(named().vote);
  },
  async isBlockhashValid() {
    expect((await rpc.isBlockhashValid(named().missing as string as Blockhash).send()).value).toBe(false);
  },
  async minimumLedgerSlot() {
    expect(await rpc.minimumLedgerSlot().send()).toBe(0n as never);
  },
  async requestAirdrop() {
    expect(await rpc.requestAirdrop(named().missing, lamports(1n)).send()).toMatch(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/);
  },
  async sendTransaction() {
    const wire = world.transfer() as Base64EncodedWireTransaction;
    const sent = await rpc.sendTransaction(wire, { encoding: "base64" }).send();
    await world.faulty.closeSlots(2);
    const { value } = await rpc.getSignatureStatuses([sent]).send();
    expect(value[0]).toMatchObject({ err: null });
  },
  async simulateTransaction() {
    const wire = world.transfer() as Base64EncodedWireTransaction;
    const { value } = await rpc.simulateTransaction(wire, { encoding: "base64", sigVerify: true }).send();
    expect(value).toMatchObject({ err: null, unitsConsumed: 150n });
  },
};

/** A provider's method, which no validator answers. */
const providers = new Set(["getTransactionsForAddress"]);

/** The methods that kit's own typings list, each in its own file. */
function kitMethods(): string[] {
  const types = join(dirname(fileURLToPath(import.meta.resolve("@solana/rpc-api"))), "types");
  return readdirSync(types)
    .filter((name) => name.endsWith(".d.ts") && !/^(index|.*-.*)\.d\.ts$/.test(name))
    .map((name) => name.replace(".d.ts", ""))
    .filter((name) => !providers.has(name));
}

test("every method of kit's RPC API is called, and no other", () => {
  const methods = kitMethods();
  expect(methods.length).toBeGreaterThan(50);
  expect(Object.keys(calls).sort()).toEqual(methods.toSorted());
});

test.each(Object.keys(calls))("kit's %s", (method) => calls[method]?.());

test("a provider's method is not found on a validator", async () => {
  expect(rpc.getTransactionsForAddress(named().vote).send()).rejects.toMatchObject({ context: { __code: -32601 } });
});
