import type { ConfirmedTransaction, ExecutedInstruction, TransactionMeta } from "@sluice/encode";
import { encodeBase58 } from "@sluice/wire/base58";
import { type Message, parseTransaction, type Transaction } from "@sluice/wire/transaction";

/** One executed instruction, outer or inner. */
export interface Call {
  /** Position of the outer instruction. */
  readonly outer: number;
  /** Position among the inner instructions of the outer one; null for the outer one itself. */
  readonly inner: number | null;
  /** 1 for an outer instruction, 2 for what it calls; null where the node did not keep it. */
  readonly stackHeight: number | null;
  /** Index into the keys of the transaction. */
  readonly program: number;
  /** Empty where the transaction has no such key. */
  readonly programId: string;
  /** Indexes into the keys of the transaction. */
  readonly accounts: ArrayLike<number>;
  readonly data: Uint8Array;
}

/** Gives the base58 text of the 32 bytes from an offset on. */
interface KeyTexts {
  of(bytes: Uint8Array, from: number): string;
}

const encodedEach: KeyTexts = { of: (bytes, from) => encodeBase58(bytes.subarray(from, from + 32)) };

/** A confirmed transaction with its keys named and its calls in the order of execution. */
export class TransactionView {
  readonly transaction: ConfirmedTransaction;
  readonly parsed: Transaction;
  readonly message: Message;
  /** Static keys, then loaded writable, then loaded readonly, in base58. */
  readonly keys: readonly string[];
  #calls: readonly Call[] | undefined;
  #programIds: readonly string[] | undefined;

  /**
   * @param texts - who reads many transactions may remember the texts of busy keys
   * @throws {TypeError} when the bytes are not a canonical transaction, which no node confirms
   */
  constructor(transaction: ConfirmedTransaction, texts: KeyTexts = encodedEach) {
    const parsed = parseTransaction(transaction.bytes);
    if (!parsed.ok)
      throw new TypeError(`a confirmed transaction is not canonical: ${parsed.fault} at ${parsed.offset}`);
    this.transaction = transaction;
    this.parsed = parsed.transaction;
    this.message = parsed.transaction.message;
    const loaded = transaction.meta?.loadedAddresses;
    const keys: string[] = [];
    const { staticKeyBytes } = this.message;
    for (let from = 0; from < staticKeyBytes.length; from += 32) keys.push(texts.of(staticKeyBytes, from));
    if (loaded !== undefined) keys.push(...loaded.writable, ...loaded.readonly);
    this.keys = keys;
  }

  get meta(): TransactionMeta | null {
    return this.transaction.meta;
  }

  /** Whether it was executed without an error; false also where the node does not know. */
  get succeeded(): boolean {
    return this.meta !== null && this.meta.error === null;
  }

  /** Whether it is known to have failed; a node that kept no meta does not say so. */
  get failed(): boolean {
    return this.meta !== null && this.meta.error !== null;
  }

  /** The programs of its calls, outer and inner, each once, in the order of their first call. */
  get programIds(): readonly string[] {
    if (this.#programIds !== undefined) return this.#programIds;
    const programIds: string[] = [];
    for (const { programId } of this.calls) if (!programIds.includes(programId)) programIds.push(programId);
    this.#programIds = programIds;
    return programIds;
  }

  /** The key at an account's position in a call; empty for a position or an index that is not there. */
  accountOf(call: Call, position: number): string {
    return this.keys[call.accounts[position] ?? -1] ?? "";
  }

  /** All calls in the order of execution: each outer instruction, then what it called. */
  get calls(): readonly Call[] {
    this.#calls ??= this.#readCalls();
    return this.#calls;
  }

  #readCalls(): readonly Call[] {
    const calls: Call[] = [];
    const groups = this.meta?.innerInstructions ?? [];
    const { instructions } = this.message;
    for (let outer = 0; outer < instructions.length; outer += 1) {
      const instruction = instructions[outer];
      if (instruction === undefined) continue;
      const { programIndex: program, accountIndexes: accounts, data } = instruction;
      const programId = this.keys[program] ?? "";
      calls.push({ outer, inner: null, stackHeight: 1, program, programId, accounts, data });
      for (const group of groups) {
        if (group.index !== outer) continue;
        for (let inner = 0; inner < group.instructions.length; inner += 1) {
          const executed = group.instructions[inner];
          if (executed !== undefined) calls.push(this.#innerCall(executed, outer, inner));
        }
      }
    }
    return calls;
  }

  #innerCall(executed: ExecutedInstruction, outer: number, inner: number): Call {
    const { programIdIndex: program, accounts, data, stackHeight } = executed;
    return { outer, inner, stackHeight, program, programId: this.keys[program] ?? "", accounts, data };
  }
}
