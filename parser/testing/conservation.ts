import { programs } from "@sluice/wire/programs";
import { AccountStates } from "../neutral/account-states.ts";
import type { Movements } from "../neutral/movements.ts";
import { parserFor } from "../programs/table.ts";
import type { Call, TransactionView } from "../transaction-view.ts";

/** What differs from the law that movements and the fee are the changes of all balances; nothing when it holds. */
export function breaches(view: TransactionView, { native, tokens }: Movements): string[] {
  const { meta, keys } = view;
  if (meta === null) return [];
  const lamports = new Map<string, bigint>([[keys[0] ?? "", -meta.fee]]);
  for (const { from, to, lamports: moved } of native) {
    if (from !== null) lamports.set(from, (lamports.get(from) ?? 0n) - moved);
    if (to !== null) lamports.set(to, (lamports.get(to) ?? 0n) + moved);
  }
  const held = new Map<string, bigint>();
  for (const { fromAccount, toAccount, amount, fee } of tokens) {
    if (fromAccount !== null) held.set(fromAccount, (held.get(fromAccount) ?? 0n) - amount);
    if (toAccount !== null) held.set(toAccount, (held.get(toAccount) ?? 0n) + amount - fee);
  }
  return [
    ...meta.postBalances.flatMap((after, key) =>
      differs(`lamports of ${keys[key]}`, lamports.get(keys[key] ?? ""), after - (meta.preBalances[key] ?? 0n)),
    ),
    ...tokenChanges(view).flatMap(([key, change]) =>
      differs(`tokens of ${keys[key]}`, held.get(keys[key] ?? ""), change),
    ),
  ];
}

function differs(what: string, moved: bigint | undefined, changed: bigint): string[] {
  return (moved ?? 0n) === changed ? [] : [`${what}: moved ${moved ?? 0n}, changed ${changed}`];
}

function tokenChanges({ meta }: TransactionView): [number, bigint][] {
  const changes = new Map<number, bigint>();
  for (const { accountIndex, amount } of meta?.postTokenBalances ?? []) changes.set(accountIndex, amount);
  for (const { accountIndex, amount } of meta?.preTokenBalances ?? []) {
    changes.set(accountIndex, (changes.get(accountIndex) ?? 0n) - amount);
  }
  return [...changes];
}

/** Programs of which every call that moves lamports states how many, or that move none. */
const stating: ReadonlySet<string> = new Set([
  programs.system,
  programs.token,
  programs.token2022,
  programs.associatedToken,
  programs.stake,
  programs.vote,
  programs.addressLookupTable,
  programs.computeBudget,
  programs.memo,
  programs.noop,
]);
const withdrawExcessLamports = 38;

/** Whether a call may change lamports by an amount that it does not state. */
function mayChange({ programId, data }: Call): boolean {
  if (!stating.has(programId)) return true;
  return (programId === programs.token || programId === programs.token2022) && data[0] === withdrawExcessLamports;
}

/** A change of lamports that no call states, with the calls that may have made it. */
export interface Rest {
  readonly account: string;
  readonly change: bigint;
  /** Programs and instructions; none is a movement that was misread. */
  readonly reasons: readonly string[];
}

/**
 * The changes of lamports that no call states. The runtime lets a program take lamports from accounts that it owns
 * alone, and give them to accounts that are writable in its call alone: so each rest has a call of such a program among
 * its reasons, or a call that states its amount was read wrongly.
 */
export function restsOf(view: TransactionView, { native }: Movements): readonly Rest[] {
  const changes = new Map<string, bigint>();
  for (const { kind, from, to, lamports } of native) {
    if (kind !== "program") continue;
    if (from !== null) changes.set(from, (changes.get(from) ?? 0n) - lamports);
    if (to !== null) changes.set(to, (changes.get(to) ?? 0n) + lamports);
  }
  const states = new AccountStates(view);
  return [...changes].map(([account, change]) => {
    const key = view.keys.indexOf(account);
    const { owner } = states.of(key);
    const reasons = view.calls.flatMap((call) => {
      const isNamed = Array.from(call.accounts).includes(key) && view.message.isWritable(key);
      // Where the node kept no inner calls, one of them may be of the owner.
      const mayTake = owner === null || owner === call.programId || view.meta?.innerInstructions === null;
      return isNamed && mayChange(call) && (change > 0n || mayTake) ? [nameOf(view, call)] : [];
    });
    return { account, change, reasons: [...new Set(reasons)] };
  });
}

function nameOf(view: TransactionView, call: Call): string {
  const parser = parserFor(call.programId);
  return `${parser?.source ?? call.programId} ${parser?.instructionOf(call, view)?.name ?? "?"}`;
}

/** Lamports that came from nowhere or went nowhere: what the balances lost beside the fee. */
export function lostLamports({ meta }: TransactionView): bigint {
  const sum = (balances: readonly bigint[] = []): bigint => balances.reduce((total, each) => total + each, 0n);
  return sum(meta?.preBalances) - sum(meta?.postBalances) - (meta?.fee ?? 0n);
}
