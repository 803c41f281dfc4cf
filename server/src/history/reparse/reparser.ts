import type { Network } from "@sluice/contract/tiers";
import { unpackTransaction } from "@sluice/encode";
import { type Clock, invariant, sleep } from "@sluice/lib";
import { TransactionView } from "@sluice/parser";
import { AddressTexts } from "@sluice/wire/address-texts";
import {
  type LedgerParsedStore,
  parsedRows,
  type SlotSpan,
  type StoredTransaction,
  type UnparsedBlock,
} from "../../ledger/index.ts";
import { addParsed, parsedOrUnknown, type Unreadable } from "../writer/parsed-row.ts";

export interface ReparserOptions {
  readonly network: Network;
  /** Whether votes have rows. */
  readonly votes: boolean;
  /** What sentences call the native currency; SOL where it is left out. */
  readonly nativeSymbol?: string | undefined;
  /** Of the event loop's time, how much parsing takes at most: 1 is all of it, one slice after the other. */
  readonly share: number;
}

export interface ReparserDependencies {
  readonly store: Pick<LedgerParsedStore, "transactions" | "write">;
  readonly clock: Pick<Clock, "monotonic" | "after">;
  readonly unreadable: Unreadable;
  readonly signal: AbortSignal;
}

/** Transactions of one SELECT and one INSERT, and blocks of which they may be. */
const batch = { transactions: 2_000, blocks: 64 } as const;
/** Milliseconds for which nothing else of the process runs. */
const sliceMs = 4;

/** Parses transactions of the ledger again and writes their rows. */
export class Reparser {
  readonly #options: ReparserOptions;
  readonly #dependencies: ReparserDependencies;
  readonly #rows = parsedRows();
  readonly #addresses = new AddressTexts();

  constructor(options: ReparserOptions, dependencies: ReparserDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /**
   * Parses some blocks, in their order; what was begun when it is told to end is not written.
   *
   * @param wrote - is told of each part that is on disk: where it ends, and how many transactions it has; tells whether
   *   to go on
   * @throws {LedgerUnavailableError | LedgerQueryError}
   */
  async parse(
    blocks: readonly UnparsedBlock[],
    wrote: (until: bigint, transactions: number) => Promise<boolean>,
  ): Promise<void> {
    const { network, votes } = this.#options;
    const { store, signal } = this.#dependencies;
    for (const part of partsOf(blocks)) {
      const stored = await store.transactions(network, part, votes);
      const span = { first: part[0]?.slot ?? 0n, until: (part.at(-1)?.slot ?? 0n) + 1n };
      if (!(await this.#parsePart(stored)) || signal.aborted) return;
      await this.#write(span);
      if (!(await wrote(span.until, stored.length))) return;
    }
  }

  /** @returns false when it was told to end */
  async #parsePart(stored: readonly StoredTransaction[]): Promise<boolean> {
    const { clock, signal } = this.#dependencies;
    this.#rows.clear();
    let sliceBeganMs = clock.monotonic();
    for (const [at, transaction] of stored.entries()) {
      this.#add(transaction);
      const next = stored[at + 1];
      if (next === undefined || next.blockhash !== transaction.blockhash) this.#endBlock(transaction);
      const workedMs = clock.monotonic() - sliceBeganMs;
      if (workedMs < sliceMs) continue;
      await sleep(clock, workedMs / this.#options.share - workedMs, signal);
      if (signal.aborted) return false;
      sliceBeganMs = clock.monotonic();
    }
    return true;
  }

  #add({ body, index, slot, blockTime }: StoredTransaction): void {
    const view = new TransactionView(unpackTransaction(body), this.#addresses);
    const parsed = parsedOrUnknown(view, this.#dependencies.unreadable);
    const place = { slot, blockTime: blockTime === null ? null : BigInt(blockTime) };
    addParsed(this.#rows, { index, place, nativeSymbol: this.#options.nativeSymbol }, { view, parsed });
  }

  #endBlock({ slot, blockhash, blockTime, atMs }: StoredTransaction): void {
    this.#rows.endBlock({ slot, blockhash, blockTime, atMs });
  }

  async #write(span: SlotSpan): Promise<void> {
    const { network } = this.#options;
    const rows = this.#rows.encode(network);
    this.#rows.clear();
    if (rows !== null) await this.#dependencies.store.write(network, span, rows);
  }
}

/** Blocks that are read and written together. */
function partsOf(blocks: readonly UnparsedBlock[]): UnparsedBlock[][] {
  const parts: UnparsedBlock[][] = [];
  let transactions = 0;
  for (const block of blocks) {
    const part = parts.at(-1);
    if (part === undefined || part.length >= batch.blocks || transactions + block.transactions > batch.transactions) {
      parts.push([block]);
      transactions = block.transactions;
    } else {
      part.push(block);
      transactions += block.transactions;
    }
  }
  invariant(parts.flat().length === blocks.length, "every block is in one part");
  return parts;
}
