import { parseAddress, parseSlot, parseU64, type Slot } from "@sluice/wire/identifiers";
import { type BlockHeader, bodyBytesMax, type ChainIdentity, type GapRecord } from "./records.ts";

/** A record as it is stored, without its body. `floor` says that nothing below a slot is held any more. */
export type StoredHead =
  | { readonly kind: "block"; readonly header: BlockHeader; readonly rawBytes: number }
  | { readonly kind: "stage"; readonly header: BlockHeader; readonly stage: "confirmed" | "finalized" }
  | GapRecord
  | { readonly kind: "floor"; readonly slot: Slot };

/** Characters of a head; longer text is no head. */
export const headLengthMax = 2_048;

/** One line of JSON, its u64 as decimal text. */
export function encodeHead(head: StoredHead): string {
  switch (head.kind) {
    case "block":
      return JSON.stringify({ k: "block", n: head.rawBytes, ...headerMembers(head.header) });
    case "stage":
      return JSON.stringify({ k: head.stage, ...headerMembers(head.header) });
    case "gap":
      return JSON.stringify({ k: "gap", from: String(head.from), to: String(head.to), reason: head.reason });
    case "floor":
      return JSON.stringify({ k: "floor", s: String(head.slot) });
  }
}

function headerMembers(header: BlockHeader) {
  const { slot, blockhash, parentSlot, parentBlockhash, blockTime, height, transactions } = header;
  return {
    s: String(slot),
    h: blockhash,
    ps: String(parentSlot),
    ph: parentBlockhash,
    t: blockTime === null ? null : String(blockTime),
    b: height === null ? null : String(height),
    x: transactions,
  };
}

/** Null for text that is no head. All blocks of one log are of its `chain`, which is stored once beside them. */
export function decodeHead(text: string, chain: ChainIdentity): StoredHead | null {
  if (text.length > headLengthMax) return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null) return null;
  const members = value as Readonly<Record<string, unknown>>;
  const { k: kind } = members;
  if (kind === "gap") return readGap(members);
  if (kind === "floor") {
    const slot = parseSlot(members["s"]);
    return slot === null ? null : { kind, slot };
  }
  const header = readHeader(members, chain);
  if (header === null) return null;
  if (kind === "confirmed" || kind === "finalized") return { kind: "stage", header, stage: kind };
  const rawBytes = members["n"];
  if (kind !== "block" || !isCount(rawBytes) || rawBytes > bodyBytesMax) return null;
  return { kind, header, rawBytes };
}

function readGap({ from, to, reason }: Readonly<Record<string, unknown>>): GapRecord | null {
  const [first, last] = [parseSlot(from), parseSlot(to)];
  if (first === null || last === null || typeof reason !== "string") return null;
  const gap: GapRecord = { kind: "gap", from: first, to: last, reason };
  return isGap(gap) ? gap : null;
}

function readHeader(members: Readonly<Record<string, unknown>>, chain: ChainIdentity): BlockHeader | null {
  const [slot, parentSlot] = [parseSlot(members["s"]), parseSlot(members["ps"])];
  const { h: blockhash, ph: parentBlockhash, t, b, x: transactions } = members;
  const [blockTime, height] = [readInteger(t), readInteger(b)];
  if (slot === null || parentSlot === null || blockTime === undefined || height === undefined) return null;
  if (typeof blockhash !== "string" || typeof parentBlockhash !== "string" || !isCount(transactions)) return null;
  const header = { chain, slot, blockhash, parentSlot, parentBlockhash, blockTime, height, transactions };
  return isHeader(header) ? header : null;
}

/** Undefined for what is neither null nor canonical decimal text of an i64 or u64. */
function readInteger(value: unknown): bigint | null | undefined {
  if (value === null) return null;
  if (typeof value === "string" && value.startsWith("-")) {
    const magnitude = parseU64(value.slice(1));
    return magnitude === null || magnitude === 0n ? undefined : -magnitude;
  }
  return parseU64(value) ?? undefined;
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

/** Whether a block of these members can exist. */
export function isHeader(header: BlockHeader): boolean {
  const { slot, parentSlot, blockhash, parentBlockhash, transactions } = header;
  return (
    parentSlot < slot &&
    slot <= slotMax &&
    parentSlot >= 0n &&
    isCount(transactions) &&
    parseAddress(blockhash) !== null &&
    parseAddress(parentBlockhash) !== null
  );
}

export function isGap({ from, to, reason }: GapRecord): boolean {
  return from >= 0n && from <= to && to <= slotMax && reason.length >= 1 && reason.length <= 64;
}

const slotMax = 2n ** 63n - 1n;

/** The identity as one word, and back. */
export function encodeChain({ genesisHash, firstBlockhash }: ChainIdentity): string {
  return `${genesisHash}.${firstBlockhash ?? "-"}`;
}

/** Null for text that is no identity. */
export function decodeChain(text: string): ChainIdentity | null {
  const [genesisHash, first, ...rest] = text.split(".");
  if (genesisHash === undefined || first === undefined || rest.length > 0) return null;
  return { genesisHash, firstBlockhash: first === "-" ? null : first };
}
