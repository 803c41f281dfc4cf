import { advancesNonce } from "./nonce.ts";
import type { Admitted } from "./open-slot.ts";
import type { Submission } from "./submission-queue.ts";

/** What the machine was given and has not answered, with all that others need to know of it before they are admitted. */
export class UnderWay {
  readonly #batches = new Set<readonly Admitted[]>();
  readonly #signatures = new Set<string>();
  #tableWriters = 0;

  get batches(): number {
    return this.#batches.size;
  }

  has(signature: string): boolean {
    return this.#signatures.has(signature);
  }

  /** A transaction counts from its admission on, until it is recorded or given up. */
  admitted({ submission, touchesTables }: Admitted): void {
    this.#signatures.add(submission.signature);
    if (touchesTables) this.#tableWriters += 1;
  }

  over({ submission, touchesTables }: Admitted): void {
    this.#signatures.delete(submission.signature);
    if (touchesTables) this.#tableWriters -= 1;
  }

  handedOver(batch: readonly Admitted[]): void {
    this.#batches.add(batch);
  }

  answered(batch: readonly Admitted[]): void {
    this.#batches.delete(batch);
  }

  /**
   * Whether the admission of a transaction depends on what is under way: on all of it when it may carry a durable nonce,
   * and when it uses lookup tables on those that could change one.
   */
  concerns({ transaction: { message } }: Submission): boolean {
    if (this.#signatures.size > 0 && advancesNonce(message)) return true;
    return this.#tableWriters > 0 && message.totalKeyCount > message.staticKeyCount;
  }

  /** Whether a transaction under way may write an account. */
  mayChange(address: string): boolean {
    for (const batch of this.#batches) {
      if (batch.some(({ machine }) => machine.writable.includes(address))) return true;
    }
    return false;
  }
}
