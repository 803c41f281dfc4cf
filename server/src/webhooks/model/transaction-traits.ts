import { type Movements, movementsOf } from "@sluice/parser";
import { errorRecord, type TransactionEvent } from "../../events/index.ts";
import type { TokenCondition } from "./compiled-webhook.ts";

/** What conditions beyond the index of filters ask of one transaction, each read once, when it is asked. */
export class TransactionTraits {
  readonly transaction: TransactionEvent;
  #movements: Movements | undefined;
  #largest: bigint | undefined;
  #errorType: string | null | undefined;

  constructor(transaction: TransactionEvent) {
    this.transaction = transaction;
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

  get #moved(): Movements {
    this.#movements ??= movementsOf(this.transaction.view);
    return this.#movements;
  }
}
