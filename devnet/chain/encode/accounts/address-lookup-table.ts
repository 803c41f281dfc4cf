import type { ChainAccount } from "../../model.ts";
import { ByteCursor, Unparsable } from "../byte-cursor.ts";
import type { JsonObject } from "../json.ts";

const HEADER_LENGTH = 56;

/** Presents an address lookup table; a frozen one has no `authority`. */
export function parseLookupTableAccount(_address: string, account: ChainAccount): JsonObject {
  const cursor = new ByteCursor(account.data);
  const state = cursor.u32();
  if (state === 0) return { type: "uninitialized" };
  if (state !== 1) throw new Unparsable("The lookup table's state is unknown.");
  const deactivationSlot = cursor.u64().toString();
  const lastExtendedSlot = cursor.u64().toString();
  const lastExtendedSlotStartIndex = cursor.u8();
  const authority = cursor.optional(() => cursor.address());
  const list = new ByteCursor(account.data);
  list.bytes(HEADER_LENGTH);
  if (list.remaining % 32 !== 0) throw new Unparsable("The last address is cut short.");
  const addresses = list.list(list.remaining / 32, 32, () => list.address());
  const header = { deactivationSlot, lastExtendedSlot, lastExtendedSlotStartIndex };
  return { type: "lookupTable", info: { ...header, ...(authority !== null && { authority }), addresses } };
}
