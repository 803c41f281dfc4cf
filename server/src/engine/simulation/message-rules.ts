import { addressBytes } from "@sluice/wire/base58";
import { programs } from "@sluice/wire/programs";
import { reservedKeys } from "@sluice/wire/runtime-rules";
import type { Message } from "@sluice/wire/transaction";
import { type AccountEntry, nameOf } from "./account-cache.ts";
import type { RawAccount } from "./simulation.ts";

/** Rules of the runtime about the accounts of one message: its write locks, its nonce and its lookup tables. */

const reserved: ReadonlySet<string> = new Set(reservedKeys.map((address) => nameOf(address)));
const system = nameOf(programs.system);
const upgradeableLoader = nameOf(programs.bpfLoaderUpgradeable);
const loaders: ReadonlySet<string> = new Set([
  upgradeableLoader,
  nameOf(programs.loaderV4),
  nameOf(programs.bpfLoader),
]);

/**
 * For each key, whether the runtime locks it for writing: the message asks for it, it is not reserved, and it is not
 * called as a program while the upgradeable loader is not among the keys.
 */
export function writeLocks(message: Message, keys: readonly AccountEntry[]): boolean[] {
  const locks = keys.map((entry, index) => message.isWritable(index) && !reserved.has(entry.name));
  if (keys.some((entry) => entry.name === upgradeableLoader)) return locks;
  for (const { programIndex } of message.instructions) locks[programIndex] = false;
  return locks;
}

/** Whether a transaction may deploy or close a program: a loader is among its keys. */
export function mayDeploy(keys: readonly AccountEntry[]): boolean {
  return keys.some((entry) => loaders.has(entry.name));
}

const advanceNonce = 4;

/**
 * The nonce account that the first instruction of a message advances and locks for writing, so that the message may
 * carry the nonce in place of a blockhash; null when it does not begin so. The machine compares the nonce itself.
 */
export function nonceAccount(
  message: Message,
  keys: readonly AccountEntry[],
  locks: readonly boolean[],
): AccountEntry | null {
  const first = message.instructions[0];
  if (first === undefined || keys[first.programIndex]?.name !== system || first.data.length < 4) return null;
  const view = new DataView(first.data.buffer, first.data.byteOffset);
  if (view.getUint32(0, true) !== advanceNonce) return null;
  const index = first.accountIndexes[0] ?? -1;
  return locks[index] === true ? (keys[index] ?? null) : null;
}

const tableHeaderBytes = 56;
const tableTag = 1;
const tableOwner = addressBytes(programs.addressLookupTable);

export type TableError =
  | "AddressLookupTableNotFound"
  | "InvalidAddressLookupTableOwner"
  | "InvalidAddressLookupTableData"
  | "InvalidAddressLookupTableIndex";

/**
 * All addresses of a lookup table, as offsets in its data. The machine, which has the clock, checks whether the table
 * is still active and whether an address that was added in this slot may be used.
 */
export class LookupTable {
  readonly #data: Buffer;

  private constructor(data: Buffer) {
    this.#data = data;
  }

  static of(account: RawAccount | null): LookupTable | TableError {
    if (account === null) return "AddressLookupTableNotFound";
    if (Buffer.compare(account.owner, tableOwner) !== 0) return "InvalidAddressLookupTableOwner";
    const { data } = account;
    if (data.length < tableHeaderBytes || data[0] !== tableTag || (data.length - tableHeaderBytes) % 32 !== 0) {
      return "InvalidAddressLookupTableData";
    }
    return new LookupTable(Buffer.from(data.buffer, data.byteOffset, data.byteLength));
  }

  /** Calls back with the offset of each of the indexed addresses; false when one of them does not exist. */
  each(indexes: Uint8Array, found: (data: Buffer, start: number) => void): boolean {
    for (const index of indexes) {
      const start = tableHeaderBytes + index * 32;
      if (start + 32 > this.#data.length) return false;
      found(this.#data, start);
    }
    return true;
  }
}
