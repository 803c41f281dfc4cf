import { decodeStakeAccount, type StakeDelegation } from "@sluice/wire/accounts/native";
import { decodeAddress } from "@sluice/wire/base58";
import { ByteWriter } from "@sluice/wire/bytes";
import { type Address, maxU64 } from "@sluice/wire/identifiers";
import { programs } from "@sluice/wire/programs";
import { type ChainAccount, ownedAccount, rentExemptLamports } from "../../model/index.ts";
import type { AccountOverlay } from "../account-overlay.ts";

const stakeAccountBytes = 200;
const stateInitialized = 1;
const stateDelegated = 2;
const delegatedStakeOffset = 156;
const creditsObservedOffset = 188;
/** What the field of the abandoned rate holds in every account that was delegated before it was. */
const oldWarmupRate = 0.25;

interface StakeAuthorities {
  readonly staker: Address;
  readonly withdrawer: Address;
}

function meta(authorities: StakeAuthorities, state: number): ByteWriter {
  const bytes = (address: Address) => decodeAddress(address) ?? new Uint8Array(32);
  return new ByteWriter()
    .u32(state)
    .u64(rentExemptLamports(stakeAccountBytes))
    .bytes(bytes(authorities.staker))
    .bytes(bytes(authorities.withdrawer))
    .i64(0n)
    .u64(0n)
    .bytes(new Uint8Array(32));
}

/** A stake account that holds lamports and delegates none. */
export function undelegatedStake(authorities: StakeAuthorities, lamports: bigint): ChainAccount {
  const data = meta(authorities, stateInitialized).finish(stakeAccountBytes);
  return ownedAccount(programs.stake, data, rentExemptLamports(stakeAccountBytes) + lamports);
}

/** A stake account with a delegation; an activation epoch of u64 max means that it was always active. */
export function delegatedStake(
  delegation: StakeAuthorities & {
    readonly voter: Address;
    readonly stake: bigint;
    readonly activationEpoch: bigint;
  },
): ChainAccount {
  const data = meta(delegation, stateDelegated)
    .bytes(decodeAddress(delegation.voter) ?? new Uint8Array(32))
    .u64(delegation.stake)
    .u64(delegation.activationEpoch)
    .u64(maxU64)
    .f64(oldWarmupRate)
    .u64(0n)
    .u8(0)
    .finish(stakeAccountBytes);
  return ownedAccount(programs.stake, data, rentExemptLamports(stakeAccountBytes) + delegation.stake);
}

/** The account with so many lamports more, all of them staked at once, and with these credits seen. */
export function rewarded(account: ChainAccount, delegated: bigint, creditsObserved: bigint): ChainAccount {
  const data = new Uint8Array(account.data);
  const view = new DataView(data.buffer);
  view.setBigUint64(delegatedStakeOffset, view.getBigUint64(delegatedStakeOffset, true) + delegated, true);
  view.setBigUint64(creditsObservedOffset, creditsObserved, true);
  return { ...account, data, lamports: account.lamports + delegated };
}

export interface DelegatedAccount {
  readonly address: string;
  readonly delegation: StakeDelegation;
}

/** Every delegation on the chain. Linear in the accounts of the stake program. */
export function delegations(addresses: Iterable<string>, accounts: AccountOverlay): DelegatedAccount[] {
  const found: DelegatedAccount[] = [];
  for (const address of addresses) {
    const account = accounts.read(address);
    if (account === null || account.owner !== programs.stake) continue;
    const stake = decodeStakeAccount(account.data);
    if (stake?.state === "delegated") found.push({ address, delegation: stake.delegation });
  }
  return found;
}
