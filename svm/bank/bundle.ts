import { invariant } from "@sluice/lib";
import type { Account } from "litesvm/dist/internal.js";
import { sameAccount } from "../native/accounts.ts";
import type { CoreOutcome, CoreTransaction, KeyedAccount, LiteSvmCore } from "./core.ts";

/**
 * The accounts as they were before work that may be undone. The block engine's machine restores from the newest state
 * that it holds (bundles/bundle-machine.ts); this log is kept apart from it, so that each can be checked against the
 * other.
 */
class UndoLog {
  readonly #core: LiteSvmCore;
  readonly #before = new Map<string, KeyedAccount>();

  constructor(core: LiteSvmCore) {
    this.#core = core;
  }

  /** Records accounts that may be written now; the first record of an account counts. */
  record(keys: readonly Uint8Array[]): void {
    for (const key of keys) {
      const name = Buffer.from(key).toString("latin1");
      if (!this.#before.has(name)) this.#before.set(name, { key, account: this.#core.account(key) });
    }
  }

  /** Restores every account. One that did not change is not written: a program would be compiled once more. */
  undo(): void {
    for (const { key, account } of this.#before.values()) {
      if (!sameAccount(this.#core.account(key), account)) this.#core.write(key, account);
    }
  }

  /**
   * Throws unless the accounts hold what they held before less `fees`: a bundle that lands neither creates nor destroys
   * lamports. It reads each balance once more, 0.5 µs an account.
   */
  requireConserved(fees: bigint): void {
    let lost = 0n;
    for (const { key, account } of this.#before.values()) {
      lost += lamports(account) - lamports(this.#core.account(key));
    }
    invariant(lost === fees, "a bundle that lands takes its fees from the sum of its accounts, and nothing else");
  }
}

const lamports = (account: Account | null): bigint => account?.lamports() ?? 0n;

function runAll(
  transactions: readonly CoreTransaction[],
  nextNonce: Uint8Array,
  core: LiteSvmCore,
  log: UndoLog,
): { readonly outcomes: CoreOutcome[]; readonly isWhole: boolean } {
  const outcomes: CoreOutcome[] = [];
  for (const transaction of transactions) {
    log.record(transaction.writable);
    const outcome = core.execute(transaction, nextNonce);
    outcomes.push(outcome);
    if (!outcome.ran.included || outcome.ran.error !== null) return { outcomes, isWhole: false };
  }
  return { outcomes, isWhole: true };
}

/** Runs transactions in order until one does not succeed, and restores the accounts then. */
export function executeBundle(
  transactions: readonly CoreTransaction[],
  nextNonce: Uint8Array,
  core: LiteSvmCore,
): CoreOutcome[] {
  const log = new UndoLog(core);
  let isKept = false;
  try {
    const { outcomes, isWhole } = runAll(transactions, nextNonce, core, log);
    if (isWhole) log.requireConserved(transactions.reduce((sum, { fee }) => sum + fee, 0n));
    isKept = isWhole;
    return outcomes;
  } finally {
    if (!isKept) log.undo();
  }
}

/** The same with `overlay` in place of those accounts; all are restored in any case. */
export function simulateBundle(
  transactions: readonly CoreTransaction[],
  overlay: readonly KeyedAccount[],
  nextNonce: Uint8Array,
  core: LiteSvmCore,
): CoreOutcome[] {
  const log = new UndoLog(core);
  log.record(overlay.map(({ key }) => key));
  try {
    for (const { key, account } of overlay) core.write(key, account);
    return runAll(transactions, nextNonce, core, log).outcomes;
  } finally {
    log.undo();
  }
}
