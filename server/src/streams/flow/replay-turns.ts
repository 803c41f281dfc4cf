/** What waits for the event loop has its turn. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * What is done for those who catch up, one block of one of them in each turn of the event loop, in the order in which
 * they ask: however many there are, who is live waits for one block at most.
 */
export class ReplayTurns {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => T): Promise<T> {
    const own = this.#last.then(work);
    this.#last = own.then(nextTurn, nextTurn);
    return own;
  }
}
