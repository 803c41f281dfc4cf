import type { Timers } from "@sluice/lib";
import type { LeaseHolder, LeaseTimes } from "./lease-holder.ts";
import { Succession } from "./succession.ts";

/**
 * Asks for a lease, and beats while it has it, for a job that needs nothing to be opened. Resolves after the first
 * answer of the store; disposal gives the lease up.
 */
export async function keepLease(
  { what, times }: { readonly what: string; readonly times: LeaseTimes },
  dependencies: {
    readonly clock: Timers;
    readonly lease: Pick<LeaseHolder, "renew" | "release">;
    readonly internalError: (where: string, error: unknown) => void;
  },
): Promise<AsyncDisposable> {
  const succession = new Succession(
    { ...times, what, retryRenewals: 0 },
    {
      ...dependencies,
      open: async () => ({ [Symbol.asyncDispose]: async () => {} }),
      roleChanged: () => {},
    },
  );
  await succession.begin();
  return succession;
}
