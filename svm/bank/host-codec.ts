import { addressBytes, encodeBase58 } from "@sluice/wire/base58";
import type { ByteReader } from "@sluice/wire/bytes";
import type { FrameWriter } from "@sluice/wire/frames";
import type { CompiledInstruction, TransactionErrorJson } from "../account.ts";
import { type ChainAccount, readAccount, rentExemptEpoch, writeAccount } from "../account.ts";
import { logLines, noNonce, outcomeFlags, transactionFlags } from "./protocol.ts";
import type { AccountWrite, LamportsWrite, SvmOutcome, SvmTransaction } from "./svm.ts";

/** Addresses of owners that are kept between answers; beyond this number all are forgotten. */
const ownersMax = 4_096;

/** The bank's half of the protocol: it writes requests and reads answers. */
export function writeTransaction(writer: FrameWriter, transaction: SvmTransaction): void {
  const { bytes, fee, nonceAddress, version, verify, movesLamportsOnly, writablePositions, loadedWritable } =
    transaction;
  const flags = (verify ? transactionFlags.verify : 0) | (version === "legacy" ? transactionFlags.legacy : 0);
  writer.u8(flags | (movesLamportsOnly ? transactionFlags.movesLamportsOnly : 0));
  writer.u8(nonceAddress === null ? noNonce : transaction.writable.indexOf(nonceAddress)).u64(fee);
  writer.u16(bytes.length).bytes(bytes).u16(transaction.lifetimeStart).u16(transaction.keysStart);
  writer.u8(writablePositions.length);
  for (const position of writablePositions) writer.u8(position);
  writer.u8(loadedWritable.length);
  for (const key of loadedWritable) writer.bytes(key);
}

export function writeKeyedAccount(writer: FrameWriter, { address, account }: AccountWrite): void {
  writer.bytes(addressBytes(address));
  writeAccount(writer, account === null ? null : { ...account, owner: addressBytes(account.owner) });
}

type Returned = SvmOutcome["returnData"];
type Inner = SvmOutcome["innerInstructions"];

/** Reads answers. Each life of the machine's process has its own, since both sides number the log lines. */
export class AnswerReader {
  readonly #lines: string[] = [];
  readonly #owners = new Map<string, string>();

  /** The outcome of one transaction of a batch. */
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
    const error = (flags & outcomeFlags.failed) === 0 ? null : (JSON.parse(reader.sizedText()) as TransactionErrorJson);
    const logs: string[] = [];
    for (let left = reader.u16(); left > 0; left -= 1) logs.push(this.#line(reader));
    const innerInstructions = (flags & outcomeFlags.calls) === 0 ? [] : this.#inner(reader);
    const returnData: Returned =
      (flags & outcomeFlags.returns) === 0
        ? null
        : { programId: this.#owner(reader.bytes(32)), data: reader.sizedCopy() };
    return {
      included: (flags & outcomeFlags.included) !== 0,
      error,
      logs,
      innerInstructions,
      computeUnitsConsumed,
      returnData,
    };
  }

  #line(reader: ByteReader): string {
    const number = reader.u16();
    if (number === logLines.bare) return reader.sizedText();
    if (number !== logLines.numbered) return this.#lines[number] ?? "";
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
    const account = readAccount(reader);
    if (account === null || account === "builtin") return null;
    const { lamports, owner, data, executable } = account;
    return { lamports, data: new Uint8Array(data), owner: this.#owner(owner), executable, rentEpoch: rentExemptEpoch };
  }

  /** Few programs own most accounts, and an address is slow to encode. */
  #owner(key: Uint8Array): string {
    const name = Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString("latin1");
    const known = this.#owners.get(name);
    if (known !== undefined) return known;
    if (this.#owners.size >= ownersMax) this.#owners.clear();
    const owner = encodeBase58(key);
    this.#owners.set(name, owner);
    return owner;
  }
}
