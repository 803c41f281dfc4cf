import { programs } from "@sluice/wire/programs";
import { keyOf } from "../accounts/key-name.ts";
import type { RawAccount } from "../simulation.ts";

const HEADER_BYTES = 56;
const TABLE = 1;
const owner = keyOf(programs.addressLookupTable);

export type TableFault =
  | "AddressLookupTableNotFound"
  | "InvalidAddressLookupTableOwner"
  | "InvalidAddressLookupTableData"
  | "InvalidAddressLookupTableIndex";

/**
 * All addresses of a table, as places in its data. Whether a table is still active, and whether an address that it gained in
 * this very slot may be used, is for the machine to say, which has the clock; what it refuses just does not run.
 */
export class LookupTable {
  readonly #data: Buffer;

  private constructor(data: Buffer) {
    this.#data = data;
  }

  static of(account: RawAccount | null): LookupTable | TableFault {
    if (account === null) return "AddressLookupTableNotFound";
    if (Buffer.compare(account.owner, owner) !== 0) return "InvalidAddressLookupTableOwner";
    const { data } = account;
    if (data.length < HEADER_BYTES || data[0] !== TABLE || (data.length - HEADER_BYTES) % 32 !== 0) {
      return "InvalidAddressLookupTableData";
    }
    return new LookupTable(Buffer.from(data.buffer, data.byteOffset, data.byteLength));
  }

  /** Calls back with the place of each of the named addresses; false when one is not there. */
  each(indexes: Uint8Array, found: (data: Buffer, start: number) => void): boolean {
    for (const index of indexes) {
      const start = HEADER_BYTES + index * 32;
      if (start + 32 > this.#data.length) return false;
      found(this.#data, start);
    }
    return true;
  }
}
