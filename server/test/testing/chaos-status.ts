/** What a block engine answers to a bundle that is handed in, and how it says that one stands. */

/**
 * How an endpoint answered: `unknown` where the answer did not come, or says that it is not known whether it is
 * accepted.
 */
export type Handed =
  | { readonly said: "accepted"; readonly id: string }
  | { readonly said: "rejected"; readonly reason: string }
  | { readonly said: "refused" | "unknown" | "faulty"; readonly reason: string };

export interface BundleStatus {
  readonly status: "accepted" | "included" | "dropped" | "expired";
  readonly slot: number | null;
  readonly signatures: readonly string[];
  readonly reason: string | null;
}
