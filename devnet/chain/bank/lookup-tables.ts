import { encodeBase58 } from "@sluice/wire/base58";
import { programs } from "@sluice/wire/programs";
import type { Message } from "@sluice/wire/transaction";
import type { ChainAccount, TransactionErrorJson } from "../model/index.ts";

export interface LoadedAddresses {
  readonly writable: readonly string[];
  readonly readonly: readonly string[];
}

/** What address resolution needs to know of the bank. */
export interface LookupBank {
  readonly slot: bigint;
  read(address: string): ChainAccount | null;
  /** Whether a slot is among the last 512 that the SlotHashes sysvar names: a table deactivated then still works. */
  isRecentSlot(slot: bigint): boolean;
}

type Resolved =
  | { readonly ok: true; readonly loaded: LoadedAddresses }
  | { readonly ok: false; readonly error: TransactionErrorJson };

const HEADER_BYTES = 56;
const TABLE_DISCRIMINATOR = 1;
const NEVER = 0xffff_ffff_ffff_ffffn;

function refuse(error: string): Resolved {
  return { ok: false, error };
}

/** How many of a table's addresses can be used in this slot; null when the table is no longer active. */
function usableLength(data: Uint8Array, bank: LookupBank): number | null {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const deactivatedAt = view.getBigUint64(4, true);
  if (deactivatedAt !== NEVER && deactivatedAt !== bank.slot && !bank.isRecentSlot(deactivatedAt)) return null;
  const extendedAt = view.getBigUint64(12, true);
  return bank.slot > extendedAt ? (data.length - HEADER_BYTES) / 32 : (data[20] ?? 0);
}

/**
 * Resolves the address table lookups of a v0 message. Addresses that a table gained in this very slot are not usable yet.
 * Source: the address lookup table program's state, get_active_addresses_len.
 */
export function loadAddresses(message: Message, bank: LookupBank): Resolved {
  const writable: string[] = [];
  const readonly: string[] = [];
  for (const lookup of message.lookups) {
    const table = bank.read(lookup.table);
    if (table === null) return refuse("AddressLookupTableNotFound");
    if (table.owner !== programs.addressLookupTable) return refuse("InvalidAddressLookupTableOwner");
    const { data } = table;
    if (data.length < HEADER_BYTES || data[0] !== TABLE_DISCRIMINATOR || (data.length - HEADER_BYTES) % 32 !== 0) {
      return refuse("InvalidAddressLookupTableData");
    }
    const length = usableLength(data, bank);
    if (length === null) return refuse("AddressLookupTableNotFound");
    for (const [indexes, into] of [
      [lookup.writableIndexes, writable],
      [lookup.readonlyIndexes, readonly],
    ] as const) {
      for (const index of indexes) {
        if (index >= length) return refuse("InvalidAddressLookupTableIndex");
        const at = HEADER_BYTES + index * 32;
        into.push(encodeBase58(data.subarray(at, at + 32)));
      }
    }
  }
  return { ok: true, loaded: { writable, readonly } };
}
