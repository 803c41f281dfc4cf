import { MachineEndedError, type Svm } from "@sluice/svm/bank";
import type { Transaction } from "@sluice/wire/transaction";
import type { OpenSlot } from "./open-slot.ts";

/** Runs votes in an open slot, all at once. A machine that ends takes them with it. */
export async function runVotes(
  votes: readonly Transaction[],
  open: OpenSlot,
  svm: Pick<Svm, "execute">,
): Promise<void> {
  const admitted = votes.flatMap((transaction) => {
    const found = open.admit({ transaction, signature: transaction.id, verified: true });
    return typeof found === "string" ? [] : [found];
  });
  if (admitted.length === 0) return;
  try {
    const machine = admitted.map((vote) => vote.machine);
    const outcomes = await svm.execute(machine, open.nextNonce);
    for (const [index, outcome] of outcomes.entries()) {
      const vote = admitted[index];
      if (vote !== undefined) open.record(vote, outcome);
    }
  } catch (error) {
    if (!(error instanceof MachineEndedError)) throw error;
    for (const vote of admitted) open.release(vote);
  }
}
