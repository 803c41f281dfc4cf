import type { ByteReader } from "@sluice/wire/bytes";
import type { FrameWriter } from "@sluice/wire/frames";
import type { AccountEntry } from "../accounts/account-entry.ts";
import {
  BROUGHT,
  DEPLOYS,
  EXECUTABLE,
  FAILED,
  FRAME,
  GONE,
  KEEP,
  NO_BLOCK,
  NO_NONCE,
  PLAIN,
  protocolBounds,
  SUCCEEDED,
  VERIFY,
} from "../protocol/messages.ts";
import type { Job, MachineAnswer } from "./job.ts";

/** The simulator's half of the protocol. */

function writeAccount(writer: FrameWriter, { handle, key, account, isBuiltIn }: AccountEntry): void {
  writer.u32(handle).bytes(key);
  if (isBuiltIn) writer.u8(BROUGHT);
  else if (account === null) writer.u8(GONE);
  else {
    writer.u8(account.executable ? EXECUTABLE : PLAIN);
    writer.u64(account.lamports).bytes(account.owner).sizedBytes(account.data);
  }
}

/** Programs come behind the code that they run, since a machine loads a program when it is written. */
function programsLast(entries: readonly AccountEntry[]): AccountEntry[] {
  const isProgram = ({ account }: AccountEntry) => account?.executable === true;
  return [...entries.filter((entry) => !isProgram(entry)), ...entries.filter(isProgram)];
}

export function writeAccounts(writer: FrameWriter, entries: readonly AccountEntry[]): void {
  const ordered = programsLast(entries);
  for (let at = 0; at < ordered.length; ) {
    let [end, bytes] = [at, 0];
    for (; end < ordered.length && bytes < protocolBounds.accountsFrameBytes; end += 1) {
      bytes += ordered[end]?.account?.data.length ?? 0;
    }
    writer.begin(FRAME.accounts).u32(end - at);
    for (const entry of ordered.slice(at, end)) writeAccount(writer, entry);
    writer.end();
    at = end;
  }
}

function writeHandles(writer: FrameWriter, entries: readonly AccountEntry[]): void {
  writer.u16(entries.length);
  for (const { handle } of entries) writer.u32(handle);
}

function writeJob(writer: FrameWriter, { bundle, block, keep, verify }: Job): void {
  const flags = (verify ? VERIFY : 0) | (bundle.mayDeploy ? DEPLOYS : 0) | (keep ? KEEP : 0);
  writer
    .u32(block?.number ?? NO_BLOCK)
    .u8(flags)
    .u8(bundle.tipMask);
  writeHandles(writer, bundle.writes);
  writeHandles(writer, bundle.reads);
  writer.u8(bundle.transactions.length);
  for (const { transaction, lifetimeStart, nonce } of bundle.transactions) {
    const { bytes, message } = transaction;
    writer.u8(message.version === "legacy" ? 1 : 0).u32(nonce?.handle ?? NO_NONCE);
    writer.u16(lifetimeStart).u16(bytes.length).bytes(bytes);
  }
}

export function writeJobs(writer: FrameWriter, jobs: readonly Job[]): void {
  writer.begin(FRAME.run).u16(jobs.length);
  for (const job of jobs) writeJob(writer, job);
  writer.end();
}

export function readAnswer(reader: ByteReader, slot: bigint): MachineAnswer {
  const kind = reader.u8();
  if (kind === SUCCEEDED) return { kind: "succeeded", tip: reader.u64(), units: Number(reader.u64()), slot };
  const index = reader.u8();
  if (kind !== FAILED) return { kind: "wrong_nonce", index };
  const error = reader.sizedText();
  const logs: string[] = [];
  for (let left = reader.u16(); left > 0; left -= 1) logs.push(reader.sizedText());
  return { kind: "failed", index, error, logs };
}
