import type { SimulatedAdvances } from "./simulated-advances.ts";
import type { SimulatedStore } from "./simulated-store.ts";
import { blockMax } from "./simulated-workers.ts";

export const accounts: readonly { id: string; allowance: bigint | null }[] = [
  { id: "tiny", allowance: 40n },
  { id: "small", allowance: 900n },
  { id: "large", allowance: 60_000n },
  { id: "unlimited", allowance: null },
];

/** What one process holds of one account at most: a lease, one that is being fetched, and what was waited for. */
const heldMax = 2 * blockMax + 2_000;
/** Of an unlimited account, what a killed process had not reported for the first time. */
const unreportedMax = 2_000;

/** Knows what callers got, and verifies what the store charges. */
export class Verifier {
  readonly #store: SimulatedStore;
  readonly #advances: SimulatedAdvances;
  /** Credits granted to callers, less refunds: of each account, and where it is certain of which month they are. */
  readonly #granted = new Map<string, number>();
  readonly #grantedOfMonth = new Map<string, number>();

  constructor(store: SimulatedStore, advances: SimulatedAdvances) {
    this.#store = store;
    this.#advances = advances;
  }

  get granted(): number {
    let sum = 0;
    for (const credits of this.#granted.values()) sum += credits;
    return sum;
  }

  count(accountId: string, name: string | null, credits: number): void {
    this.#granted.set(accountId, (this.#granted.get(accountId) ?? 0) + credits);
    if (name !== null) this.#grantedOfMonth.set(name, (this.#grantedOfMonth.get(name) ?? 0) + credits);
  }

  /**
   * At no moment is more given out or charged than the allowance and what was advanced on record, and what was given
   * out is charged, or on record. `mayChargeTwice`
   * says that a settlement may be said again after a late lease has opened its lease account anew, which charges beyond
   * the allowance and gives nothing away.
   */
  overdrawn(mayChargeTwice: boolean): string | null {
    for (const { id, allowance } of accounts) {
      if (allowance === null) continue;
      for (const [name, used] of this.#store.meter.months) {
        if (!name.startsWith(`${id} `)) continue;
        const granted = this.#grantedOfMonth.get(name) ?? 0;
        const bounded = mayChargeTwice ? BigInt(granted) : used;
        const advanced = BigInt(this.#advances.recorded.get(name) ?? 0);
        if (bounded > allowance + advanced || used < 0n) {
          return `${name}: ${used} used and ${granted} given of ${allowance} and ${advanced} advanced`;
        }
        if (BigInt(granted) > used + advanced) return `${name}: ${granted} granted, ${used} charged`;
      }
    }
    return null;
  }

  /** Charged beyond what was granted, but for refunds that the store never took. */
  overcharge(accountId: string): number {
    let used = 0;
    for (const [name, amount] of this.#store.meter.months) {
      if (name.startsWith(`${accountId} `)) used += Number(amount);
    }
    return used - (this.#granted.get(accountId) ?? 0) - (this.#store.lostRefunds.get(accountId) ?? 0);
  }

  /** What was charged is what was granted, to the credit; beyond it only what `unproved` processes held. */
  settlement(kills: number, unproved: number): string | null {
    for (const { id, allowance } of accounts) {
      const over = this.overcharge(id);
      const least = allowance === null ? -kills * unreportedMax : 0;
      if (over < least || over > unproved * heldMax) return `${id}: ${over} charged beyond what was granted`;
    }
    return null;
  }
}
