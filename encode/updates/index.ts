/**
 * updates: the messages of a Yellowstone stream (geyser.SubscribeUpdate) as bytes. What an update holds is packed once
 * and sent to many; what arrives is read no deeper than its kind, so that a block stays the bytes that it came in.
 */

export { type BlockParts, blockParts, packBlockParts } from "./block-parts.ts";
export { completeRequest } from "./complete-request.ts";
export { packBlocksRequest, packPingRequest } from "./pack-request.ts";
export {
  type AccountUpdate,
  type BlockMetaUpdate,
  type BlockUpdate,
  type EntryUpdate,
  packAccount,
  packBlockMeta,
  packBlockUpdate,
  packCreatedAt,
  packEntry,
  packNames,
  packPing,
  packPong,
  packSlot,
  packStatus,
  packTransactionParts,
  packTransactionUpdate,
  packUpdate,
  type SlotUpdate,
  type StatusUpdate,
} from "./pack-update.ts";
export { type ReadUpdate, readUpdate } from "./read-update.ts";
export { requestIdentity } from "./request-identity.ts";
export {
  type UnpackedUpdate,
  unpackAccount,
  unpackBlockExtras,
  unpackEntry,
  unpackTransactionUpdate,
  unpackUpdate,
} from "./unpack-update.ts";
export { type SlotStatus, slotStatuses } from "./update-fields.ts";
