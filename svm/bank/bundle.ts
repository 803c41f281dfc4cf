import type { Account } from "litesvm/dist/internal.js";
import { type CoreOutcome, type CoreTransaction, type KeyedAccount, type LiteSvmCore, sameAccount } from "./core.ts";

function isSame(one: Account | null, other: Account | null): boolean {
  return one === null || other === null ? one === other : sameAccount(one, other);
}

/** Accounts as they were before something is done that may have to be taken back. */
class UndoLog {
  readonly #core: LiteSvmCore;
  readonly #before = new Map<string, KeyedAccount>();

  constructor(core: LiteSvmCore) {
    this.#core = core;
  }

  /** Remembers accounts that may be written now, each as it was when it was first named. */
  remember(keys: readonly Uint8Array[]): void {
    for (const key of keys) {
      const name = Buffer.from(key).toString("latin1");
      if (!this.#before.has(name)) this.#before.set(name, { key, account: this.#core.account(key) });
    }
  }

  /** Takes everything back. What was left alone is not written: a program would be compiled once more. */
  undo(): void {
    for (const { key, account } of this.#before.values()) {
      if (!isSame(this.#core.account(key), account)) this.#core.write(key, account);
    }
  }
}

function runAll(
  transactions: readonly CoreTransaction[],
  nextNonce: Uint8Array,
  core: LiteSvmCore,
  log: UndoLog,
): { readonly outcomes: CoreOutcome[]; readonly isWhole: boolean } {
  const outcomes: CoreOutcome[] = [];
  for (const transaction of transactions) {
    log.remember(transaction.writable);
    const outcome = core.execute(transaction, nextNonce);
    outcomes.push(outcome);
    if (!outcome.ran.included || outcome.ran.error !== null) return { outcomes, isWhole: false };
  }
  return { outcomes, isWhole: true };
}

/** Runs transactions in order until one does not succeed; then the accounts are again as they were before the first. */
export function executeBundle(
  transactions: readonly CoreTransaction[],
  nextNonce: Uint8Array,
  core: LiteSvmCore,
): CoreOutcome[] {
  const log = new UndoLog(core);
  let stays = false;
  try {
    const { outcomes, isWhole } = runAll(transactions, nextNonce, core, log);
    stays = isWhole;
    return outcomes;
  } finally {
    if (!stays) log.undo();
  }
}

/** The same over `overlay` in place of the newest state, which is put back whatever comes of it. */
export function simulateBundle(
  transactions: readonly CoreTransaction[],
  overlay: readonly KeyedAccount[],
  nextNonce: Uint8Array,
  core: LiteSvmCore,
): CoreOutcome[] {
  const log = new UndoLog(core);
  log.remember(overlay.map(({ key }) => key));
  try {
    for (const { key, account } of overlay) core.write(key, account);
    return runAll(transactions, nextNonce, core, log).outcomes;
  } finally {
    log.undo();
  }
}
