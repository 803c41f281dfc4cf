import type { MachineAnswer } from "./machines/job.ts";
import type { PreparedBundle } from "./resolve/prepared-bundle.ts";
import { failureOf } from "./resolve/resolver.ts";
import type { BundleFailure, BundleOutcome, BundleUnavailable } from "./simulation.ts";

export function unavailable(cause: BundleUnavailable["cause"]): BundleUnavailable {
  return { ok: false, reason: "unavailable", cause };
}

/** Errors of the runtime that have a reason of their own. */
const reasons: Readonly<Record<string, BundleFailure["reason"]>> = {
  SignatureFailure: "signature_invalid",
  TooManyAccountLocks: "account_locks_exceeded",
  BlockhashNotFound: "blockhash_expired",
};

/** What a machine's answer means for the bundle. */
export function outcomeOf(bundle: PreparedBundle, answer: MachineAnswer): BundleOutcome {
  if (answer.kind === "unavailable") return unavailable(answer.cause);
  if (answer.kind === "outdated") return unavailable("no_accounts");
  if (answer.kind === "succeeded") {
    return {
      ok: true,
      tip: answer.tip,
      computeUnits: answer.units,
      costUnits: bundle.fixedCostUnits + answer.units,
      fees: bundle.fees,
      writes: bundle.writes.map(({ address }) => address),
      reads: bundle.reads.map(({ address }) => address),
      signatures: bundle.transactions.map(({ transaction }) => transaction.id),
      slot: answer.slot,
    };
  }
  const transaction = bundle.transactions[answer.index]?.transaction ?? null;
  if (answer.kind === "wrong_nonce") {
    return failureOf(answer.index, transaction, { reason: "blockhash_expired", error: "BlockhashNotFound" });
  }
  const { error, logs } = answer;
  return failureOf(answer.index, transaction, { reason: reasons[error] ?? "simulation_failed", error }, logs);
}
