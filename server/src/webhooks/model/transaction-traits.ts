import type { TransactionMeta } from "@sluice/encode";
import { type Movements, movementsOf } from "@sluice/parser";
import { errorRecord, type TransactionEvent } from "../../events/index.ts";
import type { TokenCondition } from "./compiled-webhook.ts";
import type { TokenPrices } from "./token-prices.ts";
import { type TradeConditions, type TradeVerdict, tradeVerdict } from "./trade-conditions.ts";

/** What conditions beyond the index of filters ask of one transaction, each read once, when it is asked. */
export class TransactionTraits {
  readonly transaction: TransactionEvent;
  readonly #prices: TokenPrices | null;
  #movements: Movements | undefined;
  #largest: bigint | undefined;
  #errorType: string | null | undefined;

  /** @param prices - at the time of the block; null while they cannot be read */
  constructor(transaction: TransactionEvent, prices: TokenPrices | null) {
    this.transaction = transaction;
    this.#prices = prices;
  }

  get failed(): boolean {
    return this.transaction.view.failed;
  }

  /** Lamports of the largest movement; 0 where nothing but the fee moved. */
  get largestMovement(): bigint {
    if (this.#largest !== undefined) return this.#largest;
    let largest = 0n;
    for (const { lamports } of this.#moved.native) if (lamports > largest) largest = lamports;
    this.#largest = largest;
    return largest;
  }

  /** The name of its error on the chain; null where it is not known to have failed. */
  get errorType(): string | null {
    this.#errorType ??= errorRecord(this.transaction.view.meta?.error ?? null)?.type ?? null;
    return this.#errorType;
  }

  movesTokens({ mint, from, to, least }: TokenCondition): boolean {
    return this.#moved.tokens.some(
      (moved) =>
        (mint === null || moved.mint === mint) &&
        (from === null || moved.fromOwner === from || moved.fromAccount === from) &&
        (to === null || moved.toOwner === to || moved.toAccount === to) &&
        moved.amount >= least,
    );
  }

  /** Null where it takes a collection, or prices that cannot be read now, to say. */
  makesTrades(conditions: TradeConditions): TradeVerdict {
    const { view } = this.transaction;
    if (!view.succeeded) return false;
    // Without NFTs a trade is one of tokens, of which a market at least holds some.
    if (conditions.nft === null && holdsNoTokens(view.meta)) return false;
    return tradeVerdict(conditions, this.transaction.parsed, { collectionOf: () => undefined, prices: this.#prices });
  }

  get #moved(): Movements {
    this.#movements ??= movementsOf(this.transaction.view);
    return this.#movements;
  }
}

/** Whether it is known that no account of a transaction held tokens. */
const holdsNoTokens = (meta: TransactionMeta | null): boolean =>
  meta?.preTokenBalances?.length === 0 && meta.postTokenBalances?.length === 0;
