import type { ConfirmedBlock } from "../model.ts";
import { unpackBlock } from "./unpack.ts";

/** By the array that holds a body, not by its content: who hands a body on hands on the same array. */
const unpacked = new WeakMap<Uint8Array, ConfirmedBlock>();
/**
 * A block takes about five times the memory of its body, and logs hold the bodies of minutes: only those of the newest
 * are kept, which is where followers are. One that is further behind unpacks for itself.
 */
const newestMax = 16;
const newest: WeakRef<Uint8Array>[] = [];

/**
 * The block of a body, unpacked once for all that ask while it is among the newest in a process. A body that is
 * malformed is read each time that it is asked for.
 *
 * @throws {MalformedBytes} as `unpackBlock`
 */
export function unpackOnce(body: Uint8Array): ConfirmedBlock {
  const known = unpacked.get(body);
  if (known !== undefined) return known;
  const block = unpackBlock(body);
  unpacked.set(body, block);
  newest.push(new WeakRef(body));
  const oldest = newest.length > newestMax ? newest.shift()?.deref() : undefined;
  if (oldest !== undefined) unpacked.delete(oldest);
  return block;
}
