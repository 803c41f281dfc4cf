import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { until } from "@sluice/lib/testing";
import {
  decodeStakePool,
  encodeStakePool,
  type FuturePoolFee,
  type PoolFee,
  type StakePool,
} from "@sluice/wire/accounts/stake-pool";
import {
  decodeValidatorList,
  encodeValidatorList,
  type PoolValidator,
  type ValidatorList,
} from "@sluice/wire/accounts/validator-list";
import { addressOfBytes } from "@sluice/wire/identifiers";
import { StakePoolLayout, ValidatorListLayout } from "@solana/spl-stake-pool";
import fc from "fast-check";
import type { ChainNode } from "../devnet/chain/node.ts";
import { bootNode, call } from "../devnet/chain/testing/boot.ts";

/** Our decoders of a stake pool beside the program's own client: each field of one account, as both read it. */

/** Whole numbers as text, keys as base58 text, whatever class holds them. */
function plain(value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (typeof value === "bigint" || typeof value === "number") return String(value);
  if (typeof value === "string" || typeof value === "boolean") return value;
  if (Array.isArray(value)) return value.map(plain);
  if ("toBase58" in (value as object)) return (value as { toBase58(): string }).toBase58();
  if ((value as { constructor: { name: string } }).constructor.name === "BN") return String(value);
  return Object.fromEntries(Object.entries(value as object).map(([name, each]) => [name, plain(each)]));
}

const fee = ({ denominator, numerator }: PoolFee) => ({ denominator, numerator });
const future = (next: FuturePoolFee | null) => (next === null ? null : fee(next.fee));

/** A pool under the client's names. */
const ofClient = (pool: StakePool) => ({
  accountType: 1,
  manager: pool.manager,
  staker: pool.staker,
  stakeDepositAuthority: pool.stakeDepositAuthority,
  stakeWithdrawBumpSeed: pool.withdrawBump,
  validatorList: pool.validatorList,
  reserveStake: pool.reserveStake,
  poolMint: pool.poolMint,
  managerFeeAccount: pool.managerFeeAccount,
  tokenProgramId: pool.tokenProgram,
  totalLamports: pool.totalLamports,
  poolTokenSupply: pool.poolTokenSupply,
  lastUpdateEpoch: pool.lastUpdateEpoch,
  // The client reads the time of a lockup without its sign.
  lockup: { ...pool.lockup, unixTimestamp: BigInt.asUintN(64, pool.lockup.unixTimestamp) },
  epochFee: fee(pool.epochFee),
  nextEpochFee: future(pool.nextEpochFee),
  preferredDepositValidatorVoteAddress: pool.preferredDepositVote,
  preferredWithdrawValidatorVoteAddress: pool.preferredWithdrawVote,
  stakeDepositFee: fee(pool.stakeDepositFee),
  stakeWithdrawalFee: fee(pool.stakeWithdrawalFee),
  nextStakeWithdrawalFee: future(pool.nextStakeWithdrawalFee),
  stakeReferralFee: pool.stakeReferralFee,
  solDepositAuthority: pool.solDepositAuthority,
  solDepositFee: fee(pool.solDepositFee),
  solReferralFee: pool.solReferralFee,
  solWithdrawAuthority: pool.solWithdrawAuthority,
  solWithdrawalFee: fee(pool.solWithdrawalFee),
  nextSolWithdrawalFee: future(pool.nextSolWithdrawalFee),
  lastEpochPoolTokenSupply: pool.lastEpochPoolTokenSupply,
  lastEpochTotalLamports: pool.lastEpochTotalLamports,
});

const statuses = ["active", "deactivatingTransient", "readyForRemoval", "deactivatingValidator", "deactivatingAll"];

/** A list under the client's names; the client reads the second seed and what lies before it as one number. */
const listOfClient = ({ maxValidators, validators }: ValidatorList) => ({
  accountType: 2,
  maxValidators,
  validators: validators.map((entry: PoolValidator) => ({
    activeStakeLamports: entry.activeStakeLamports,
    transientStakeLamports: entry.transientStakeLamports,
    lastUpdateEpoch: entry.lastUpdateEpoch,
    transientSeedSuffixStart: entry.transientSeedSuffix,
    transientSeedSuffixEnd: BigInt(entry.validatorSeedSuffix) << 32n,
    status: statuses.indexOf(entry.status),
    voteAccountAddress: entry.voteAccount,
  })),
});

const clientPool = (data: Uint8Array) => plain(StakePoolLayout.decode(Buffer.from(data)));
const clientList = (data: Uint8Array) => plain(ValidatorListLayout.decode(Buffer.from(data)));

describe("the development chain's pool, after an update", () => {
  let node: ChainNode;
  beforeAll(async () => {
    node = await bootNode({ slotMs: 10, slotsPerEpoch: 32n });
    await until(async () => Number((await call(node.rpcUrl, "getSlot", [{ commitment: "finalized" }])).result) > 70);
  }, 30_000);
  afterAll(async () => {
    await node[Symbol.asyncDispose]();
  });

  async function read(address: string): Promise<Uint8Array> {
    const { result } = await call(node.rpcUrl, "getAccountInfo", [address, { encoding: "base64" }]);
    return Uint8Array.fromBase64((result as { value: { data: [string, string] } }).value.data[0]);
  }

  test("is read as the client reads it, and so are its validators", async () => {
    const data = await read(node.chain.genesis.pool.pool);
    const pool = decodeStakePool(data);
    if (pool === null) throw new Error("no pool was read");
    expect(plain(ofClient(pool))).toEqual(clientPool(data));
    expect(pool.lastUpdateEpoch).toBeGreaterThan(0n);
    expect(encodeStakePool(pool)).toEqual(data);
    const listData = await read(pool.validatorList);
    const list = decodeValidatorList(listData);
    if (list === null) throw new Error("no list was read");
    expect(list.validators.length).toBeGreaterThan(0);
    expect(plain(listOfClient(list))).toEqual(clientList(listData));
  });
});

const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const address = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(addressOfBytes);
const byte = fc.integer({ min: 0, max: 255 });
const drawnFee = fc.record({ denominator: u64, numerator: u64 });
const option = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(of, { nil: null });
const drawnFuture = option(fc.record({ epochs: fc.constantFrom<1 | 2>(1, 2), fee: drawnFee }));
const drawnPool: fc.Arbitrary<StakePool> = fc.record({
  manager: address,
  staker: address,
  stakeDepositAuthority: address,
  withdrawBump: byte,
  validatorList: address,
  reserveStake: address,
  poolMint: address,
  managerFeeAccount: address,
  tokenProgram: address,
  totalLamports: u64,
  poolTokenSupply: u64,
  lastUpdateEpoch: u64,
  lockup: fc.record({
    unixTimestamp: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    epoch: u64,
    custodian: address,
  }),
  epochFee: drawnFee,
  nextEpochFee: drawnFuture,
  preferredDepositVote: option(address),
  preferredWithdrawVote: option(address),
  stakeDepositFee: drawnFee,
  stakeWithdrawalFee: drawnFee,
  nextStakeWithdrawalFee: drawnFuture,
  stakeReferralFee: byte,
  solDepositAuthority: option(address),
  solDepositFee: drawnFee,
  solReferralFee: byte,
  solWithdrawAuthority: option(address),
  solWithdrawalFee: drawnFee,
  nextSolWithdrawalFee: drawnFuture,
  lastEpochPoolTokenSupply: u64,
  lastEpochTotalLamports: u64,
});

/** Members that a layout may leave out: 2^7 layouts. */
const options = [
  "nextEpochFee",
  "preferredDepositVote",
  "preferredWithdrawVote",
  "nextStakeWithdrawalFee",
  "solDepositAuthority",
  "solWithdrawAuthority",
  "nextSolWithdrawalFee",
] as const;

test("every layout, with each option present and absent, is read alike to the last bit", () => {
  const full = drawnPool.filter((pool) => options.every((name) => pool[name] !== null));
  const [whole] = fc.sample(full, { numRuns: 1, seed: 20_261_127 });
  if (whole === undefined) throw new Error("nothing was drawn");
  for (let present = 0; present < 2 ** options.length; present += 1) {
    const left = options.filter((_, bit) => (present & (1 << bit)) === 0);
    const pool = { ...whole, ...Object.fromEntries(left.map((name) => [name, null])) };
    const data = encodeStakePool(pool);
    expect(decodeStakePool(data)).toEqual(pool);
    expect(plain(ofClient(pool))).toEqual(clientPool(data));
  }
});

test("drawn pools are read alike, and what the client writes is what we write", () => {
  fc.assert(
    fc.property(drawnPool, (pool) => {
      const data = encodeStakePool(pool);
      expect(plain(ofClient(pool))).toEqual(clientPool(data));
      const written = Buffer.alloc(data.length);
      StakePoolLayout.encode(StakePoolLayout.decode(Buffer.from(data)), written);
      // The client writes of any future fee that it is two epochs away.
      const later = (next: FuturePoolFee | null) => (next === null ? null : { ...next, epochs: 2 as const });
      const read = decodeStakePool(written);
      expect(read).toEqual({
        ...pool,
        nextEpochFee: later(pool.nextEpochFee),
        nextStakeWithdrawalFee: later(pool.nextStakeWithdrawalFee),
        nextSolWithdrawalFee: later(pool.nextSolWithdrawalFee),
      });
    }),
  );
});

test("drawn lists of validators are read alike", () => {
  const entry = fc.record({
    activeStakeLamports: u64,
    transientStakeLamports: u64,
    lastUpdateEpoch: u64,
    transientSeedSuffix: u64,
    validatorSeedSuffix: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    status: fc.constantFrom(...(statuses as PoolValidator["status"][])),
    voteAccount: address,
  });
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 20 }), (validators) => {
      const list = { maxValidators: 20, validators };
      expect(plain(listOfClient(list))).toEqual(clientList(encodeValidatorList(list).slice()));
    }),
  );
});
