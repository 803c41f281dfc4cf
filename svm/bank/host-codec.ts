import { encodeBase58 } from "@sluice/wire/base58";
import type { ByteReader } from "@sluice/wire/bytes";
import type { FrameWriter } from "@sluice/wire/frames";
import type { ChainAccount } from "../account.ts";
import { rentExemptEpoch } from "../account.ts";
import { keyBytes } from "../key-bytes.ts";
import type { CompiledInstruction, TransactionErrorJson } from "../outcome.ts";
import {
  BARE_LINE,
  CALLS,
  EXECUTABLE,
  FAILED,
  GONE,
  INCLUDED,
  LEGACY,
  MOVES_LAMPORTS_ONLY,
  NEW_LINE,
  NO_NONCE,
  PLAIN,
  RETURNS,
  VERIFY,
} from "./messages.ts";
import type { AccountWrite, LamportsWrite, SvmOutcome, SvmTransaction } from "./svm.ts";

/** Names of programs that are kept between answers; more begin anew. */
const OWNERS_MAX = 4_096;

/** The bank's half of the protocol: it writes requests. */
export function writeTransaction(writer: FrameWriter, transaction: SvmTransaction): void {
  const { bytes, fee, nonceAddress, version, verify, movesLamportsOnly, writablePositions, loadedWritable } =
    transaction;
  const flags = (verify ? VERIFY : 0) | (version === "legacy" ? LEGACY : 0);
  writer.u8(flags | (movesLamportsOnly ? MOVES_LAMPORTS_ONLY : 0));
  writer.u8(nonceAddress === null ? NO_NONCE : transaction.writable.indexOf(nonceAddress)).u64(fee);
  writer.u16(bytes.length).bytes(bytes).u16(transaction.lifetimeStart).u16(transaction.keysStart);
  writer.u8(writablePositions.length);
  for (const position of writablePositions) writer.u8(position);
  writer.u8(loadedWritable.length);
  for (const key of loadedWritable) writer.bytes(key);
}

export function writeAccount(writer: FrameWriter, { address, account }: AccountWrite): void {
  writer.bytes(keyBytes(address));
  if (account === null) {
    writer.u8(GONE);
    return;
  }
  const { lamports, rentEpoch, owner, data, executable } = account;
  writer
    .u8(executable ? EXECUTABLE : PLAIN)
    .u64(lamports)
    .u64(rentEpoch)
    .bytes(keyBytes(owner))
    .sizedBytes(data);
}

type Returned = SvmOutcome["returnData"];
type Inner = SvmOutcome["innerInstructions"];

/** And it reads answers. One for each life of the machine's process, since both sides number the log lines. */
export class AnswerReader {
  readonly #lines: string[] = [];
  readonly #owners = new Map<string, string>();

  /** What became of one transaction of a batch. */
  outcome(reader: ByteReader, transaction: SvmTransaction): SvmOutcome {
    const ran = this.#ran(reader);
    const address = (index: number) => transaction.writable[index] ?? transaction.payer;
    const balances: LamportsWrite[] = [];
    for (let left = reader.u8(); left > 0; left -= 1) {
      balances.push({ address: address(reader.u8()), lamports: reader.u64() });
    }
    const writes: AccountWrite[] = [];
    for (let left = reader.u8(); left > 0; left -= 1) {
      writes.push({ address: address(reader.u8()), account: this.#account(reader) });
    }
    return { ...ran, writes, balances };
  }

  simulation(reader: ByteReader): SvmOutcome {
    return { ...this.#ran(reader), writes: this.accounts(reader), balances: [] };
  }

  accounts(reader: ByteReader): AccountWrite[] {
    return Array.from({ length: reader.u32() }, () => ({
      address: encodeBase58(reader.bytes(32)),
      account: this.#account(reader),
    }));
  }

  #ran(reader: ByteReader): Omit<SvmOutcome, "writes" | "balances"> {
    const flags = reader.u8();
    const computeUnitsConsumed = reader.u64();
    const error = (flags & FAILED) === 0 ? null : (JSON.parse(reader.sizedText()) as TransactionErrorJson);
    const logs: string[] = [];
    for (let left = reader.u16(); left > 0; left -= 1) logs.push(this.#line(reader));
    const innerInstructions = (flags & CALLS) === 0 ? [] : this.#inner(reader);
    const returnData: Returned =
      (flags & RETURNS) === 0 ? null : { programId: this.#owner(reader), data: reader.sizedCopy() };
    return { included: (flags & INCLUDED) !== 0, error, logs, innerInstructions, computeUnitsConsumed, returnData };
  }

  #line(reader: ByteReader): string {
    const number = reader.u16();
    if (number === BARE_LINE) return reader.sizedText();
    if (number !== NEW_LINE) return this.#lines[number] ?? "";
    const line = reader.sizedText();
    this.#lines.push(line);
    return line;
  }

  #inner(reader: ByteReader): Inner {
    return Array.from({ length: reader.u8() }, () => ({
      index: reader.u8(),
      instructions: Array.from({ length: reader.u16() }, () => this.#instruction(reader)),
    }));
  }

  #instruction(reader: ByteReader): CompiledInstruction {
    const programIdIndex = reader.u8();
    const stackHeight = reader.u8();
    const accounts = [...reader.bytes(reader.u16())];
    return { programIdIndex, accounts, data: reader.sizedCopy(), stackHeight };
  }

  #account(reader: ByteReader): ChainAccount | null {
    const kind = reader.u8();
    if (kind === GONE) return null;
    const lamports = reader.u64();
    const owner = this.#owner(reader);
    return {
      lamports,
      data: reader.sizedCopy(),
      owner,
      executable: kind === EXECUTABLE,
      rentEpoch: rentExemptEpoch,
    };
  }

  /** Few programs own most accounts, and their names are long to make. */
  #owner(reader: ByteReader): string {
    const name = reader.latin1(32);
    const known = this.#owners.get(name);
    if (known !== undefined) return known;
    if (this.#owners.size >= OWNERS_MAX) this.#owners.clear();
    const owner = encodeBase58(Buffer.from(name, "latin1"));
    this.#owners.set(name, owner);
    return owner;
  }
}
