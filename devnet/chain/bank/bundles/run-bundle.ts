import { MachineEndedError, type Svm, type SvmOutcome, succeeded } from "@sluice/svm/bank";
import { programs } from "@sluice/wire/programs";
import type { Transaction } from "@sluice/wire/transaction";
import type { Admitted, OpenSlot } from "../open-slot.ts";

/** Times that a bundle may end the machine. */
const deathsMax = 2;

const loaders: readonly string[] = [
  programs.bpfLoaderUpgradeable,
  programs.bpfLoader,
  programs.bpfLoaderDeprecated,
  programs.loaderV4,
];

/**
 * What became of a bundle that ran: it landed whole, or nothing of it did, because a transaction may not run in this
 * slot, because one failed, because the block has no room for it, or because it ends the machine.
 */
export type BundleOutcome = "landed" | "refused" | "failed" | "no room" | "dangerous";

export interface BundleRunDependencies {
  readonly svm: Svm;
  /** Resolves when the machine may be asked for something. */
  readonly up: () => Promise<void>;
  /** The machine compiled programs that are not there: it is rebuilt before it runs anything else. */
  readonly invalidateCaches: () => void;
}

/** Admits all transactions over the state before the first of them, or none. */
function admitAll(transactions: readonly Transaction[], open: OpenSlot): Admitted[] | "refused" | "no room" {
  const admitted: Admitted[] = [];
  for (const transaction of transactions) {
    const one = open.admit({ transaction, signature: transaction.id, verified: true });
    if (typeof one !== "string") {
      admitted.push(one);
      continue;
    }
    releaseAll(admitted, open);
    return one === "refused" ? "refused" : "no room";
  }
  return admitted;
}

function releaseAll(admitted: readonly Admitted[], open: OpenSlot): void {
  for (const one of admitted) open.release(one);
}

/** Whether transactions may have had the machine compile something, which it keeps though they were taken back. */
export function namesLoader(
  transactions: readonly { readonly resolved: { readonly keys: readonly string[] } }[],
): boolean {
  return transactions.some(({ resolved }) => loaders.some((loader) => resolved.keys.includes(loader)));
}

/** Runs them at the machine, once more when it ends; null when it ends again, and it is mended then. */
async function execute(
  admitted: readonly Admitted[],
  open: OpenSlot,
  { svm, up }: BundleRunDependencies,
): Promise<readonly SvmOutcome[] | null> {
  const machine = admitted.map((one) => one.machine);
  for (let deaths = 0; deaths < deathsMax; deaths += 1) {
    await up();
    try {
      return await svm.executeBundle(machine, open.nextNonce);
    } catch (error) {
      if (!(error instanceof MachineEndedError)) throw error;
    }
  }
  return null;
}

/**
 * Runs a bundle in the open slot, with nothing else under way: either all its transactions are recorded, one behind the
 * other, or none, and nothing of what they did stays. A machine that ends meanwhile takes all of it with it.
 */
export async function runBundle(
  transactions: readonly Transaction[],
  open: OpenSlot,
  dependencies: BundleRunDependencies,
): Promise<BundleOutcome> {
  const admitted = admitAll(transactions, open);
  if (typeof admitted === "string") return admitted;
  const outcomes = await execute(admitted, open, dependencies).catch((error: unknown) => {
    releaseAll(admitted, open);
    throw error;
  });
  if (outcomes?.length === admitted.length && outcomes.every(succeeded)) {
    for (const [index, outcome] of outcomes.entries()) {
      const one = admitted[index];
      if (one !== undefined) open.record(one, outcome);
    }
    return "landed";
  }
  releaseAll(admitted, open);
  if (outcomes === null) return "dangerous";
  if (namesLoader(admitted)) dependencies.invalidateCaches();
  return "failed";
}
