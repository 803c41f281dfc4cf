import { createHash } from "node:crypto";
import { decodeAddress } from "@sluice/wire/base58";
import { ByteReader, orNull } from "@sluice/wire/bytes";
import { addressOfBytes } from "@sluice/wire/identifiers";
import { findProgramAddress } from "@sluice/wire/program-address";
import { programs } from "@sluice/wire/programs";
import { type Leaf, leafOf, type TreeChange, treeChangeOf } from "./compression-events.ts";
import { dataHashOf, type LeafMetadata, readMetadata, readUpdate, updated } from "./metadata-args.ts";

/** An executed instruction as changes of leaves are read from it. */
export interface LeafCall {
  /** Position of the outer instruction. */
  readonly outer: number;
  /** 1 for an outer instruction; null where the node did not keep it. */
  readonly stackHeight: number | null;
  readonly programId: string;
  readonly accounts: readonly string[];
  readonly data: Uint8Array;
}

/** A leaf of Bubblegum that a transaction has written or removed. */
export interface LeafChange {
  /** Of the call of Bubblegum, among the calls in the order of execution. */
  readonly position: number;
  /** The instruction, such as `mintV1`. */
  readonly operation: string;
  readonly asset: string;
  readonly change: TreeChange;
  /** Null when the leaf was removed: burnt, or redeemed. */
  readonly leaf: Leaf | null;
  /**
   * The metadata that the leaf has now; null where the call does not state them, or states what the leaf's own hash
   * contradicts.
   */
  readonly metadata: LeafMetadata | null;
}

/** The program of compressed NFTs. */
export const bubblegumProgram = "BGUMAp9Gq7iTEuizy4pqaxsTyUCBK68MDfK752saRPUY";
/** Programs that tell events by being called with them. */
export const noopPrograms: readonly string[] = [programs.noop, "mnoopTCrg4p8ry25e4bcWA9XZjbNjMTfgYVGGEdRsf3"];

const hashBytes = 32;
/** The root, and the hashes of data and creators. */
const proofHashes = 3 * hashBytes;

type ReadsMetadata = (reader: ByteReader, accounts: readonly string[]) => readonly LeafMetadata[];

const asStated =
  (form: LeafMetadata["form"]): ReadsMetadata =>
  (reader) => [readMetadata(reader, form)];

/** What follows the root and hashes of an instruction of the second version. */
function skipSecond(reader: ByteReader): void {
  reader.optional(() => reader.skip(hashBytes));
  reader.optional(() => reader.u8());
  reader.skip(12);
}

const verifiedCreators = (metadata: LeafMetadata, creator: string | undefined, verified: boolean): LeafMetadata => ({
  ...metadata,
  creators: metadata.creators.map((each) => (each.address === creator ? { ...each, verified } : each)),
});

/** After root, hashes, nonce and index, with a creator's flag as it is after the call. */
const ofCreator =
  (verified: boolean): ReadsMetadata =>
  (reader, accounts) => {
    reader.skip(proofHashes + 12);
    return [verifiedCreators(readMetadata(reader, "V1"), accounts[5], verified)];
  };

const ofSecondCreator =
  (verified: boolean): ReadsMetadata =>
  (reader, accounts) => {
    reader.skip(hashBytes);
    skipSecond(reader);
    return [verifiedCreators(readMetadata(reader, "V2"), accounts[2], verified)];
  };

/** The collection is the one that the call names, else that of the metadata. */
const ofCollection =
  (verified: boolean): ReadsMetadata =>
  (reader, accounts) => {
    reader.skip(proofHashes + 12);
    const metadata = readMetadata(reader, "V1");
    const key = verified ? (accounts[8] ?? metadata.collection?.key) : metadata.collection?.key;
    return key === undefined ? [metadata] : [{ ...metadata, collection: { key, verified } }];
  };

const mintToCollection: ReadsMetadata = (reader) => {
  const metadata = readMetadata(reader, "V1");
  const { collection } = metadata;
  return collection === null ? [metadata] : [{ ...metadata, collection: { ...collection, verified: true } }, metadata];
};

const update: ReadsMetadata = (reader) => {
  reader.skip(hashBytes + 12);
  const metadata = readMetadata(reader, "V1");
  return [updated(metadata, readUpdate(reader))];
};

const secondUpdate: ReadsMetadata = (reader) => {
  reader.skip(hashBytes);
  skipSecond(reader);
  const metadata = readMetadata(reader, "V2");
  return [updated(metadata, readUpdate(reader))];
};

const setSecondCollection: ReadsMetadata = (reader, accounts) => {
  reader.skip(hashBytes);
  skipSecond(reader);
  const metadata = readMetadata(reader, "V2");
  const key = accounts[8];
  const without = { ...metadata, collection: null };
  // An account that is left out stands as the program itself.
  if (key === undefined || key === bubblegumProgram) return [without];
  return [{ ...metadata, collection: { key, verified: true } }, without];
};

interface Operation {
  readonly name: string;
  /** How the metadata after the call may be read from it. */
  readonly metadata?: ReadsMetadata;
  /** Whether it removes a leaf without telling it; the leaf's nonce follows the root and hashes. */
  readonly removes?: { readonly tree: number; readonly second?: boolean };
}

/** Instructions that write leaves, by the first eight bytes of their data. Source: mpl-bubblegum 5.1, its client. */
const operations: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ["9162c076b8937668", { name: "mintV1", metadata: asStated("V1") }],
  ["9912b22fc59e560f", { name: "mintToCollectionV1", metadata: mintToCollection }],
  ["78791792ad6ec7cd", { name: "mintV2", metadata: asStated("V2") }],
  ["a334c8e78c0345ba", { name: "transfer" }],
  ["772806ebeaddf831", { name: "transferV2" }],
  ["746e1d386bdb2a5d", { name: "burn", removes: { tree: 3 } }],
  ["73d222f0e88fb710", { name: "burnV2", removes: { tree: 5, second: true } }],
  ["5a934bb255580489", { name: "delegate" }],
  ["5f577d8cb58380e3", { name: "delegateV2" }],
  ["b80c569546c461e1", { name: "redeem", removes: { tree: 3 } }],
  ["6f4ce83227af30f2", { name: "cancelRedeem" }],
  ["34116084470455c2", { name: "verifyCreator", metadata: ofCreator(true) }],
  ["558a8c2a16f17666", { name: "verifyCreatorV2", metadata: ofSecondCreator(true) }],
  ["6bb2392769737098", { name: "unverifyCreator", metadata: ofCreator(false) }],
  ["ae701d8ee664ef07", { name: "unverifyCreatorV2", metadata: ofSecondCreator(false) }],
  ["387165fd4f377aa9", { name: "verifyCollection", metadata: ofCollection(true) }],
  ["fafb2a6a2989baa8", { name: "unverifyCollection", metadata: ofCollection(false) }],
  ["ebf279d89eeab4ea", { name: "setAndVerifyCollection", metadata: ofCollection(true) }],
  ["e5233d5b0f0e63a0", { name: "setCollectionV2", metadata: setSecondCollection }],
  ["aab62bef614ee1ba", { name: "updateMetadata", metadata: update }],
  ["2b67592a79f23e48", { name: "updateMetadataV2", metadata: secondUpdate }],
  ["c897f46610c3ff03", { name: "freezeV2" }],
  ["6085655d52dc92bf", { name: "thawV2" }],
  ["11e523dabef1fa7b", { name: "delegateAndFreezeV2" }],
  ["56d6be25a7041c74", { name: "thawAndRevokeV2" }],
  ["b58dce3af2c798a8", { name: "setNonTransferableV2" }],
]);

const tagBytes = 8;
const tagOf = (data: Uint8Array): string => Buffer.from(data.subarray(0, tagBytes)).toString("hex");

/**
 * The changes of leaves that the calls of one transaction made, in the order of execution. A change whose tree event
 * the node did not keep is left out: nothing can be told of it.
 *
 * @param calls - all calls of a transaction that succeeded, or at least those of Bubblegum and what they called
 */
export function leafChangesOf(calls: readonly LeafCall[]): readonly LeafChange[] {
  return calls.flatMap((call, position) => {
    const isLeafCall = call.programId === bubblegumProgram && call.data.length >= tagBytes;
    const operation = isLeafCall ? operations.get(tagOf(call.data)) : undefined;
    const change = operation === undefined ? null : changeOf(calls, position, operation);
    return change === null ? [] : [change];
  });
}

function changeOf(calls: readonly LeafCall[], position: number, operation: Operation): LeafChange | null {
  const call = calls[position];
  if (call === undefined) return null;
  const events = eventsOf(calls, position);
  const change = events.map(treeChangeOf).findLast((each) => each !== null) ?? null;
  if (change === null) return null;
  const told = events.map(leafOf).findLast((each) => each !== null) ?? null;
  const isRemoved = operation.removes !== undefined;
  const asset = isRemoved ? removedAsset(call, operation) : (told?.asset ?? null);
  if (asset === null) return null;
  const leaf = isRemoved ? null : told;
  const metadata = leaf === null ? null : metadataOf(call, operation, leaf);
  return { position, operation: operation.name, asset, change, leaf, metadata };
}

/** The data of calls of noop programs that a call has made, up to the next one beside it. */
function eventsOf(calls: readonly LeafCall[], position: number): readonly Uint8Array[] {
  const events: Uint8Array[] = [];
  const of = calls[position];
  for (let at = position + 1; of !== undefined && at < calls.length; at += 1) {
    const call = calls[at];
    if (call === undefined || call.outer !== of.outer || call.programId === bubblegumProgram) break;
    if (call.stackHeight !== null && of.stackHeight !== null && call.stackHeight <= of.stackHeight) break;
    if (noopPrograms.includes(call.programId)) events.push(call.data);
  }
  return events;
}

function removedAsset({ accounts, data }: LeafCall, { removes }: Operation): string | null {
  const tree = accounts[removes?.tree ?? -1];
  if (tree === undefined) return null;
  return orNull(() => {
    const reader = new ByteReader(data, tagBytes + proofHashes);
    if (removes?.second === true) {
      reader.optional(() => reader.skip(hashBytes));
      reader.optional(() => reader.u8());
    }
    return leafAsset(tree, reader.u64());
  });
}

const sha256 = (bytes: Uint8Array): Uint8Array => createHash("sha256").update(bytes).digest();
const assetSeed = new TextEncoder().encode("asset");

/** The id of a leaf by its tree and nonce; null for a tree that is no address. */
export function leafAsset(tree: string, nonce: bigint): string | null {
  const [treeBytes, program] = [decodeAddress(tree), decodeAddress(bubblegumProgram)];
  if (treeBytes === null || program === null) return null;
  const number = new Uint8Array(8);
  new DataView(number.buffer).setBigUint64(0, nonce, true);
  const found = findProgramAddress([assetSeed, treeBytes, number], program, sha256);
  return found === null ? null : addressOfBytes(found.bytes);
}

/** Of the readings of a call the one that has the hash of the leaf. */
function metadataOf({ data, accounts }: LeafCall, { metadata }: Operation, leaf: Leaf): LeafMetadata | null {
  if (metadata === undefined) return null;
  const readings = orNull(() => metadata(new ByteReader(data, tagBytes), accounts));
  return readings?.find((each) => dataHashOf(each) === leaf.dataHash) ?? null;
}
