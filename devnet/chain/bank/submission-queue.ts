import type { Transaction } from "@sluice/wire/transaction";

/** A transaction that was handed to the chain. */
export interface Submission {
  readonly transaction: Transaction;
  /** The first signature in base58. */
  readonly signature: string;
  /** Whether its signatures were checked already. */
  readonly verified: boolean;
}

/** Entries at the front that were taken are cut off when there are so many. */
const TAKEN_MAX = 4_096;

/** Submissions in their order. Its owner bounds it. */
export class SubmissionQueue {
  #entries: Submission[] = [];
  #taken = 0;

  get length(): number {
    return this.#entries.length - this.#taken;
  }

  push(submission: Submission): void {
    this.#entries.push(submission);
  }

  /** Puts submissions before all others. */
  putFirst(submissions: readonly Submission[]): void {
    if (submissions.length === 0) return;
    this.#entries = [...submissions, ...this.#entries.slice(this.#taken)];
    this.#taken = 0;
  }

  first(): Submission | undefined {
    return this.#entries[this.#taken];
  }

  removeFirst(): void {
    this.#taken += 1;
    if (this.#taken < TAKEN_MAX && this.#taken < this.#entries.length) return;
    this.#entries.splice(0, this.#taken);
    this.#taken = 0;
  }
}
