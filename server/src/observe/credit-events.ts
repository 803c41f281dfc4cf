import type { Log } from "./log.ts";
import type { CounterHandle, Family } from "./metric-families.ts";
import { eventMetrics, type MetricDefinition } from "./metric-table.ts";
import type { Metrics } from "./metrics.ts";

/** What became of leases whose process died. */
export interface CreditHappenings {
  /** `meter` is what is counted: credits, or requests of a product. */
  creditsReconciled(
    meter: string,
    settlement: { readonly books: number; readonly returned: bigint; readonly unproved: bigint },
  ): void;
}

export function creditEvents(metrics: Metrics, log: Log): CreditHappenings {
  const counter = ({ name, help, labels }: MetricDefinition): Family<CounterHandle> =>
    metrics.counter(name, help, labels);
  const books = counter(eventMetrics.creditsReconciledBooks);
  const returned = counter(eventMetrics.creditsReturned);
  const unproved = counter(eventMetrics.creditsUnproved);
  return {
    creditsReconciled: (meter, settlement) => {
      books.with(meter).add(settlement.books);
      // A dead process may also have spent unlimited credits that it had not reported: those are charged now.
      if (settlement.returned > 0n) returned.with(meter).add(Number(settlement.returned));
      if (settlement.unproved > 0n) unproved.with(meter).add(Number(settlement.unproved));
      const fields = { meter, ...settlement, returned: `${settlement.returned}`, unproved: `${settlement.unproved}` };
      if (settlement.unproved === 0n) log.info(fields, "leases of a dead process were settled by its tally");
      else log.warn(fields, "leases of a dead process stay charged: nothing proves that they were not spent");
    },
  };
}
