import type { ConfirmedBlock } from "../model.ts";
import { unpackBlock } from "./unpack.ts";

/** By the array that holds a body, not by its content: who hands a body on hands on the same array. */
const unpacked = new WeakMap<Uint8Array, ConfirmedBlock>();

/**
 * The block of a body, unpacked once for all that ask in a process; it lives as long as its body. A body that is
 * malformed is read each time that it is asked for.
 *
 * @throws {MalformedBytes} as `unpackBlock`
 */
export function unpackOnce(body: Uint8Array): ConfirmedBlock {
  const known = unpacked.get(body);
  if (known !== undefined) return known;
  const block = unpackBlock(body);
  unpacked.set(body, block);
  return block;
}
