import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { type Network, networks } from "@sluice/contract/tiers";
import { ByteReader, ByteWriter, MalformedBytes } from "@sluice/wire/bytes";
import type { Slot } from "@sluice/wire/identifiers";
import { encodeChain } from "./head-codec.ts";
import { type BlockPlace, type ChainIdentity, type Stage, stages } from "./records.ts";

/** How far a follower has been told the chain; all that a process needs to go on. */
export interface LogPosition extends BlockPlace {
  readonly stage: Stage;
  /** Items of the block up to this one were handled; null when all of it was. */
  readonly index: number | null;
  /** The last finalized slot that was known; null before the first. */
  readonly finalizedSlot: Slot | null;
  /** The last slot of a gap that was told after this block; null when none was. */
  readonly gapTold: Slot | null;
  /** At stage processed: the blocks told above the last confirmed one, at most `toldMax`; else empty. */
  readonly told: readonly BlockPlace[];
  /**
   * Nothing of a lower slot is told; null where nothing of one can come any more, and at stage processed. Before
   * anything of the slot or a later one was told, or once all of it is undone, the block of the position says nothing.
   */
  readonly from: Slot | null;
}

/** The chain that cursors are of. */
export interface CursorChain {
  readonly network: Network;
  readonly chain: ChainIdentity;
}

/** Blocks told above the last confirmed one. */
export const toldMax = 64;
/** The second form has `from` behind the told blocks. */
const versions = { plain: 1, bound: 2 } as const;
const placeBytes = 8 + 32;
const chainTagBytes = 8;
const checksumBytes = 4;
/** Version, stage, network, chain, the block, three numbers, the told blocks with their count, `from`, the checksum. */
const bytesMax = 3 + chainTagBytes + placeBytes + 3 * 8 + 1 + toldMax * placeBytes + 8 + checksumBytes;
/** Characters of a cursor. */
export const cursorLengthMax = Math.ceil((bytesMax * 4) / 3);

/**
 * Opaque text of letters, digits, `-` and `_`: version (1), stage (1), network (1), chain (8), slot, blockhash (32),
 * index + 1, last finalized slot + 1, told gap + 1, count (1) and list of told blocks, in version 2 `from`, CRC-32.
 * Numbers are u64 where no width is given, all little-endian; 0 stands for what there is none of. Written as base64url.
 */
export function encodeCursor(position: LogPosition, { network, chain }: CursorChain): string {
  const { stage, index, finalizedSlot, gapTold, told, from } = position;
  const writer = new ByteWriter(bytesMax);
  writer
    .u8(from === null ? versions.plain : versions.bound)
    .u8(stages.indexOf(stage))
    .u8(networks.indexOf(network))
    .bytes(chainTag(chain));
  writer.u64(position.slot).address(position.blockhash);
  writer.u64(index === null ? 0n : BigInt(index) + 1n);
  writer.u64(finalizedSlot === null ? 0n : finalizedSlot + 1n);
  writer.u64(gapTold === null ? 0n : gapTold + 1n).u8(told.length);
  for (const each of told) writer.u64(each.slot).address(each.blockhash);
  if (from !== null) writer.u64(from);
  const content = writer.finish();
  const sum = Buffer.alloc(checksumBytes);
  sum.writeUInt32LE(crc32(content));
  return Buffer.concat([content, sum]).toString("base64url");
}

/** Where the index stands: after version, stage, network, chain and block. */
const indexAt = 3 + chainTagBytes + placeBytes;
const toldGapAt = indexAt + 2 * 8;

/** The cursor of a block of which the items up to `index` were handled; `cursor` is that of the whole block. */
export function cursorWithin(cursor: string, index: number): string {
  const bytes = Buffer.from(cursor, "base64url");
  bytes.writeBigUInt64LE(BigInt(index) + 1n, indexAt);
  const end = bytes.length - checksumBytes;
  bytes.writeUInt32LE(crc32(bytes.subarray(0, end)), end);
  return bytes.toString("base64url");
}

/**
 * Whether followers at two cursors of one log are told the same from now on. What was final when each was told its last
 * block differs with the moment alone, and the order of told blocks says nothing once the last of them is whole.
 */
export function areLevel(one: string, other: string): boolean {
  return one === other || (one.length === other.length && levelText(one) === levelText(other));
}

function levelText(cursor: string): string {
  const bytes = Buffer.from(cursor, "base64url");
  const told: string[] = [];
  const end = bytes.length - checksumBytes;
  let at = toldGapAt + 8 + 1;
  for (; at + placeBytes <= end; at += placeBytes) told.push(bytes.toString("latin1", at, at + placeBytes));
  const text = (from: number, to: number): string => bytes.toString("latin1", from, to);
  return text(0, indexAt + 8) + text(toldGapAt, toldGapAt + 9) + told.sort().join("") + text(at, end);
}

/** Null for text that is no cursor of this chain and network, whoever made it. */
export function decodeCursor(text: string, of: CursorChain): LogPosition | null {
  if (text.length > cursorLengthMax || !/^[A-Za-z0-9_-]+$/.test(text)) return null;
  const bytes = Buffer.from(text, "base64url");
  // Text that says the same in another way is refused, so that a cursor has one form.
  if (bytes.length <= checksumBytes || bytes.toString("base64url") !== text) return null;
  const content = bytes.subarray(0, bytes.length - checksumBytes);
  if (crc32(content) !== bytes.readUInt32LE(content.length)) return null;
  try {
    return readPosition(new ByteReader(content), of);
  } catch (error) {
    if (error instanceof MalformedBytes) return null;
    throw error;
  }
}

/** @throws {MalformedBytes} for bytes that end early or go on */
function readPosition(reader: ByteReader, { network, chain }: CursorChain): LogPosition | null {
  const form = reader.u8();
  const stage = stages[reader.u8()];
  const isBound = form === versions.bound;
  if ((form !== versions.plain && !isBound) || stage === undefined || networks[reader.u8()] !== network) return null;
  if (!isTagOf(chain, reader.bytes(chainTagBytes))) return null;
  const place = readPlace(reader);
  const [index, finalizedSlot, gapTold] = [reader.u64(), reader.u64(), reader.u64()];
  const count = reader.u8();
  if (count > (stage === "processed" ? toldMax : 0) || index > BigInt(Number.MAX_SAFE_INTEGER)) return null;
  const told = Array.from({ length: count }, () => readPlace(reader));
  const from = isBound ? (reader.u64() as Slot) : null;
  reader.end();
  const slots = [place.slot, finalizedSlot, gapTold, from ?? 0n, ...told.map(({ slot }) => slot)];
  if (slots.some((slot) => slot >= 2n ** 63n)) return null;
  // Of a block below the bound no part was told; at processed nothing is bound.
  if (from !== null && (stage === "processed" || (place.slot < from && index > 0n))) return null;
  return {
    ...place,
    stage,
    index: index === 0n ? null : Number(index) - 1,
    finalizedSlot: finalizedSlot === 0n ? null : ((finalizedSlot - 1n) as Slot),
    gapTold: gapTold === 0n ? null : ((gapTold - 1n) as Slot),
    told,
    from,
  };
}

function readPlace(reader: ByteReader): BlockPlace {
  const slot = reader.u64() as Slot;
  return { slot, blockhash: reader.address() };
}

const tags = new WeakMap<ChainIdentity, Buffer>();

/** A cursor may have been made before the chain's first block was known. */
function isTagOf(chain: ChainIdentity, tag: Uint8Array): boolean {
  return chainTag(chain).equals(tag) || (chain.firstBlockhash !== null && unnamedTag(chain).equals(tag));
}

const unnamedTag = ({ genesisHash }: ChainIdentity): Buffer => newTag({ genesisHash, firstBlockhash: null });

const newTag = (chain: ChainIdentity): Buffer =>
  createHash("sha256").update(encodeChain(chain)).digest().subarray(0, chainTagBytes);

function chainTag(chain: ChainIdentity): Buffer {
  const known = tags.get(chain);
  if (known !== undefined) return known;
  const tag = newTag(chain);
  tags.set(chain, tag);
  return tag;
}
