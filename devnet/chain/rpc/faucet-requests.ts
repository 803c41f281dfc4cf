import { BoundedMap } from "@sluice/lib";

/** Requests of one blockhash's life that are told apart; a request that was removed repeats the plain transfer. */
const requestsMax = 65_536;

/** Counts equal requests of one blockhash, so that no two of them are the same transaction. */
export class FaucetRequests {
  readonly #counts = new BoundedMap<string, number>({ max: requestsMax });

  /** How many equal requests came before. */
  next(recipient: string, lamports: bigint, blockhash: string): number {
    const key = `${recipient}/${lamports}/${blockhash}`;
    const before = this.#counts.get(key) ?? 0;
    this.#counts.set(key, before + 1);
    return before;
  }
}
