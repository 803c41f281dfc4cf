import type { AccountWrite } from "@sluice/svm/bank";
import {
  encodeStakePool,
  poolValidatorStakeAddress,
  stakePoolDepositAuthority,
  stakePoolProgram,
  stakePoolWithdrawAuthority,
} from "@sluice/wire/accounts/stake-pool";
import { encodeValidatorList } from "@sluice/wire/accounts/validator-list";
import { decodeAddress } from "@sluice/wire/base58";
import { ByteWriter } from "@sluice/wire/bytes";
import { type Address, addressOfBytes, maxU64 } from "@sluice/wire/identifiers";
import { findProgramAddress } from "@sluice/wire/program-address";
import { programs } from "@sluice/wire/programs";
import {
  type ChainAccount,
  GenesisKeypair,
  ownedAccount,
  rentExemptLamports,
  standInProgram,
  systemAccount,
} from "../../model/index.ts";
import { delegatedStake, undelegatedStake } from "../stakes/stake-account.ts";
import { sha256 } from "../tips/tip-programs.ts";
import type { Validator } from "../validator.ts";

const sol = 1_000_000_000n;
const stakeAccountBytes = 200;
const mintBytes = 82;
const tokenAccountBytes = 165;
const poolTokenDecimals = 9;
const listedMax = 64;
/** Of all stake the pool has a fiftieth, of which a hundredth is not delegated. */
const poolShare = 50n;
const reserveShare = 100n;
const none = { denominator: 0n, numerator: 0n };

/** The pool's share of each epoch's rewards. */
export const epochFee = { denominator: 100n, numerator: 4n };

const program = decodeAddress(stakePoolProgram) ?? new Uint8Array(32);

/** The addresses of a chain's stake pool; they follow from its seed. */
export interface PoolKeys {
  readonly pool: Address;
  readonly poolBytes: Uint8Array;
  readonly validatorList: Address;
  readonly reserveStake: Address;
  readonly poolMint: Address;
  readonly manager: GenesisKeypair;
  readonly managerFeeAccount: Address;
  readonly withdrawAuthority: Address;
  readonly withdrawBump: number;
}

function associatedToken(owner: Uint8Array, mint: Uint8Array): Address {
  const key = (address: Address) => decodeAddress(address) ?? new Uint8Array(32);
  const found = findProgramAddress([owner, key(programs.token), mint], key(programs.associatedToken), sha256);
  if (found === null) throw new RangeError("no bump gives an address off the curve");
  return addressOfBytes(found.bytes);
}

export function poolKeys(seed: string): PoolKeys {
  const keypair = (role: string) => new GenesisKeypair(seed, `stake pool/${role}`);
  const address = (role: string) => addressOfBytes(keypair(role).publicKey);
  const poolBytes = keypair("pool").publicKey;
  const manager = keypair("manager");
  const authority = stakePoolWithdrawAuthority(poolBytes, program, sha256);
  return {
    pool: addressOfBytes(poolBytes),
    poolBytes,
    validatorList: address("validator list"),
    reserveStake: address("reserve stake"),
    poolMint: address("pool mint"),
    manager,
    managerFeeAccount: associatedToken(manager.publicKey, keypair("pool mint").publicKey),
    withdrawAuthority: addressOfBytes(authority.bytes),
    withdrawBump: authority.bump,
  };
}

/** The account of the pool's stake with a validator. */
export function poolStakeAddress(keys: PoolKeys, voteBytes: Uint8Array): Address {
  return addressOfBytes(
    poolValidatorStakeAddress({ vote: voteBytes, pool: keys.poolBytes, suffix: 0 }, program, sha256),
  );
}

function key(address: Address): Uint8Array {
  return decodeAddress(address) ?? new Uint8Array(32);
}

function mintAccount(authority: Address, supply: bigint): ChainAccount {
  const writer = new ByteWriter().u32(1).bytes(key(authority)).u64(supply).u8(poolTokenDecimals).u8(1);
  return ownedAccount(programs.token, writer.finish(mintBytes));
}

function tokenAccount(mint: Address, owner: Uint8Array, amount: bigint): ChainAccount {
  const writer = new ByteWriter().bytes(key(mint)).bytes(owner).u64(amount);
  writer.bytes(new Uint8Array(36)).u8(1);
  return ownedAccount(programs.token, writer.finish(tokenAccountBytes));
}

interface PoolGenesisOptions {
  readonly seed: string;
  readonly validators: readonly Validator[];
  /** Lamports that the validators have staked themselves. */
  readonly staked: bigint;
  /** Holds the pool's tokens. */
  readonly depositor: Uint8Array;
}

/** Lamports that the pool has with each validator, and in its reserve. */
function holdings({ validators, staked }: PoolGenesisOptions): { each: bigint; reserve: bigint } {
  const whole = staked / poolShare;
  const reserve = whole / reserveShare;
  const each = (whole - reserve) / BigInt(validators.length);
  return { each: each < sol ? sol : each, reserve };
}

/**
 * A stake pool with a delegation to each validator, as after one deposit of all of it at one token for each lamport:
 * pool, list, reserve, mint, the manager's fee account, the depositor's tokens, and the program, which only stands
 * there.
 */
export function poolGenesis(options: PoolGenesisOptions): AccountWrite[] {
  const keys = poolKeys(options.seed);
  const { each, reserve } = holdings(options);
  const rent = rentExemptLamports(stakeAccountBytes);
  const authorities = { staker: keys.withdrawAuthority, withdrawer: keys.withdrawAuthority };
  const active = each + rent;
  const total = active * BigInt(options.validators.length) + reserve;
  const managerAddress = addressOfBytes(keys.manager.publicKey);
  const pool = encodeStakePool({
    manager: managerAddress,
    staker: managerAddress,
    stakeDepositAuthority: addressOfBytes(stakePoolDepositAuthority(keys.poolBytes, program, sha256).bytes),
    withdrawBump: keys.withdrawBump,
    validatorList: keys.validatorList,
    reserveStake: keys.reserveStake,
    poolMint: keys.poolMint,
    managerFeeAccount: keys.managerFeeAccount,
    tokenProgram: programs.token,
    totalLamports: total,
    poolTokenSupply: total,
    lastUpdateEpoch: 0n,
    lockup: { unixTimestamp: 0n, epoch: 0n, custodian: programs.system },
    epochFee: epochFee,
    nextEpochFee: null,
    preferredDepositVote: null,
    preferredWithdrawVote: null,
    stakeDepositFee: none,
    stakeWithdrawalFee: { denominator: 1_000n, numerator: 1n },
    nextStakeWithdrawalFee: null,
    stakeReferralFee: 0,
    solDepositAuthority: null,
    solDepositFee: none,
    solReferralFee: 0,
    solWithdrawAuthority: null,
    solWithdrawalFee: { denominator: 1_000n, numerator: 1n },
    nextSolWithdrawalFee: null,
    lastEpochPoolTokenSupply: 0n,
    lastEpochTotalLamports: 0n,
  });
  const list = encodeValidatorList({
    maxValidators: listedMax,
    validators: options.validators.map(({ vote }) => ({
      activeStakeLamports: active,
      transientStakeLamports: 0n,
      lastUpdateEpoch: 0n,
      transientSeedSuffix: 0n,
      validatorSeedSuffix: 0,
      status: "active",
      voteAccount: vote,
    })),
  });
  return [
    { address: stakePoolProgram, account: standInProgram("devnet_stake_pool") },
    { address: keys.pool, account: ownedAccount(stakePoolProgram, pool) },
    { address: keys.validatorList, account: ownedAccount(stakePoolProgram, list) },
    { address: keys.reserveStake, account: undelegatedStake(authorities, reserve) },
    { address: keys.poolMint, account: mintAccount(keys.withdrawAuthority, total) },
    { address: managerAddress, account: systemAccount(sol) },
    { address: keys.managerFeeAccount, account: tokenAccount(keys.poolMint, keys.manager.publicKey, 0n) },
    {
      address: associatedToken(options.depositor, key(keys.poolMint)),
      account: tokenAccount(keys.poolMint, options.depositor, total),
    },
    ...options.validators.map(({ vote, voteBytes }) => ({
      address: poolStakeAddress(keys, voteBytes),
      account: delegatedStake({ ...authorities, voter: vote, stake: each, activationEpoch: maxU64 }),
    })),
  ];
}
