import type { SvmOutcome } from "@sluice/svm/bank";
import type { Transaction } from "@sluice/wire/transaction";
import { type ChainAccount, type TokenBalance, type TransactionErrorJson, tokenBalances } from "../../model/index.ts";
import { admit, exactError, loadedBytes, withLamports } from "../executor.ts";
import { type ResolvedTransaction, svmTransaction } from "../resolve.ts";
import { overlayOf, type SimulationBank, type SimulationDependencies, viewOf } from "../simulation.ts";
import { namesLoader } from "./bundle-stage.ts";

export interface BundleSimulationRequest {
  readonly transactions: readonly Transaction[];
  /** False when the caller replaced the blockhash, whose age is not checked then. */
  readonly checkAge: boolean;
}

/** One transaction of a bundle; when it may not run at all, `resolved` and `outcome` are null. */
export interface BundleStep {
  readonly signature: string;
  readonly error: TransactionErrorJson | null;
  readonly resolved: ResolvedTransaction | null;
  readonly outcome: SvmOutcome | null;
  readonly loadedBytes: bigint;
  readonly preBalances: readonly bigint[];
  readonly postBalances: readonly bigint[];
  readonly preTokenBalances: readonly TokenBalance[];
  readonly postTokenBalances: readonly TokenBalance[];
  /** Accounts before the transaction and after it. */
  readonly before: (address: string) => ChainAccount | null;
  readonly after: (address: string) => ChainAccount | null;
}

/** The result of a simulation: the steps end with the first that failed. */
export interface BundleSimulation {
  readonly bank: SimulationBank;
  readonly steps: readonly BundleStep[];
}

type Read = (address: string) => ChainAccount | null;

/** Reads accounts after an outcome, over those before it. */
function readOver(outcome: SvmOutcome, before: Read): Read {
  const written = new Map(outcome.writes.map(({ address, account }) => [address, account]));
  for (const { address, lamports } of outcome.balances) written.set(address, withLamports(before(address), lamports));
  return (address) => {
    const account = written.get(address);
    return account === undefined ? before(address) : account;
  };
}

/** Runs transactions in order over a bank, up to the first that fails, and keeps no effects. */
export async function simulateBundleAt(
  { transactions, checkAge }: BundleSimulationRequest,
  bank: SimulationBank,
  dependencies: SimulationDependencies & { readonly invalidateCaches: () => void },
): Promise<BundleSimulation> {
  const view = viewOf(bank, dependencies);
  const admissions = transactions.map((transaction) => admit(transaction, view, { checkAge }));
  const refused = admissions.findIndex(({ ok }) => !ok);
  const admitted = admissions
    .slice(0, refused < 0 ? admissions.length : refused)
    .flatMap((one) => (one.ok ? [one] : []));
  const resolved = admitted.map((one) => one.resolved);
  const machine = admitted.map((one) => svmTransaction(one.resolved, one.nonceAddress, false));
  const overlay = overlayOf(resolved, bank, dependencies);
  const outcomes = machine.length === 0 ? [] : await dependencies.svm.simulateBundle(machine, overlay, view.nextNonce);
  if (namesLoader(admitted)) dependencies.invalidateCaches();
  const steps: BundleStep[] = [];
  let before: Read = view.read;
  for (const [index, outcome] of outcomes.entries()) {
    const ran = resolved[index];
    if (ran === undefined) break;
    const after = readOver(outcome, before);
    const { keys, signature } = ran;
    const held = keys.map(before);
    steps.push({
      signature,
      error: exactError(outcome, ran, { ...view, read: before }),
      resolved: ran,
      outcome,
      loadedBytes: BigInt(loadedBytes(held)),
      preBalances: held.map((account) => account?.lamports ?? 0n),
      postBalances: keys.map((key) => after(key)?.lamports ?? 0n),
      preTokenBalances: tokenBalances(keys, before),
      postTokenBalances: tokenBalances(keys, after),
      before,
      after,
    });
    before = after;
  }
  const [last, refusal] = [steps.at(-1), admissions[refused]];
  if (refusal?.ok === false && (last?.error ?? null) === null) {
    steps.push(notRun(transactions[refused]?.id ?? "", refusal.error, before));
  }
  return { bank, steps };
}

function notRun(signature: string, error: TransactionErrorJson, state: Read): BundleStep {
  return {
    signature,
    error,
    resolved: null,
    outcome: null,
    loadedBytes: 0n,
    preBalances: [],
    postBalances: [],
    preTokenBalances: [],
    postTokenBalances: [],
    before: state,
    after: state,
  };
}
