import { addressAt, ByteWriter, readU32, readU64 } from "../bytes.ts";
import type { Address } from "../identifiers.ts";

/**
 * The list of a stake pool's validators. The decoder gives null for anything else. Source: spl-stake-pool, state.rs.
 */

const validatorListHeader = 9;
const validatorEntry = 73;
const maxListedValidators = 20_000;

const statuses = [
  "active",
  "deactivatingTransient",
  "readyForRemoval",
  "deactivatingValidator",
  "deactivatingAll",
] as const;

/** Where a validator of the list is in its removal. Source: spl-stake-pool, `StakeStatus`. */
export type PoolValidatorStatus = (typeof statuses)[number];

/** One validator of a pool. Amounts in lamports. */
export interface PoolValidator {
  /** Its rent included. */
  readonly activeStakeLamports: bigint;
  readonly transientStakeLamports: bigint;
  readonly lastUpdateEpoch: bigint;
  readonly transientSeedSuffix: bigint;
  /** 0 when the stake account's address has no suffix. */
  readonly validatorSeedSuffix: number;
  readonly status: PoolValidatorStatus;
  readonly voteAccount: Address;
}

/** The list of a pool's validators and how many it has room for. */
export interface ValidatorList {
  readonly maxValidators: number;
  readonly validators: readonly PoolValidator[];
}

/**
 * Decodes a validator list: account type 2 at 0, room (u32) at 1, count (u32) at 5, entries of 73 bytes from 9 on.
 *
 * @returns null for another type, an unknown status, or a count above 20,000 or above what the bytes hold
 */
export function decodeValidatorList(data: Uint8Array): ValidatorList | null {
  if (data[0] !== 2 || data.length < validatorListHeader) return null;
  const maxValidators = readU32(data, 1);
  const count = readU32(data, 5);
  if (count > maxListedValidators || count > (data.length - validatorListHeader) / validatorEntry) return null;
  const validators: PoolValidator[] = [];
  for (let index = 0; index < count; index++) {
    const at = validatorListHeader + index * validatorEntry;
    const status = statuses[data[at + 40] ?? 0xff];
    if (status === undefined) return null;
    validators.push({
      activeStakeLamports: readU64(data, at),
      transientStakeLamports: readU64(data, at + 8),
      lastUpdateEpoch: readU64(data, at + 16),
      transientSeedSuffix: readU64(data, at + 24),
      validatorSeedSuffix: readU32(data, at + 36),
      status,
      voteAccount: addressAt(data, at + 41),
    });
  }
  return { maxValidators, validators };
}

/**
 * Encodes a list with room for `maxValidators`.
 *
 * @throws {RangeError} when there are more validators than room, or a text is not an address
 */
export function encodeValidatorList(list: ValidatorList): Uint8Array {
  const size = validatorListHeader + list.maxValidators * validatorEntry;
  const writer = new ByteWriter(size);
  writer.u8(2).u32(list.maxValidators).u32(list.validators.length);
  for (const entry of list.validators) {
    writer
      .u64(entry.activeStakeLamports)
      .u64(entry.transientStakeLamports)
      .u64(entry.lastUpdateEpoch)
      .u64(entry.transientSeedSuffix)
      .u32(0)
      .u32(entry.validatorSeedSuffix)
      .u8(statuses.indexOf(entry.status))
      .address(entry.voteAccount);
  }
  return writer.finish(size);
}
