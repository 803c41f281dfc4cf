import { encodeBase58 } from "@sluice/wire/base58";
import { MalformedBytes } from "@sluice/wire/bytes";
import * as bodyFields from "../body/fields.ts";
import { FieldReader } from "../body/protobuf.ts";
import type { AccountUpdate, EntryUpdate } from "./pack-update.ts";
import * as fields from "./update-fields.ts";

/** An update taken apart: what it holds, as it came, beside the names and the time. */
export interface UnpackedUpdate {
  readonly kind: "account" | "slot" | "transaction" | "block" | "blockMeta" | "entry" | "other";
  /** The message of that kind. */
  readonly inner: Uint8Array;
  /** The same with its tag and length. */
  readonly content: Uint8Array;
}

const kinds: Readonly<Record<number, UnpackedUpdate["kind"]>> = {
  [fields.update.account]: "account",
  [fields.update.slot]: "slot",
  [fields.update.transaction]: "transaction",
  [fields.update.block]: "block",
  [fields.update.blockMeta]: "blockMeta",
  [fields.update.entry]: "entry",
};

const none: Uint8Array = new Uint8Array(0);

/** Views of the bytes. @throws {MalformedBytes} when the bytes are no update */
export function unpackUpdate(bytes: Uint8Array): UnpackedUpdate {
  const reader = new FieldReader(bytes);
  let found: UnpackedUpdate = { kind: "other", inner: none, content: none };
  for (let start = 0, field = reader.next(); field !== 0; start = reader.position, field = reader.next()) {
    const kind = kinds[field];
    if (kind === undefined) {
      reader.skip();
      continue;
    }
    const inner = reader.bytes();
    found = { kind, inner, content: bytes.subarray(start, reader.position) };
  }
  return found;
}

function address(bytes: Uint8Array): string {
  if (bytes.length !== 32) throw new MalformedBytes(`an address has ${bytes.length} bytes`);
  return encodeBase58(bytes);
}

function readAccountInfo(reader: FieldReader, slot: bigint): AccountUpdate {
  let pubkey = none;
  let owner = none;
  let data: Uint8Array = none;
  let signature: Uint8Array | null = null;
  let executable = false;
  let lamports = 0n;
  let rentEpoch = 0n;
  let writeVersion = 0n;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === fields.accountInfo.pubkey) pubkey = reader.bytes();
    else if (field === fields.accountInfo.lamports) lamports = reader.u64();
    else if (field === fields.accountInfo.owner) owner = reader.bytes();
    else if (field === fields.accountInfo.executable) executable = reader.flag();
    else if (field === fields.accountInfo.rentEpoch) rentEpoch = reader.u64();
    else if (field === fields.accountInfo.data) data = reader.bytes();
    else if (field === fields.accountInfo.writeVersion) writeVersion = reader.u64();
    else if (field === fields.accountInfo.signature) signature = reader.bytes();
    else reader.skip();
  }
  const account = { lamports, data: new Uint8Array(data), owner: address(owner), executable, rentEpoch };
  return { slot, address: address(pubkey), account, writeVersion, signature };
}

/** @throws {MalformedBytes} when the bytes are no geyser.SubscribeUpdateAccount */
export function unpackAccount(inner: Uint8Array): AccountUpdate {
  const reader = new FieldReader(inner);
  let slot = 0n;
  let info = none;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === fields.account.account) info = reader.bytes();
    else if (field === fields.account.slot) slot = reader.u64();
    else reader.skip();
  }
  return readAccountInfo(new FieldReader(info), slot);
}

/** @throws {MalformedBytes} when the bytes are no geyser.SubscribeUpdateEntry */
export function unpackEntry(inner: Uint8Array): EntryUpdate {
  const reader = new FieldReader(inner);
  let slot = 0n;
  let index = 0;
  let hashCount = 0;
  let hash = none;
  let executedTransactionCount = 0;
  let startingTransactionIndex = 0;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === fields.entry.slot) slot = reader.u64();
    else if (field === fields.entry.index) index = reader.u32();
    else if (field === fields.entry.hashCount) hashCount = Number(reader.u64());
    else if (field === fields.entry.hash) hash = reader.bytes();
    else if (field === fields.entry.executedTransactionCount) executedTransactionCount = reader.u32();
    else if (field === fields.entry.startingTransactionIndex) startingTransactionIndex = reader.u32();
    else reader.skip();
  }
  return { slot, index, hashCount, hash, executedTransactionCount, startingTransactionIndex };
}

/** The transaction (geyser.SubscribeUpdateTransactionInfo) of an update, its slot and its place in the block. */
export function unpackTransactionUpdate(inner: Uint8Array): {
  readonly slot: bigint;
  readonly index: number;
  readonly packed: Uint8Array;
} {
  const reader = new FieldReader(inner);
  let slot = 0n;
  let packed = none;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === fields.transaction.transaction) packed = reader.bytes();
    else if (field === fields.transaction.slot) slot = reader.u64();
    else reader.skip();
  }
  const info = new FieldReader(packed);
  let index = 0;
  for (let field = info.next(); field !== 0; field = info.next()) {
    if (field === bodyFields.transactionInfo.index) index = info.u32();
    else info.skip();
  }
  return { slot, index, packed };
}

/** What a block's update has beside transactions. @throws {MalformedBytes} when the bytes are no block */
export function unpackBlockExtras(inner: Uint8Array): {
  readonly accounts: readonly AccountUpdate[];
  readonly entries: readonly EntryUpdate[];
} {
  const reader = new FieldReader(inner);
  const infos: Uint8Array[] = [];
  const entries: EntryUpdate[] = [];
  let slot = 0n;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === fields.block.accounts) infos.push(reader.bytes());
    else if (field === fields.block.entries) entries.push(unpackEntry(reader.bytes()));
    else if (field === bodyFields.block.slot) slot = reader.u64();
    else reader.skip();
  }
  return { accounts: infos.map((info) => readAccountInfo(new FieldReader(info), slot)), entries };
}
