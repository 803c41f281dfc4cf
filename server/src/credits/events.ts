import { counter, gauge, type Observe } from "../observe/index.ts";
import type { Settlement } from "./settle-holder.ts";

/** `meter` is what is counted: credits, or the requests of a product. */
export const creditMetrics = {
  accountsSettled: counter(
    "sluice_credit_books_reconciled_total",
    "Account months of dead processes whose leases were settled",
    ["meter"],
  ),
  returned: counter(
    "sluice_credits_returned_total",
    "Credits, or requests, that a dead process had leased and not spent, and that were returned",
    ["meter"],
  ),
  unproved: counter(
    "sluice_credits_unproved_total",
    "Credits, or requests, that a dead process had leased and that stay charged, because its tally is void",
    ["meter"],
  ),
  advanced: counter(
    "sluice_credits_advanced_total",
    "Credits, or requests, that accounts could spend while the state store was away",
    ["meter"],
  ),
  advancesSpent: counter(
    "sluice_credits_advances_charged_total",
    "Credits, or requests, that were spent of advances and are charged to their month",
    ["meter"],
  ),
  leased: gauge(
    "sluice_credits_leased",
    "Credits, or requests, that this process has leased and not spent: what a kill leaves to be settled",
    ["meter"],
  ),
  advancesOpen: gauge("sluice_credits_advances_open", "Advances of this process that are not charged yet", ["meter"]),
} as const;

export interface CreditsEvents {
  /** Leases of a dead process were settled: the part that came back, and the part that stays charged without proof. */
  creditsReconciled(meter: string, settlement: Settlement): void;
  /** An account may spend so many credits that the store has not leased; `open` advances are not charged yet. */
  creditsAdvanced(meter: string, credits: number, open: number): void;
  /** Reported with each sweep. */
  creditsHeld(meter: string, leased: number): void;
  /** What was spent of an advance is charged. */
  advanceCharged(meter: string, spent: number, open: number): void;
}

export function createCreditsEvents({ log, metrics }: Observe): CreditsEvents {
  const families = metrics.register(creditMetrics);
  const { accountsSettled, returned, unproved, leased, advanced, advancesSpent, advancesOpen } = families;
  return {
    creditsReconciled: (meter, settlement) => {
      accountsSettled.with(meter).add(settlement.books);
      // A dead process may also have spent unlimited credits that it had not reported; those are charged now.
      if (settlement.returned > 0n) returned.with(meter).add(Number(settlement.returned));
      if (settlement.unproved > 0n) unproved.with(meter).add(Number(settlement.unproved));
      if (settlement.advanced > 0n) advancesSpent.with(meter).add(Number(settlement.advanced));
      const { books } = settlement;
      const amounts = { returned: `${settlement.returned}`, unproved: `${settlement.unproved}` };
      const fields = { meter, books, ...amounts, advanced: `${settlement.advanced}` };
      if (settlement.unproved === 0n) log.info(fields, "leases of a dead process were settled by its tally");
      else log.warn(fields, "leases of a dead process stay charged: no tally proves that they were not spent");
    },
    creditsAdvanced: (meter, credits, open) => {
      advanced.with(meter).add(credits);
      advancesOpen.with(meter).set(open);
      // With the first; the state store does not answer for any account then.
      if (open === 1) log.warn({ meter }, "accounts are served by advances of bounded size: the state store is away");
    },
    creditsHeld: (meter, held) => leased.with(meter).set(held),
    advanceCharged: (meter, spent, open) => {
      advancesSpent.with(meter).add(spent);
      advancesOpen.with(meter).set(open);
      if (open === 0) log.info({ meter }, "all advances are charged to their months");
    },
  };
}
