import type { ChainAccount } from "@sluice/svm";
import { decodeAddressLookupTable } from "@sluice/wire/accounts/native";
import { ByteReader, MalformedBytes } from "@sluice/wire/bytes";
import type { JsonObject } from "../json.ts";

/** Presents an address lookup table; a frozen one has no `authority`. */
export function parseLookupTableAccount(_address: string, account: ChainAccount): JsonObject {
  const table = decodeAddressLookupTable(account.data);
  if (table === null) {
    if (new ByteReader(account.data).u32() === 0) return { type: "uninitialized" };
    throw new MalformedBytes("The data are no lookup table.");
  }
  const { authority, addresses } = table;
  const header = {
    deactivationSlot: table.deactivationSlot.toString(),
    lastExtendedSlot: table.lastExtendedSlot.toString(),
    lastExtendedSlotStartIndex: table.lastExtendedStartIndex,
  };
  return { type: "lookupTable", info: { ...header, ...(authority !== null && { authority }), addresses } };
}
