import type { ByteReader } from "@sluice/wire/bytes";
import type { FrameWriter } from "@sluice/wire/frames";
import {
  BROUGHT,
  DEPLOYS,
  EXECUTABLE,
  FAILED,
  GONE,
  KEEP,
  NO_NONCE,
  protocolBounds,
  SUCCEEDED,
  VERIFY,
} from "../protocol/messages.ts";
import type { BundleMachine } from "./bundle-machine.ts";
import type { MachineBundle, MachineOutcome, MachineTransaction } from "./machine-bundle.ts";
import { writtenAccount } from "./native-machine.ts";

/** The machine's half of the protocol: it reads what the simulator writes. */
export function readAccounts(reader: ByteReader, machine: BundleMachine): void {
  for (let left = reader.u32(); left > 0; left -= 1) {
    const handle = reader.u32();
    const key = new Uint8Array(reader.bytes(32));
    const kind = reader.u8();
    if (kind === BROUGHT) machine.bring(handle, key);
    else if (kind === GONE) machine.write(handle, key, null);
    else {
      const lamports = reader.u64();
      const owner = reader.bytes(32);
      const data = reader.sizedBytes();
      machine.write(handle, key, writtenAccount(lamports, owner, data, kind === EXECUTABLE));
    }
  }
}

function readHandles(reader: ByteReader): number[] {
  const handles: number[] = [];
  for (let left = reader.u16(); left > 0; left -= 1) handles.push(reader.u32());
  return handles;
}

function readTransaction(reader: ByteReader): MachineTransaction {
  const isLegacy = reader.u8() === 1;
  const nonce = reader.u32();
  const lifetimeStart = reader.u16();
  const bytes = reader.bytes(reader.u16());
  return { isLegacy, nonce: nonce === NO_NONCE ? -1 : nonce, lifetimeStart, bytes };
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
    block,
    verify: (flags & VERIFY) !== 0,
    deploys: (flags & DEPLOYS) !== 0,
    keep: (flags & KEEP) !== 0,
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
  writer.u8(outcome.kind);
  if (outcome.kind === SUCCEEDED) {
    writer.u64(outcome.tip < 0n ? 0n : outcome.tip).u64(outcome.units);
    return;
  }
  writer.u8(outcome.index);
  if (outcome.kind !== FAILED) return;
  const lines = lastLines(outcome.logs);
  writer.sizedText(outcome.error).u16(lines.length);
  for (const line of lines) writer.sizedText(line);
}
