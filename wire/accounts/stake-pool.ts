import { ByteReader, ByteWriter, MalformedBytes, orNull } from "../bytes.ts";
import type { Address } from "../identifiers.ts";
import { findProgramAddress, type ProgramAddress, type Sha256 } from "../program-address.ts";

/** The account of an SPL stake pool and the addresses that its program derives. Source: spl-stake-pool, state.rs. */

/** The program on mainnet; forks of it have other ids and the same layouts. */
export const stakePoolProgram = "SPoo1Ku8WFXoNDMHPsrGSTSG1Y47rzgn41SLUNakuHy" as Address;

/** The program on devnet, kept by the same people. */
const stakePoolProgramDevnet = "DPoo15wWDqpPJJtS2MUZ49aRxqz5ZaaJCJP4z8bLuib" as Address;

/** The programs whose pools are read without being told of another one. */
export const stakePoolPrograms: readonly Address[] = [stakePoolProgram, stakePoolProgramDevnet];

/** Bytes of a stake pool's account; what its fields do not take is zero. */
export const stakePoolSize = 611;

/** A ratio; a denominator of 0 means none. */
export interface PoolFee {
  readonly denominator: bigint;
  readonly numerator: bigint;
}

/** A fee that applies after so many more epoch boundaries. */
export interface FuturePoolFee {
  readonly epochs: 1 | 2;
  readonly fee: PoolFee;
}

/** A stake pool. Amounts are in lamports, and in the smallest unit of the pool's token. */
export interface StakePool {
  readonly manager: Address;
  readonly staker: Address;
  readonly stakeDepositAuthority: Address;
  readonly withdrawBump: number;
  readonly validatorList: Address;
  readonly reserveStake: Address;
  readonly poolMint: Address;
  readonly managerFeeAccount: Address;
  readonly tokenProgram: Address;
  /** All that the pool holds, as of its last update. */
  readonly totalLamports: bigint;
  readonly poolTokenSupply: bigint;
  readonly lastUpdateEpoch: bigint;
  readonly lockup: { readonly unixTimestamp: bigint; readonly epoch: bigint; readonly custodian: Address };
  readonly epochFee: PoolFee;
  readonly nextEpochFee: FuturePoolFee | null;
  readonly preferredDepositVote: Address | null;
  readonly preferredWithdrawVote: Address | null;
  readonly stakeDepositFee: PoolFee;
  readonly stakeWithdrawalFee: PoolFee;
  readonly nextStakeWithdrawalFee: FuturePoolFee | null;
  /** Percent of the deposit fee. */
  readonly stakeReferralFee: number;
  readonly solDepositAuthority: Address | null;
  readonly solDepositFee: PoolFee;
  readonly solReferralFee: number;
  readonly solWithdrawAuthority: Address | null;
  readonly solWithdrawalFee: PoolFee;
  readonly nextSolWithdrawalFee: FuturePoolFee | null;
  /** Before the last epoch's update: with the two above they give what the epoch earned. */
  readonly lastEpochPoolTokenSupply: bigint;
  readonly lastEpochTotalLamports: bigint;
}

function readFee(reader: ByteReader): PoolFee {
  return { denominator: reader.u64(), numerator: reader.u64() };
}

function readFuture(reader: ByteReader): FuturePoolFee | null {
  const tag = reader.u8();
  if (tag === 0) return null;
  if (tag > 2) throw new MalformedBytes(`the tag of a future fee is ${tag}`);
  return { epochs: tag === 1 ? 1 : 2, fee: readFee(reader) };
}

function readPool(reader: ByteReader): StakePool {
  const optionalAddress = (): Address | null => reader.optional(() => reader.address());
  return {
    manager: reader.address(),
    staker: reader.address(),
    stakeDepositAuthority: reader.address(),
    withdrawBump: reader.u8(),
    validatorList: reader.address(),
    reserveStake: reader.address(),
    poolMint: reader.address(),
    managerFeeAccount: reader.address(),
    tokenProgram: reader.address(),
    totalLamports: reader.u64(),
    poolTokenSupply: reader.u64(),
    lastUpdateEpoch: reader.u64(),
    lockup: {
      unixTimestamp: reader.i64(),
      epoch: reader.u64(),
      custodian: reader.address(),
    },
    epochFee: readFee(reader),
    nextEpochFee: readFuture(reader),
    preferredDepositVote: optionalAddress(),
    preferredWithdrawVote: optionalAddress(),
    stakeDepositFee: readFee(reader),
    stakeWithdrawalFee: readFee(reader),
    nextStakeWithdrawalFee: readFuture(reader),
    stakeReferralFee: reader.u8(),
    solDepositAuthority: optionalAddress(),
    solDepositFee: readFee(reader),
    solReferralFee: reader.u8(),
    solWithdrawAuthority: optionalAddress(),
    solWithdrawalFee: readFee(reader),
    nextSolWithdrawalFee: readFuture(reader),
    lastEpochPoolTokenSupply: reader.u64(),
    lastEpochTotalLamports: reader.u64(),
  };
}

/**
 * Decodes a pool's account: the account type 1, then the Borsh fields of `StakePool` in the order in which they are
 * listed.
 *
 * @returns null when the bytes are not a pool's
 */
export function decodeStakePool(data: Uint8Array): StakePool | null {
  if (data[0] !== 1) return null;
  return orNull(() => readPool(new ByteReader(data, 1)));
}

/**
 * Encodes a pool's account, 611 bytes, for chains that keep pools without the program.
 *
 * @throws {RangeError} when a text is not an address
 */
export function encodeStakePool(pool: StakePool): Uint8Array {
  const writer = new ByteWriter(stakePoolSize).u8(1);
  const fee = ({ denominator, numerator }: PoolFee) => writer.u64(denominator).u64(numerator);
  const future = (next: FuturePoolFee | null) => {
    writer.u8(next?.epochs ?? 0);
    if (next !== null) fee(next.fee);
  };
  const optional = (address: Address | null) => writer.option(address, (value) => writer.address(value));
  for (const address of [pool.manager, pool.staker, pool.stakeDepositAuthority]) writer.address(address);
  writer.u8(pool.withdrawBump);
  for (const address of [pool.validatorList, pool.reserveStake, pool.poolMint]) writer.address(address);
  writer.address(pool.managerFeeAccount).address(pool.tokenProgram);
  writer.u64(pool.totalLamports).u64(pool.poolTokenSupply).u64(pool.lastUpdateEpoch);
  writer.i64(pool.lockup.unixTimestamp).u64(pool.lockup.epoch).address(pool.lockup.custodian);
  fee(pool.epochFee);
  future(pool.nextEpochFee);
  optional(pool.preferredDepositVote);
  optional(pool.preferredWithdrawVote);
  fee(pool.stakeDepositFee);
  fee(pool.stakeWithdrawalFee);
  future(pool.nextStakeWithdrawalFee);
  writer.u8(pool.stakeReferralFee);
  optional(pool.solDepositAuthority);
  fee(pool.solDepositFee);
  writer.u8(pool.solReferralFee);
  optional(pool.solWithdrawAuthority);
  fee(pool.solWithdrawalFee);
  future(pool.nextSolWithdrawalFee);
  writer.u64(pool.lastEpochPoolTokenSupply).u64(pool.lastEpochTotalLamports);
  return writer.finish(stakePoolSize);
}

const utf8 = new TextEncoder();

function derived(seeds: readonly Uint8Array[], program: Uint8Array, sha256: Sha256): ProgramAddress {
  const found = findProgramAddress(seeds, program, sha256);
  if (found === null) throw new RangeError("no bump gives an address off the curve");
  return found;
}

/** The authority that may move the pool's stake and mint its token: seeds the pool and "withdraw". */
export function stakePoolWithdrawAuthority(pool: Uint8Array, program: Uint8Array, sha256: Sha256): ProgramAddress {
  return derived([pool, utf8.encode("withdraw")], program, sha256);
}

/** The authority that may deposit stake when the pool names no other: seeds the pool and "deposit". */
export function stakePoolDepositAuthority(pool: Uint8Array, program: Uint8Array, sha256: Sha256): ProgramAddress {
  return derived([pool, utf8.encode("deposit")], program, sha256);
}

/**
 * The account of the pool's stake with a validator: seeds the vote account, the pool, and `suffix` (u32) unless it is
 * 0.
 */
export function poolValidatorStakeAddress(
  at: { readonly vote: Uint8Array; readonly pool: Uint8Array; readonly suffix: number },
  program: Uint8Array,
  sha256: Sha256,
): Uint8Array {
  const suffix = at.suffix === 0 ? [] : [new ByteWriter(4).u32(at.suffix).finish()];
  return derived([at.vote, at.pool, ...suffix], program, sha256).bytes;
}

/** The account of stake that moves to or from a validator: seeds "transient", vote account, pool and `suffix` (u64). */
export function poolTransientStakeAddress(
  at: { readonly vote: Uint8Array; readonly pool: Uint8Array; readonly suffix: bigint },
  program: Uint8Array,
  sha256: Sha256,
): Uint8Array {
  const seeds = [utf8.encode("transient"), at.vote, at.pool, new ByteWriter(8).u64(at.suffix).finish()];
  return derived(seeds, program, sha256).bytes;
}
