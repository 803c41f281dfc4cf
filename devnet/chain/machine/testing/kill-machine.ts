import type { Svm } from "@sluice/svm/bank";

/** Kills the process of a machine; between two lives there is none, and one that has ended is left alone. */
export function killMachine({ facts }: Pick<Svm, "facts">): void {
  if (facts.pid === null) return;
  try {
    process.kill(facts.pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}
