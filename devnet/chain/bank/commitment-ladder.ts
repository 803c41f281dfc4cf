import { invariant } from "@sluice/lib";
import type { BankSlot, Commitment } from "../model/index.ts";

function later(one: BankSlot, other: BankSlot): BankSlot {
  return other.slot > one.slot ? other : one;
}

/**
 * Which slot each commitment stands at. Slots become confirmed and finalized a fixed number of slots after they were
 * frozen, as they do on a healthy cluster; until that many exist, genesis stands for them. Holds the slots from the
 * finalized one to the newest.
 */
export class CommitmentLadder {
  readonly #confirmedAfter: bigint;
  readonly #finalizedAfter: bigint;
  #slots: BankSlot[];
  /** What was confirmed and finalized stays so when newer slots are abandoned. */
  #confirmed: BankSlot;
  #finalized: BankSlot;

  constructor(options: { readonly confirmedAfter: number; readonly finalizedAfter: number }, genesis: BankSlot) {
    this.#confirmedAfter = BigInt(options.confirmedAfter);
    this.#finalizedAfter = BigInt(options.finalizedAfter);
    this.#slots = [genesis];
    this.#confirmed = genesis;
    this.#finalized = genesis;
  }

  #behind(slots: bigint): BankSlot {
    const position = Math.max(0, this.#slots.length - 1 - Number(slots));
    const bank = this.#slots[position];
    invariant(bank !== undefined, "a ladder always holds a slot");
    return bank;
  }

  at(commitment: Commitment): BankSlot {
    if (commitment === "processed") return this.#behind(0n);
    return commitment === "confirmed" ? this.#confirmed : this.#finalized;
  }

  /** A frozen slot that is not older than the finalized one; null for any other. */
  find(slot: bigint): BankSlot | null {
    return this.#slots.find((bank) => bank.slot === slot) ?? null;
  }

  /** Slots above the one of a commitment, newest first: those that can be abandoned without taking it back. */
  above(commitment: "confirmed" | "finalized"): BankSlot[] {
    const { slot: lowest } = this.at(commitment);
    return this.#slots.filter(({ slot }) => slot > lowest).toReversed();
  }

  /** Abandons the newest `depth` slots, none of which has reached `kept`, and gives the slot that is the newest now. */
  abandon(depth: number, kept: "confirmed" | "finalized"): BankSlot {
    const most = this.above(kept).length;
    if (depth > most) throw new RangeError(`only ${most} slots are not yet ${kept}`);
    this.#slots.length -= depth;
    const newest = this.#behind(0n);
    invariant(newest.slot >= this.#finalized.slot, "a fork never abandons a finalized slot");
    return newest;
  }

  /** Adds a frozen slot and says which slots it confirms and finalizes, oldest first. */
  push(bank: BankSlot): { readonly confirmed: readonly BankSlot[]; readonly finalized: readonly BankSlot[] } {
    const newest = this.#behind(0n);
    invariant(bank.parent === newest.slot && bank.slot > newest.slot, "a frozen slot follows the newest one");
    const confirmedBefore = this.#confirmed.slot;
    const finalizedBefore = this.#finalized.slot;
    this.#slots.push(bank);
    this.#confirmed = later(this.#confirmed, this.#behind(this.#confirmedAfter));
    this.#finalized = later(this.#finalized, this.#behind(this.#finalizedAfter));
    const confirmedNow = this.#confirmed.slot;
    const finalizedNow = this.#finalized.slot;
    invariant(finalizedNow >= finalizedBefore, "the finalized slot never moves back");
    const between = (after: bigint, upTo: bigint) => this.#slots.filter(({ slot }) => slot > after && slot <= upTo);
    const result = {
      confirmed: between(confirmedBefore, confirmedNow),
      finalized: between(finalizedBefore, finalizedNow),
    };
    this.#slots = this.#slots.filter(({ slot }) => slot >= finalizedNow);
    return result;
  }
}
