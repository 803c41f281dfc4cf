import { createHash } from "node:crypto";
import { type ConfirmedBlock, packBlock, readBlock, unpackBlock } from "@sluice/encode";
import { decodeSignature } from "@sluice/wire/base58";
import { MalformedBytes } from "@sluice/wire/bytes";
import { parseSlot, type Slot } from "@sluice/wire/identifiers";
import type { BlockDigest, SourceBlock } from "./source.ts";

const signatureBytes = 64;

/** SHA-256 over the first signatures of a block's transactions, 64 bytes each, in their order. */
export function signatureHashOf(signatures: Iterable<Uint8Array>): Uint8Array {
  const hash = createHash("sha256");
  for (const signature of signatures) hash.update(signature);
  return new Uint8Array(hash.digest());
}

/** @throws {MalformedBytes} for a block that stands before its parent */
export function sourceBlockOf(block: ConfirmedBlock): SourceBlock {
  return sourceBlock(block, packBlock(block));
}

/** The signatures of a body as the log has it. @throws {MalformedBytes} when it is no block */
export function digestOfBody(body: Uint8Array): BlockDigest {
  const { header, signatureHash } = sourceBlock(unpackBlock(body), body);
  return { ...header, signatureHash };
}

function sourceBlock(block: ConfirmedBlock, body: Uint8Array): SourceBlock {
  const { transactions } = block;
  const header = {
    slot: slotOf(block.slot),
    blockhash: block.blockhash,
    parentSlot: slotOf(block.parentSlot),
    parentBlockhash: block.previousBlockhash,
    blockTime: block.blockTime,
    height: block.blockHeight,
    transactions: transactions.length,
  };
  // The canonical bytes have the signatures in front, after their number.
  const signatures = transactions.map(({ bytes }) => bytes.subarray(1, 1 + signatureBytes));
  return { header, body, signatureHash: signatureHashOf(signatures) };
}

/** @throws {MalformedBytes} for a slot beyond what a chain can have */
export function slotOf(value: bigint): Slot {
  const slot = parseSlot(value);
  if (slot === null) throw new MalformedBytes("a slot is out of range");
  return slot;
}

type Json = Parameters<typeof readBlock>[1];

/** What getBlock answers with the parameters of `blockParameters`. @throws {MalformedBytes} */
export const readSourceBlock = (slot: Slot, answer: Json): SourceBlock => sourceBlockOf(readBlock(slot, answer));

/** What getBlock answers with the parameters of `digestParameters`. @throws {MalformedBytes} */
export function readDigest(slot: Slot, answer: Json): BlockDigest {
  // Without transactions the answer has the members of a whole block but the signatures.
  const listed = typeof answer === "object" && answer !== null && "signatures" in answer ? answer["signatures"] : null;
  if (!Array.isArray(listed)) throw new MalformedBytes("signatures are no list");
  const { blockhash, parentSlot, previousBlockhash } = readBlock(slot, { ...(answer as object), transactions: [] });
  const signatures = listed.map((text: unknown) => {
    const signature = typeof text === "string" ? decodeSignature(text) : null;
    if (signature === null) throw new MalformedBytes("a signature is none");
    return signature;
  });
  return {
    blockhash,
    parentSlot: slotOf(parentSlot),
    parentBlockhash: previousBlockhash,
    transactions: signatures.length,
    signatureHash: signatureHashOf(signatures),
  };
}
