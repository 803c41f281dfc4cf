/** A frozen slot as every commitment sees it once it has got there. */
export interface BankSlot {
  readonly slot: bigint;
  readonly parent: bigint;
  readonly blockhash: string;
  readonly blockHeight: bigint;
  /** Unix seconds. */
  readonly time: bigint;
  /** Transactions since genesis, this slot's included. */
  readonly transactionCount: bigint;
  /** Lamports in existence. */
  readonly capitalization: bigint;
}

export type Commitment = "processed" | "confirmed" | "finalized";

/**
 * Which slot each commitment stands at. Slots become confirmed and finalized a fixed number of slots after they were
 * frozen, as they do on a healthy cluster; until that many exist, genesis stands for them. Holds the slots from the
 * finalized one to the newest.
 */
export class CommitmentLadder {
  readonly #confirmedAfter: bigint;
  readonly #finalizedAfter: bigint;
  #slots: BankSlot[];

  constructor(options: { readonly confirmedAfter: number; readonly finalizedAfter: number }, genesis: BankSlot) {
    this.#confirmedAfter = BigInt(options.confirmedAfter);
    this.#finalizedAfter = BigInt(options.finalizedAfter);
    this.#slots = [genesis];
  }

  #behind(slots: bigint): BankSlot {
    const position = Math.max(0, this.#slots.length - 1 - Number(slots));
    const bank = this.#slots[position];
    if (bank === undefined) throw new Error("a ladder always holds a slot");
    return bank;
  }

  at(commitment: Commitment): BankSlot {
    if (commitment === "processed") return this.#behind(0n);
    return this.#behind(commitment === "confirmed" ? this.#confirmedAfter : this.#finalizedAfter);
  }

  /** Adds a frozen slot and says which slots it confirms and finalizes, oldest first. */
  push(bank: BankSlot): { readonly confirmed: readonly BankSlot[]; readonly finalized: readonly BankSlot[] } {
    const confirmedBefore = this.at("confirmed").slot;
    const finalizedBefore = this.at("finalized").slot;
    this.#slots.push(bank);
    const confirmedNow = this.at("confirmed").slot;
    const finalizedNow = this.at("finalized").slot;
    const between = (after: bigint, upTo: bigint) => this.#slots.filter(({ slot }) => slot > after && slot <= upTo);
    const result = {
      confirmed: between(confirmedBefore, confirmedNow),
      finalized: between(finalizedBefore, finalizedNow),
    };
    this.#slots = this.#slots.filter(({ slot }) => slot >= finalizedNow);
    return result;
  }
}
