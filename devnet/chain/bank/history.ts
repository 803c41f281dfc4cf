import type { Block, ExecutedTransaction } from "../model.ts";

export interface HistoryOptions {
  /** Blocks kept; the oldest go first. */
  readonly slotsMax: number;
  /** Transactions kept; whole blocks go, oldest first, until no more are held. */
  readonly transactionsMax: number;
}

/** A transaction with every key that it names, loaded ones included. */
export interface RecordedTransaction {
  readonly executed: ExecutedTransaction;
  readonly keys: readonly string[];
  /** For each key, whether the transaction locked it for writing. */
  readonly writable: readonly boolean[];
  /** Micro-lamports for one compute unit. */
  readonly unitPrice: bigint;
  /** Lamports of the fee that are priority fee. */
  readonly priorityFee: bigint;
}

/**
 * Blocks by slot, transactions by signature and by every address that they name. Bounded by blocks and by transactions:
 * about 0.4 KB for an empty block and 3 KB for a transfer.
 */
export class History {
  readonly #options: HistoryOptions;
  readonly #blocks = new Map<bigint, Block>();
  readonly #transactions = new Map<string, RecordedTransaction>();
  /** Oldest first; entries that left #transactions are cut off when they are a third of the list. */
  readonly #byAddress = new Map<string, string[]>();
  #firstSlot = 0n;

  constructor(options: HistoryOptions) {
    this.#options = options;
  }

  append(block: Block, transactions: readonly RecordedTransaction[]): void {
    if (this.#blocks.size === 0) this.#firstSlot = block.slot;
    this.#blocks.set(block.slot, block);
    for (const recorded of transactions) {
      this.#transactions.set(recorded.executed.signature, recorded);
      for (const key of recorded.keys) {
        const list = this.#byAddress.get(key);
        if (list === undefined) this.#byAddress.set(key, [recorded.executed.signature]);
        else list.push(recorded.executed.signature);
      }
    }
    while (this.#overfull()) this.#dropOldest();
  }

  #overfull(): boolean {
    const { slotsMax, transactionsMax } = this.#options;
    return this.#blocks.size > 1 && (this.#blocks.size > slotsMax || this.#transactions.size > transactionsMax);
  }

  #dropOldest(): void {
    const oldest = this.#blocks.entries().next();
    if (oldest.done) return;
    const [slot, block] = oldest.value;
    this.#blocks.delete(slot);
    for (const executed of block.transactions) this.#dropTransaction(executed.signature);
    const next = this.#blocks.keys().next();
    if (!next.done) this.#firstSlot = next.value;
  }

  #dropTransaction(signature: string): void {
    const recorded = this.#transactions.get(signature);
    if (recorded === undefined) return;
    this.#transactions.delete(signature);
    for (const key of recorded.keys) {
      const list = this.#byAddress.get(key);
      const live = list?.findIndex((held) => this.#transactions.has(held)) ?? -1;
      if (list === undefined || live < 0) this.#byAddress.delete(key);
      else if (live * 3 > list.length) list.splice(0, live);
    }
  }

  /** Forgets the blocks above `slot` with their transactions and gives these, oldest first. */
  rollback(slot: bigint): RecordedTransaction[] {
    const gone = [...this.#blocks.values()].filter((block) => block.slot > slot);
    const dropped = gone
      .flatMap(({ transactions }) => transactions)
      .flatMap(({ signature }) => this.#transactions.get(signature) ?? []);
    for (const block of gone) this.#blocks.delete(block.slot);
    for (const { executed, keys } of dropped.toReversed()) {
      this.#transactions.delete(executed.signature);
      for (const key of keys) {
        const list = this.#byAddress.get(key);
        if (list?.at(-1) === executed.signature) list.pop();
        if (list?.length === 0) this.#byAddress.delete(key);
      }
    }
    return dropped;
  }

  /** Drops the blocks below `slot`; the newest block always stays. */
  dropBefore(slot: bigint): void {
    while (this.#blocks.size > 1 && this.#firstSlot < slot) this.#dropOldest();
  }

  block(slot: bigint): Block | null {
    return this.#blocks.get(slot) ?? null;
  }

  transaction(signature: string): RecordedTransaction | null {
    return this.#transactions.get(signature) ?? null;
  }

  /** The lowest slot whose block is kept. */
  get firstSlot(): bigint {
    return this.#firstSlot;
  }

  /** Slots that have a block, from `first` to `last` inclusive, at most `limit`. */
  slots(first: bigint, last: bigint, limit: number): bigint[] {
    const found: bigint[] = [];
    const start = first > this.#firstSlot ? first : this.#firstSlot;
    for (let slot = start; slot <= last && found.length < limit; slot += 1n) {
      if (this.#blocks.has(slot)) found.push(slot);
    }
    return found;
  }

  /** Entries held for an address, those that are only waiting to be cut off included. */
  addressEntries(address: string): number {
    return this.#byAddress.get(address)?.length ?? 0;
  }

  /** Transactions that name an address, newest first. */
  *ofAddress(address: string): Generator<RecordedTransaction> {
    const list = this.#byAddress.get(address) ?? [];
    for (let position = list.length - 1; position >= 0; position -= 1) {
      const recorded = this.#transactions.get(list[position] ?? "");
      if (recorded === undefined) return;
      yield recorded;
    }
  }
}
