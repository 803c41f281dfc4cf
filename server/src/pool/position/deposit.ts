import { readU64 } from "@sluice/wire/bytes";
import type { LamportChange, ProgramCall } from "../../ledger/index.ts";

/**
 * What a deposit into a stake pool cost, from the call itself and from the lamports that its transaction moved. Source:
 * spl-stake-pool, instruction.rs: DepositSol 14 and 25, DepositStake 9 and 23.
 */

interface DepositLayout {
  readonly of: "native" | "stake";
  /** Places of accounts in the call: who gets the tokens, and what the lamports come from or go to. */
  readonly destination: number;
}

const layouts: ReadonlyMap<number, DepositLayout> = new Map([
  [9, { of: "stake", destination: 7 }],
  [14, { of: "native", destination: 4 }],
  [23, { of: "stake", destination: 7 }],
  [25, { of: "native", destination: 4 }],
]);
const stakePlace = 4;
const validatorStakePlace = 5;
const reservePlace = 6;

/** A deposit into a pool. */
export interface Deposit {
  /** The token account that got the pool's tokens. */
  readonly destination: string;
  /** Lamports that it cost. */
  readonly lamports: bigint;
}

/** Accounts whose lamports tell what the deposits of stake among the calls cost. */
export const stakeAccounts = (calls: readonly ProgramCall[]): readonly string[] =>
  calls.flatMap(({ accounts, data }) =>
    layouts.get(data[0] ?? -1)?.of === "stake"
      ? [stakePlace, validatorStakePlace, reservePlace].flatMap((place) => accounts[place] ?? [])
      : [],
  );

/**
 * The deposits into a pool among the calls of one transaction; null where one of them is told by neither: two deposits
 * of stake that was made in the same transaction, or a withdrawal from the pool beside such a one.
 */
export function depositsOf(
  pool: string,
  calls: readonly ProgramCall[],
  changes: readonly LamportChange[],
): readonly Deposit[] | null {
  const ofPool = calls.filter(({ accounts }) => accounts[0] === pool);
  const deposits: Deposit[] = [];
  for (const call of ofPool) {
    const layout = layouts.get(call.data[0] ?? -1);
    if (layout === undefined) continue;
    const destination = call.accounts[layout.destination];
    const lamports = layout.of === "native" ? nativeOf(call) : stakeOf(call, ofPool, changes);
    if (destination === undefined || lamports === null) return null;
    deposits.push({ destination, lamports });
  }
  return deposits;
}

/** The call states the lamports. */
const nativeOf = ({ data }: ProgramCall): bigint | null => (data.length < 9 ? null : readU64(data, 1));

/** All that the stake account held; of one that the transaction itself made, what the pool's accounts gained by it. */
function stakeOf(call: ProgramCall, all: readonly ProgramCall[], changes: readonly LamportChange[]): bigint | null {
  const change = (place: number) => changes.find(({ account }) => account === call.accounts[place]);
  const stake = change(stakePlace);
  if (stake !== undefined && stake.before > 0n) return stake.after === 0n ? stake.before : null;
  if (all.some((other) => other !== call && movesLamports(other))) return null;
  const [validator, reserve] = [change(validatorStakePlace), change(reservePlace)];
  if (validator === undefined) return null;
  const gained = validator.after - validator.before + (reserve === undefined ? 0n : reserve.after - reserve.before);
  return gained > 0n ? gained : null;
}

/** Tags of calls that may move lamports of the pool's stake or of its reserve. */
const moving = new Set([1, 2, 3, 4, 6, 9, 10, 14, 16, 19, 20, 21, 22, 23, 24, 25, 26]);
const movesLamports = ({ data }: ProgramCall): boolean => moving.has(data[0] ?? -1);
