import type { ConfirmedTransaction } from "@sluice/encode";
import {
  type AccountUpdate,
  type BlockParts,
  blockParts,
  packBlockMeta,
  packBlockParts,
  packCreatedAt,
  packStatus,
  packTransactionParts,
} from "@sluice/encode/updates";
import type {
  BlockSelection,
  FilteredAccount,
  FilteredEntry,
  FilteredTransaction,
  SlotContent,
  UpdateContent,
} from "@sluice/geyser";
import { invariant } from "@sluice/lib";
import { TransactionView } from "@sluice/parser";
import { decodeSignature } from "@sluice/wire/base58";
import { type BlockEvents, type BlockReader, TransactionFacts } from "../../events/index.ts";
import type { FlowBlock } from "../flow/flow-block.ts";

type TransactionEvent = BlockEvents["transactions"][number];

/** What blocks do not hold, from a source that knows it. */
export interface SlotExtras {
  readonly accounts: readonly FilteredAccount[];
  readonly entries: readonly FilteredEntry[];
}

const noExtras: SlotExtras = { accounts: [], entries: [] };
const noBalances: readonly never[] = [];
const signatureBytes = 64;

/** What a transaction says, whether of a block or alone. */
type ReadTransaction = Pick<TransactionEvent, "signature" | "view" | "facts" | "index">;

interface TransactionBytes {
  readonly slot: bigint;
  readonly tagged: Uint8Array;
  readonly packed: Uint8Array;
}

/** A transaction of a block; each part is made when it is asked for, and its bytes are those of the block's body. */
class BlockTransaction implements FilteredTransaction {
  /** With its tag and length, as it stands in the body; empty outside of one. */
  readonly tagged: Uint8Array;
  readonly packed: Uint8Array;
  readonly #slot: bigint;
  readonly #event: ReadTransaction;
  #keys: ReadonlySet<string> | undefined;
  #asTransaction: UpdateContent | undefined;
  #asStatus: UpdateContent | undefined;

  constructor(event: ReadTransaction, { slot, tagged, packed }: TransactionBytes) {
    this.tagged = tagged;
    this.packed = packed;
    this.#slot = slot;
    this.#event = event;
  }

  /** What the index of filters asks of it. */
  get facts(): TransactionEvent["facts"] {
    return this.#event.facts;
  }

  get signature(): string {
    return this.#event.signature;
  }

  get isVote(): boolean {
    return this.facts.isVote;
  }

  get failed(): boolean {
    return this.#event.view.failed;
  }

  get keys(): ReadonlySet<string> {
    this.#keys ??= new Set(this.#event.view.keys);
    return this.#keys;
  }

  get preTokenBalances() {
    return this.#event.view.meta?.preTokenBalances ?? noBalances;
  }

  get postTokenBalances() {
    return this.#event.view.meta?.postTokenBalances ?? noBalances;
  }

  get asTransaction(): UpdateContent {
    this.#asTransaction ??= packTransactionParts(this.#slot, this.packed);
    return this.#asTransaction;
  }

  get asStatus(): UpdateContent {
    this.#asStatus ??= [
      packStatus({
        slot: this.#slot,
        signature: decodeSignature(this.signature) ?? new Uint8Array(signatureBytes),
        isVote: this.isVote,
        index: this.#event.index,
        error: this.#event.view.meta?.error ?? null,
      }),
    ];
    return this.#asStatus;
  }
}

/** What lies behind the tag and the length of a field. */
function withoutPrefix(tagged: Uint8Array): Uint8Array {
  let at = 1;
  while (((tagged[at] ?? 0) & 0x80) !== 0) at += 1;
  return tagged.subarray(at + 1);
}

/** A transaction that a node tells by itself. @throws {TypeError} when its bytes are not canonical */
export function loneTransaction(
  transaction: ConfirmedTransaction,
  { slot, index, packed }: { readonly slot: bigint; readonly index: number; readonly packed: Uint8Array },
): FilteredTransaction {
  const view = new TransactionView(transaction);
  const event = { view, index, signature: transaction.signature, facts: new TransactionFacts(view) };
  return new BlockTransaction(event, { slot, tagged: new Uint8Array(0), packed });
}

function taggedOf({ transactions }: BlockParts, index: number): Uint8Array {
  const tagged = transactions[index];
  invariant(tagged !== undefined, "a block has as many transactions as its body");
  return tagged;
}

export interface ContentParts {
  /** Shared by all who read the flow. */
  readonly reader: BlockReader;
  /** Unix milliseconds at which the block was obtained. */
  readonly nowMs: number;
  readonly extras?: SlotExtras;
}

/** All that streams may be told of a block of the flow, made once for all of them. */
export class BlockContent implements SlotContent {
  readonly slot: bigint;
  readonly accounts: readonly FilteredAccount[];
  readonly entries: readonly FilteredEntry[];
  readonly transactions: readonly BlockTransaction[];
  /** What every update of it ends with. */
  readonly createdAt: Uint8Array;
  readonly #block: FlowBlock["block"];
  readonly #parts: BlockParts;
  #meta: Uint8Array | undefined;

  /** @throws {TypeError} when the bytes of a transaction are not canonical, which no node confirms */
  constructor({ block, body }: Pick<FlowBlock, "block" | "body">, { reader, nowMs, extras = noExtras }: ContentParts) {
    const parts = blockParts(body);
    const { slot } = block;
    this.slot = slot;
    this.accounts = extras.accounts;
    this.entries = extras.entries;
    this.createdAt = packCreatedAt(nowMs);
    this.transactions = reader.events(block).transactions.map((event) => {
      const tagged = taggedOf(parts, event.index);
      return new BlockTransaction(event, { slot, tagged, packed: withoutPrefix(tagged) });
    });
    this.#block = block;
    this.#parts = parts;
  }

  get packedMeta(): Uint8Array {
    this.#meta ??= packBlockMeta({
      block: this.#block,
      executedTransactionCount: this.transactions.length,
      entriesCount: Number(this.#entriesCount),
    });
    return this.#meta;
  }

  packBlock({ transactions, accounts, entries }: BlockSelection): UpdateContent {
    return packBlockParts({
      head: this.#parts.head,
      transactions: transactions.map((each) => (each as BlockTransaction).tagged),
      accounts: accounts satisfies readonly AccountUpdate[],
      entries: entries.map(({ update }) => update),
      executedTransactionCount: this.transactions.length,
      updatedAccountCount: this.#parts.updatedAccountCount ?? BigInt(this.accounts.length),
      entriesCount: this.#entriesCount,
    });
  }

  get #entriesCount(): bigint {
    return this.#parts.entriesCount ?? BigInt(this.entries.length);
  }
}
