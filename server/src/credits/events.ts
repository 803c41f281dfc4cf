import { counter, type Observe } from "../observe/index.ts";
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
} as const;

export interface CreditsEvents {
  /** Leases of a dead process were settled: the part that came back, and the part that stays charged without proof. */
  creditsReconciled(meter: string, settlement: Settlement): void;
}

export function createCreditsEvents({ log, metrics }: Observe): CreditsEvents {
  const { accountsSettled, returned, unproved } = metrics.register(creditMetrics);
  return {
    creditsReconciled: (meter, settlement) => {
      accountsSettled.with(meter).add(settlement.books);
      // A dead process may also have spent unlimited credits that it had not reported; those are charged now.
      if (settlement.returned > 0n) returned.with(meter).add(Number(settlement.returned));
      if (settlement.unproved > 0n) unproved.with(meter).add(Number(settlement.unproved));
      const fields = { meter, ...settlement, returned: `${settlement.returned}`, unproved: `${settlement.unproved}` };
      if (settlement.unproved === 0n) log.info(fields, "leases of a dead process were settled by its tally");
      else log.warn(fields, "leases of a dead process stay charged: no tally proves that they were not spent");
    },
  };
}
