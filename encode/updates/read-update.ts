import { MalformedBytes } from "@sluice/wire/bytes";
import { FieldReader } from "../body/protobuf.ts";
import * as fields from "./update-fields.ts";

/** An update as a follower of blocks needs it: the block's bytes stay as they came. */
export type ReadUpdate =
  | { readonly kind: "block"; readonly body: Uint8Array }
  | {
      readonly kind: "slot";
      readonly slot: bigint;
      readonly parent: bigint | null;
      readonly status: fields.SlotStatus;
    }
  | { readonly kind: "ping" }
  | { readonly kind: "pong"; readonly id: number }
  | { readonly kind: "other" };

function readSlot(reader: FieldReader): ReadUpdate {
  const outer = reader.enter();
  let slot = 0n;
  let parent: bigint | null = null;
  let status = 0;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === fields.slot.slot) slot = reader.u64();
    else if (field === fields.slot.parent) parent = reader.u64();
    else if (field === fields.slot.status) status = reader.u32();
    else reader.skip();
  }
  reader.leave(outer);
  const name = fields.slotStatuses[status];
  // A status that a later version of the protocol adds says nothing here.
  return name === undefined ? { kind: "other" } : { kind: "slot", slot, parent, status: name };
}

function readPong(reader: FieldReader): ReadUpdate {
  const outer = reader.enter();
  let id = 0;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === fields.pong.id) id = Number(BigInt.asIntN(32, reader.u64()));
    else reader.skip();
  }
  reader.leave(outer);
  return { kind: "pong", id };
}

/**
 * Reads the outermost message of an update. A block's `body` is a view of `bytes`.
 *
 * @throws {MalformedBytes} when the bytes are no update, or one of two kinds
 */
export function readUpdate(bytes: Uint8Array): ReadUpdate {
  const reader = new FieldReader(bytes);
  let read: ReadUpdate | null = null;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field < fields.update.account || field > fields.update.status) {
      reader.skip();
      continue;
    }
    if (read !== null) throw new MalformedBytes("an update is of two kinds");
    if (field === fields.update.block) read = { kind: "block", body: reader.bytes() };
    else if (field === fields.update.slot) read = readSlot(reader);
    else if (field === fields.update.pong) read = readPong(reader);
    else {
      reader.skip();
      read = { kind: field === fields.update.ping ? "ping" : "other" };
    }
  }
  return read ?? { kind: "other" };
}
