import { keccak_256 } from "@noble/hashes/sha3";
import { decodeAddress } from "@sluice/wire/base58";
import { addressOfBytes } from "@sluice/wire/identifiers";

/** Nodes of concurrent Merkle trees, in base58. Source: spl-concurrent-merkle-tree. */

const nodeBytes = 32;

function hashed(left: Uint8Array, right: Uint8Array): Uint8Array {
  const both = new Uint8Array(2 * nodeBytes);
  both.set(left);
  both.set(right, nodeBytes);
  return keccak_256(both);
}

/** The node above two. @throws {RangeError} when one of them is no hash */
export function nodeOf(left: string, right: string): string {
  const [leftBytes, rightBytes] = [decodeAddress(left), decodeAddress(right)];
  if (leftBytes === null || rightBytes === null) throw new RangeError("a node of a tree is 32 bytes in base58");
  return addressOfBytes(hashed(leftBytes, rightBytes));
}

const empty: Uint8Array[] = [new Uint8Array(nodeBytes)];

/** The node of a part of a tree in which no leaf was ever written; level 0 is a leaf. */
export function emptyNode(level: number): string {
  for (let at = empty.length; at <= level; at += 1) {
    const below = empty[at - 1] ?? new Uint8Array(nodeBytes);
    empty.push(hashed(below, below));
  }
  return addressOfBytes(empty[level] ?? new Uint8Array(nodeBytes));
}
