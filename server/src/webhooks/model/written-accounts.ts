import { writableKeys } from "@sluice/encode";
import { AccountStates, type TransactionView } from "@sluice/parser";
import { durableNonceIndex } from "@sluice/wire/transaction";

/**
 * Indexes of the accounts whose data a transaction may have written. Of one that failed it is the account of its
 * durable nonce, which the runtime advances all the same, since all else that it wrote is undone.
 */
export function writtenKeys({ failed, message, keys }: TransactionView): readonly number[] {
  if (failed) {
    const nonce = durableNonceIndex(message);
    return nonce === null ? [] : [nonce];
  }
  const written: number[] = [];
  for (const [index, isWritable] of writableKeys(message, keys).entries()) if (isWritable) written.push(index);
  return written;
}

/** An account that a program may have written, and its owner where the transaction tells it. */
export interface WrittenAccount {
  readonly account: string;
  readonly owner: string | null;
}

/**
 * Accounts that a transaction hands to a program and lets it write, each once. A program writes the data of no other
 * account, and nobody else writes those of its own. Accounts that are not there before or after have no data.
 */
export function* writtenBy(program: string, view: TransactionView): Generator<WrittenAccount> {
  const written = new Set(writtenKeys(view));
  if (written.size === 0) return;
  const handed = new Set<number>();
  for (const { programId, accounts } of view.calls) {
    if (programId !== program) continue;
    for (let place = 0; place < accounts.length; place += 1) handed.add(accounts[place] ?? -1);
  }
  let states: AccountStates | undefined;
  for (const index of handed) {
    const account = view.keys[index];
    if (account === undefined || !written.has(index) || isAbsent(view, index)) continue;
    states ??= new AccountStates(view);
    yield { account, owner: states.of(index).owner };
  }
}

const isAbsent = ({ meta }: TransactionView, index: number): boolean =>
  meta?.preBalances[index] === 0n && meta.postBalances[index] === 0n;
