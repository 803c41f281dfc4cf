import type { ByteReader } from "@sluice/wire/bytes";
import type { FrameWriter } from "@sluice/wire/frames";
import { type AccountBytes, readAccount, writeAccount } from "../account.ts";

/**
 * Messages between the simulator and a machine's process, beside the messages of every machine. Accounts go by
 * handles, small numbers that the simulator assigns; only `run` is answered.
 */
export const frameKinds = {
  /** A u8 count and so many tip accounts, 32 bytes each. Comes first in each life. */
  configure: 1,
  /** A u32 count and so many handles that are free again. */
  forget: 2,
  /** A u32 count and so many accounts: handle u32, key (32), and the account. */
  accounts: 3,
  /** A u16 count and so many bundles; the answer has so many outcomes. */
  run: 4,
  /** A u32, the number of a block that is closed. */
  closeBlock: 5,
} as const;

const bundleFlags = { verify: 1, deploys: 2, keep: 4 } as const;
const outcomeKinds = { succeeded: 0, failed: 1, wrongNonce: 2 } as const;
/** In place of a block's number and of a nonce's handle. */
const [noBlock, noNonce] = [0, 0xffff_ffff];

const protocolBounds = {
  /** Accounts go in frames of about so many bytes. */
  accountsFrameBytes: 1_024 * 1_024,
  /** The last lines that a failed transaction logged, and their characters altogether. */
  logLines: 32,
  logCharacters: 4_096,
} as const;

/** The newest form of an account that bundles run on. */
export interface AccountUpdate {
  readonly handle: number;
  /** 32 bytes. */
  readonly key: Uint8Array;
  /** Null when it does not exist. */
  readonly account: AccountBytes | null;
  /** Whether the machine brings the account itself. */
  readonly isBuiltIn: boolean;
}

export interface MachineTransaction {
  /** The canonical wire bytes. */
  readonly bytes: Uint8Array;
  readonly isLegacy: boolean;
  /** Handle of the nonce account whose value it carries at `lifetimeStart`; null with a blockhash. */
  readonly nonce: number | null;
  readonly lifetimeStart: number;
}

export interface MachineBundle {
  /** The number of the block that it runs in, above 0; null for the newest state alone. */
  readonly block: number | null;
  /** Whether the signatures are checked. */
  readonly verify: boolean;
  /** Whether it may deploy programs: what the machine compiled for it is discarded. */
  readonly deploys: boolean;
  /** Whether its effects stay in its block. */
  readonly keep: boolean;
  /** A bit for each tip account whose gain counts. */
  readonly tipMask: number;
  /** Handles of the accounts that it locks. */
  readonly writes: readonly number[];
  readonly reads: readonly number[];
  readonly transactions: readonly MachineTransaction[];
}

/** How a bundle ended. `index` is the transaction that failed, from 0. */
export type MachineOutcome =
  | { readonly kind: "succeeded"; readonly tip: bigint; readonly units: bigint }
  | { readonly kind: "failed"; readonly index: number; readonly error: string; readonly logs: readonly string[] }
  | { readonly kind: "wrong_nonce"; readonly index: number };

/** Programs follow the code that they run, since a machine loads a program when it is written. */
function programsLast(updates: readonly AccountUpdate[]): AccountUpdate[] {
  const isProgram = ({ account }: AccountUpdate) => account?.executable === true;
  return [...updates.filter((update) => !isProgram(update)), ...updates.filter(isProgram)];
}

/** Writes accounts as frames of bounded size. */
export function writeUpdates(writer: FrameWriter, updates: readonly AccountUpdate[]): void {
  const ordered = programsLast(updates);
  for (let at = 0; at < ordered.length; ) {
    let [end, bytes] = [at, 0];
    for (; end < ordered.length && bytes < protocolBounds.accountsFrameBytes; end += 1) {
      bytes += ordered[end]?.account?.data.length ?? 0;
    }
    writer.begin(frameKinds.accounts).u32(end - at);
    for (const { handle, key, account, isBuiltIn } of ordered.slice(at, end)) {
      writeAccount(writer.u32(handle).bytes(key), isBuiltIn ? "builtin" : account);
    }
    writer.end();
    at = end;
  }
}

export function readUpdate(reader: ByteReader): AccountUpdate {
  const handle = reader.u32();
  const key = new Uint8Array(reader.bytes(32));
  const account = readAccount(reader);
  return account === "builtin"
    ? { handle, key, account: null, isBuiltIn: true }
    : { handle, key, account, isBuiltIn: false };
}

function writeHandles(writer: FrameWriter, handles: readonly number[]): void {
  writer.u16(handles.length);
  for (const handle of handles) writer.u32(handle);
}

function readHandles(reader: ByteReader): number[] {
  const handles: number[] = [];
  for (let left = reader.u16(); left > 0; left -= 1) handles.push(reader.u32());
  return handles;
}

export function writeBundle(writer: FrameWriter, bundle: MachineBundle): void {
  const { verify, deploys, keep, block, tipMask, writes, reads, transactions } = bundle;
  const flags = (verify ? bundleFlags.verify : 0) | (deploys ? bundleFlags.deploys : 0) | (keep ? bundleFlags.keep : 0);
  writer
    .u32(block ?? noBlock)
    .u8(flags)
    .u8(tipMask);
  writeHandles(writer, writes);
  writeHandles(writer, reads);
  writer.u8(transactions.length);
  for (const { bytes, isLegacy, nonce, lifetimeStart } of transactions) {
    writer.u8(isLegacy ? 1 : 0).u32(nonce ?? noNonce);
    writer.u16(lifetimeStart).u16(bytes.length).bytes(bytes);
  }
}

function readTransaction(reader: ByteReader): MachineTransaction {
  const isLegacy = reader.u8() === 1;
  const nonce = reader.u32();
  const lifetimeStart = reader.u16();
  const bytes = reader.bytes(reader.u16());
  return { isLegacy, nonce: nonce === noNonce ? null : nonce, lifetimeStart, bytes };
}

export function readBundle(reader: ByteReader): MachineBundle {
  const block = reader.u32();
  const flags = reader.u8();
  const tipMask = reader.u8();
  const writes = readHandles(reader);
  const reads = readHandles(reader);
  const transactions: MachineTransaction[] = [];
  for (let left = reader.u8(); left > 0; left -= 1) transactions.push(readTransaction(reader));
  return {
    block: block === noBlock ? null : block,
    verify: (flags & bundleFlags.verify) !== 0,
    deploys: (flags & bundleFlags.deploys) !== 0,
    keep: (flags & bundleFlags.keep) !== 0,
    ...{ tipMask, writes, reads, transactions },
  };
}

/** The last lines, as many as an answer carries. */
function lastLines(logs: readonly string[]): string[] {
  const last: string[] = [];
  let characters = 0;
  for (const line of logs.slice(-protocolBounds.logLines).reverse()) {
    characters += line.length;
    if (characters > protocolBounds.logCharacters) break;
    last.unshift(line);
  }
  return last;
}

export function writeOutcome(writer: FrameWriter, outcome: MachineOutcome): void {
  if (outcome.kind === "succeeded") {
    writer
      .u8(outcomeKinds.succeeded)
      .u64(outcome.tip < 0n ? 0n : outcome.tip)
      .u64(outcome.units);
  } else if (outcome.kind === "wrong_nonce") writer.u8(outcomeKinds.wrongNonce).u8(outcome.index);
  else {
    const lines = lastLines(outcome.logs);
    writer.u8(outcomeKinds.failed).u8(outcome.index).sizedText(outcome.error).u16(lines.length);
    for (const line of lines) writer.sizedText(line);
  }
}

export function readOutcome(reader: ByteReader): MachineOutcome {
  const kind = reader.u8();
  if (kind === outcomeKinds.succeeded) return { kind: "succeeded", tip: reader.u64(), units: reader.u64() };
  const index = reader.u8();
  if (kind !== outcomeKinds.failed) return { kind: "wrong_nonce", index };
  const error = reader.sizedText();
  const logs: string[] = [];
  for (let left = reader.u16(); left > 0; left -= 1) logs.push(reader.sizedText());
  return { kind: "failed", index, error, logs };
}
