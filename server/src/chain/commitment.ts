import { type CommitmentName, commitments } from "@sluice/contract/rpc";

export type { CommitmentName };

/** How settled a view of the chain is, from newest to safest, as small whole numbers for tables. */
export const commitmentOrder: Readonly<Record<CommitmentName, 0 | 1 | 2>> = {
  processed: 0,
  confirmed: 1,
  finalized: 2,
};

/** The commitment of that name, or null for any other value. */
export function parseCommitment(value: unknown): CommitmentName | null {
  return commitments.find((name) => name === value) ?? null;
}
