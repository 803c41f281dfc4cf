import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { until } from "@sluice/lib/testing";
import { stakePoolPrograms } from "@sluice/wire/accounts/stake-pool";
import { tipPrograms } from "@sluice/wire/accounts/tips";
import { encodeBase58 } from "@sluice/wire/base58";
import type { Address } from "@sluice/wire/identifiers";
import { programs } from "@sluice/wire/programs";
import { poolStakeAddress } from "../../../devnet/chain/consensus/stake-pool/stake-pool.ts";
import { distributionAddress } from "../../../devnet/chain/consensus/tips/tip-programs.ts";
import type { ChainNode } from "../../../devnet/chain/node.ts";
import { bootNode, call } from "../../../devnet/chain/testing/boot.ts";
import { DevnetChain } from "../engine/chain/testing/devnet-chain.ts";
import { FiguresSource } from "./figures-source.ts";
import { PoolAccountError, PoolReader } from "./pool-reader.ts";
import { RecordedEvents } from "./testing/recorded-events.ts";
import { walletTokens } from "./wallet-tokens.ts";

/** A development chain beyond its second epoch. */
let node: ChainNode;
let chain: DevnetChain;
const slotsPerEpoch = 32n;

beforeAll(async () => {
  node = await bootNode({ slotMs: 10, slotsPerEpoch });
  chain = new DevnetChain(node.rpcUrl);
  await until(async () => Number((await call(node.rpcUrl, "getSlot", [{ commitment: "finalized" }])).result) > 80);
});
afterAll(async () => {
  await node[Symbol.asyncDispose]();
});

const identity = () => ({
  ...{ address: node.chain.genesis.pool.pool, programs: stakePoolPrograms },
  tipProgram: tipPrograms.distribution,
});

const source = (events = new RecordedEvents()) =>
  new FiguresSource(identity(), { chain, clock: new ManualClock(), events, sampleBefore: async () => null });

/** An account of the chain in the slot that a reading was of, by the layout's offsets and not by a decoder. */
function viewOf(address: string, slot: bigint) {
  const account = node.chain.accounts.get(address, slot);
  if (account === null) return null;
  const view = new DataView(account.data.slice().buffer);
  return { lamports: account.lamports, u64: (at: number) => view.getBigUint64(at, true), data: account.data };
}

describe("the development chain's pool", () => {
  test("has the figures that its accounts give by their layout", async () => {
    const events = new RecordedEvents();
    const { figures, snapshot, facts } = await source(events).read();
    expect(events.failures).toEqual([]);
    if (snapshot === null || facts === null) throw new Error("no pool was read");
    const pool = viewOf(identity().address, snapshot.slot);
    const held = pool?.u64(258) ?? 0n;
    expect(figures.holdings).toEqual({ lamports: held, tokens: pool?.u64(266) ?? 0n });
    expect(held).toBeGreaterThan(0n);
    const list = viewOf(encodeBase58(pool?.data.subarray(98, 130) ?? new Uint8Array()), snapshot.slot);
    const stakes = figures.validators.map((_, index) => list?.u64(9 + 73 * index) ?? 0n);
    expect(figures.validators.map(({ stake }) => stake)).toEqual(stakes);
    expect(figures.validators.map(({ address }) => String(address))).toEqual(
      node.chain.genesis.validators.map(({ vote }) => vote),
    );
    const rate = (held * 10n ** 9n * 2n + figures.holdings.tokens) / (figures.holdings.tokens * 2n);
    expect(figures.rate.units).toBe(rate);
    expect(figures.apy.base.units + figures.apy.mev.units).toBe(figures.apy.total.units);
  });

  test("has for each validator what its stake, vote and tip accounts say", async () => {
    const { figures, snapshot, facts } = await source().read();
    if (snapshot === null || facts === null) throw new Error("no pool was read");
    expect(facts.epoch).toBe(snapshot.pool.lastUpdateEpoch - 1n);
    expect(facts.length).toMatchObject({ from: expect.stringMatching(/blocks|pace|nominal/) });
    for (const [index, validator] of node.chain.genesis.validators.entries()) {
      const read = facts.validators.get(validator.vote);
      expect(read?.identity).toBe(validator.identity);
      expect(read?.commissionBasisPoints).toBe(validator.commission * 100);
      expect(String(figures.validators[index]?.commission.units)).toBe(String(validator.commission * 100));
      expect(read?.stakeAccount).toBe(poolStakeAddress(node.chain.genesis.pool, validator.voteBytes));
      expect(read?.tipAccount).toBe(distributionAddress(validator.voteBytes, facts.epoch).address);
      expect(read?.totalStake).toBeGreaterThan(0n);
      expect(read?.inflation).toEqual({ paid: expect.any(BigInt), before: expect.any(BigInt) });
      expect(figures.validators[index]?.apy.units).toBeGreaterThan(0n);
    }
  });

  test("shows a wallet's tokens, and none for a wallet that has none", async () => {
    const { snapshot } = await source().read();
    const mint = snapshot?.pool.poolMint;
    if (mint === undefined) throw new Error("no pool was read");
    const owner = node.chain.genesis.pool.withdrawAuthority;
    expect(await walletTokens(chain, { wallet: owner, mint })).toEqual({ amount: 0n, accounts: [] });
    const largest = await call(node.rpcUrl, "getTokenLargestAccounts", [mint]);
    const [first] = (largest.result as { value: { address: Address; amount: string }[] }).value;
    const account = viewOf(first?.address ?? "", snapshot?.slot ?? 0n);
    const wallet = encodeBase58(account?.data.subarray(32, 64) ?? new Uint8Array()) as Address;
    expect(await walletTokens(chain, { wallet, mint })).toEqual({
      amount: BigInt(first?.amount ?? "0"),
      accounts: [first?.address ?? ("" as Address)],
    });
  });
});

describe("a pool's address", () => {
  const read = (address: Address, owners = stakePoolPrograms) =>
    new PoolReader({ address, programs: owners }, chain).read();

  test("without an account has no pool", async () => {
    expect(await read("11111111111111111111111111111112" as Address)).toBeNull();
    const none = await new FiguresSource(null, {
      chain,
      clock: new ManualClock(),
      events: new RecordedEvents(),
      sampleBefore: async () => null,
    }).read();
    expect(none.figures).toMatchObject({ validators: [], tips: 0n, rate: { units: 0n } });
  });

  test("of another account, or of a pool of another program, is refused with what it is", async () => {
    await expect(read(node.chain.genesis.pool.poolMint)).rejects.toThrow(PoolAccountError);
    await expect(read(identity().address, [programs.token])).rejects.toThrow("is owned by");
    await expect(read(node.chain.genesis.pool.validatorList)).rejects.toThrow("has a layout that is not read");
  });
});
