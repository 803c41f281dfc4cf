import type { BundleReason } from "@sluice/contract/engine";

/** Reasons that say little without their detail: what the program said, and which field has no meaning. */
const detailed: ReadonlySet<BundleReason> = new Set(["simulation_failed", "invalid_field"]);

/** How a reason is written where there is no field for its detail. */
export function reasonText(reason: BundleReason, detail: string | null): string {
  return detailed.has(reason) && detail !== null ? `${reason}: ${detail}` : reason;
}
