import { decodeStakeAccount } from "@sluice/wire/accounts/native";
import { decodeStakePool, encodeStakePool, type PoolFee, type StakePool } from "@sluice/wire/accounts/stake-pool";
import { decodeValidatorList, encodeValidatorList, type PoolValidator } from "@sluice/wire/accounts/validator-list";
import { decodeAddress } from "@sluice/wire/base58";
import { systemAccount } from "../../model/index.ts";
import type { AccountOverlay } from "../account-overlay.ts";
import { type PoolKeys, poolStakeAddress } from "./stake-pool.ts";

const mintSupply = 36;
const tokenAmount = 64;

function applied({ denominator, numerator }: PoolFee, amount: bigint): bigint {
  return denominator === 0n ? 0n : (amount * numerator + denominator - 1n) / denominator;
}

/** Tokens that the manager gets for an epoch's rewards, which the pool's total does not hold yet. */
function epochFeeTokens(pool: StakePool, reward: bigint): bigint {
  if (reward === 0n) return 0n;
  const total = pool.totalLamports + reward;
  const fee = applied(pool.epochFee, reward);
  if (total === fee || pool.poolTokenSupply === 0n) return reward;
  return (pool.poolTokenSupply * fee) / (total - fee);
}

/** An entry as its stake account is now; what that holds beyond its stake, such as tips, goes to the reserve. */
function updated(entry: PoolValidator, epoch: bigint, keys: PoolKeys, accounts: AccountOverlay): PoolValidator {
  const vote = decodeAddress(entry.voteAccount) ?? new Uint8Array(32);
  const address = poolStakeAddress(keys, vote);
  const account = accounts.read(address);
  const stake = account === null ? null : decodeStakeAccount(account.data);
  if (account === null || stake?.state !== "delegated") {
    return { ...entry, activeStakeLamports: 0n, lastUpdateEpoch: epoch };
  }
  const active = stake.delegation.stake + stake.meta.rentExemptReserve;
  const extra = account.lamports - active;
  if (extra > 0n) {
    accounts.add(address, -extra, account);
    accounts.add(keys.reserveStake, extra, systemAccount(0n));
  }
  return { ...entry, activeStakeLamports: active, lastUpdateEpoch: epoch };
}

function addU64(address: string, offset: number, amount: bigint, accounts: AccountOverlay): bigint {
  const account = accounts.read(address);
  if (account === null) return 0n;
  const data = new Uint8Array(account.data);
  const view = new DataView(data.buffer);
  const after = view.getBigUint64(offset, true) + amount;
  view.setBigUint64(offset, after, true);
  accounts.write(address, { ...account, data });
  return after;
}

/**
 * Brings the pool up to date as its program's UpdateValidatorListBalance and UpdateStakePoolBalance do: stakes are
 * counted, the manager's fee is minted, and what the pool held before is kept for comparison.
 */
export function updateStakePool(keys: PoolKeys, epoch: bigint, accounts: AccountOverlay): void {
  const poolAccount = accounts.read(keys.pool);
  const listAccount = accounts.read(keys.validatorList);
  const pool = poolAccount === null ? null : decodeStakePool(poolAccount.data);
  const list = listAccount === null ? null : decodeValidatorList(listAccount.data);
  if (poolAccount === null || listAccount === null || pool === null || list === null) return;
  const validators = list.validators.map((entry) => updated(entry, epoch, keys, accounts));
  accounts.write(keys.validatorList, { ...listAccount, data: encodeValidatorList({ ...list, validators }) });
  const reserve = accounts.read(keys.reserveStake);
  const reserveStake = reserve === null ? null : decodeStakeAccount(reserve.data);
  const idle = reserve === null || reserveStake?.state !== "initialized" ? 0n : reserve.lamports;
  const kept = reserveStake?.state === "initialized" ? reserveStake.meta.rentExemptReserve : 0n;
  const total = validators.reduce((sum, entry) => sum + entry.activeStakeLamports, idle - kept);
  const reward = total > pool.totalLamports ? total - pool.totalLamports : 0n;
  const fee = epochFeeTokens(pool, reward);
  addU64(keys.managerFeeAccount, tokenAmount, fee, accounts);
  const poolTokenSupply = addU64(keys.poolMint, mintSupply, fee, accounts);
  const data = encodeStakePool({
    ...pool,
    totalLamports: total,
    poolTokenSupply,
    lastUpdateEpoch: epoch,
    lastEpochTotalLamports: pool.totalLamports,
    lastEpochPoolTokenSupply: pool.poolTokenSupply,
  });
  accounts.write(keys.pool, { ...poolAccount, data });
}
