import type { Transaction } from "@sluice/wire/transaction";
import type { MachineAnswer } from "./dispatcher.ts";
import type { PreparedBundle } from "./prepared-bundle.ts";
import type { BundleFailure, BundleOutcome, BundleUnavailable } from "./simulation.ts";

export interface FailureReason {
  readonly reason: BundleFailure["reason"];
  /** The runtime's error: its name, or its JSON where it has parts. */
  readonly error: string;
}

/** The outcome of a bundle whose transaction `index` fails; `transaction` is null when it could not be parsed. */
export function failureOf(
  index: number,
  transaction: Transaction | null,
  reason: FailureReason & { readonly logs?: readonly string[] },
): BundleFailure {
  return { ok: false, logs: [], ...reason, index, signature: transaction?.id ?? null };
}

export function unavailable(cause: BundleUnavailable["cause"]): BundleUnavailable {
  return { ok: false, reason: "unavailable", cause };
}

/** Errors of the runtime that have a reason of their own. */
const reasons: Readonly<Record<string, BundleFailure["reason"]>> = {
  SignatureFailure: "signature_invalid",
  TooManyAccountLocks: "account_locks_exceeded",
  BlockhashNotFound: "blockhash_expired",
};

/** The outcome that a machine's answer stands for. */
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
  return failureOf(answer.index, transaction, { reason: reasons[error] ?? "simulation_failed", error, logs });
}
