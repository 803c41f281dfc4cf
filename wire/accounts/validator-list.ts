import { ByteWriter } from "../bytes.ts";
import type { Address } from "../identifiers.ts";
import { readU32, readU64 } from "../little-endian.ts";
import { addressAt } from "./fields.ts";

/** The list of a stake pool's validators. The decoder gives null for anything else. Source: spl-stake-pool, state.rs. */

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

export type PoolValidatorStatus = (typeof statuses)[number];

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

export interface ValidatorList {
  readonly maxValidators: number;
  readonly validators: readonly PoolValidator[];
}

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

/** The bytes of a list with room for `maxValidators`; more entries than that throw RangeError. */
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
