import { addressAt, boolAt, readI64, readU32, readU64 } from "../bytes.ts";
import type { Address } from "../identifiers.ts";

/** Layouts of the system, address lookup table and stake programs. Each decoder gives null for anything else. */

/** A durable nonce. Source: solana-nonce, `Versions`. */
export interface NonceAccount {
  readonly version: "legacy" | "current";
  /** Null while uninitialised. */
  readonly initialized: {
    readonly authority: Address;
    /** The durable nonce, used in the place of a blockhash. */
    readonly nonce: Address;
    readonly lamportsPerSignature: bigint;
  } | null;
}

/**
 * Decodes a nonce account, owned by the system program: version (u32) at 0, state (u32) at 4, authority at 8, nonce at
 * 40, lamports per signature at 72.
 *
 * @returns null unless there are exactly 80 bytes with a known version and state
 */
export function decodeNonceAccount(data: Uint8Array): NonceAccount | null {
  if (data.length !== 80) return null;
  const version = readU32(data, 0);
  const state = readU32(data, 4);
  if (version > 1 || state > 1) return null;
  return {
    version: version === 0 ? "legacy" : "current",
    initialized:
      state === 0
        ? null
        : {
            authority: addressAt(data, 8),
            nonce: addressAt(data, 40),
            lamportsPerSignature: readU64(data, 72),
          },
  };
}

/** An address lookup table. Source: solana-address-lookup-table-interface, `state.rs`. */
export interface AddressLookupTable {
  /** u64 max while the table is active. */
  readonly deactivationSlot: bigint;
  readonly lastExtendedSlot: bigint;
  /** Addresses from this index on are unusable in the slot of the last extension. */
  readonly lastExtendedStartIndex: number;
  /** Null when frozen. */
  readonly authority: Address | null;
  readonly addresses: readonly Address[];
}

const lookupTableHeader = 56;

/**
 * Decodes a lookup table: type 1 (u32) at 0, deactivation slot at 4, last extension slot at 12 and start index at 20,
 * optional authority at 21, addresses from 56 on.
 *
 * @returns null for another type, a length that is not 56 and a multiple of 32, or more than 256 addresses
 */
export function decodeAddressLookupTable(data: Uint8Array): AddressLookupTable | null {
  const size = data.length - lookupTableHeader;
  if (size < 0 || size % 32 !== 0 || size / 32 > 256 || readU32(data, 0) !== 1) return null;
  const hasAuthority = boolAt(data, 21);
  if (hasAuthority === undefined) return null;
  return {
    deactivationSlot: readU64(data, 4),
    lastExtendedSlot: readU64(data, 12),
    lastExtendedStartIndex: data[20] ?? 0,
    authority: hasAuthority ? addressAt(data, 22) : null,
    addresses: Array.from({ length: size / 32 }, (_, index) => addressAt(data, lookupTableHeader + index * 32)),
  };
}

/** Who may act on a stake account, and its lockup. Amounts in lamports. */
export interface StakeMeta {
  readonly rentExemptReserve: bigint;
  readonly staker: Address;
  readonly withdrawer: Address;
  readonly lockup: {
    /** Unix seconds. */
    readonly unixTimestamp: bigint;
    readonly epoch: bigint;
    readonly custodian: Address;
  };
}

/** The delegation of a stake account. Amounts in lamports. */
export interface StakeDelegation {
  readonly voter: Address;
  readonly stake: bigint;
  /** u64 max for stake of the genesis. */
  readonly activationEpoch: bigint;
  /** u64 max while not deactivating. */
  readonly deactivationEpoch: bigint;
  readonly creditsObserved: bigint;
  readonly flags: number;
}

/** A stake account by its state. Source: solana-stake-interface, `StakeStateV2`. */
export type StakeAccount =
  | { readonly state: "uninitialized" | "rewardsPool" }
  | { readonly state: "initialized"; readonly meta: StakeMeta }
  | { readonly state: "delegated"; readonly meta: StakeMeta; readonly delegation: StakeDelegation };

/**
 * Decodes a stake account, owned by the stake program: state (u32) at 0, `StakeMeta` from 4 on, `StakeDelegation` from
 * 124 on.
 *
 * @returns null unless there are exactly 200 bytes with a known state
 */
export function decodeStakeAccount(data: Uint8Array): StakeAccount | null {
  if (data.length !== 200) return null;
  const state = readU32(data, 0);
  if (state === 0) return { state: "uninitialized" };
  if (state === 3) return { state: "rewardsPool" };
  if (state > 3) return null;
  const meta: StakeMeta = {
    rentExemptReserve: readU64(data, 4),
    staker: addressAt(data, 12),
    withdrawer: addressAt(data, 44),
    lockup: { unixTimestamp: readI64(data, 76), epoch: readU64(data, 84), custodian: addressAt(data, 92) },
  };
  if (state === 1) return { state: "initialized", meta };
  const delegation: StakeDelegation = {
    voter: addressAt(data, 124),
    stake: readU64(data, 156),
    activationEpoch: readU64(data, 164),
    deactivationEpoch: readU64(data, 172),
    creditsObserved: readU64(data, 188),
    flags: data[196] ?? 0,
  };
  return { state: "delegated", meta, delegation };
}
