import { ExactDecimal, type Movements, type RecordValue } from "@sluice/parser";
import type { LedgerTransaction } from "../transactions/ledger-pages.ts";

/** Lamports or tokens that came to a wallet or left it. */
export interface Transfer {
  readonly kind: "native" | "token";
  readonly direction: "in" | "out";
  /** Null where the transaction does not tell it, and for mints and burns. */
  readonly counterparty: string | null;
  /** Null for lamports, and where the transaction does not name it. */
  readonly mint: string | null;
  /** What arrived of what came in, what left of what went out. */
  readonly amount: bigint;
  readonly decimals: number | null;
  /** What the mint withheld on its way: beside what came in, part of what went out. */
  readonly fee: bigint;
}

const nativeDecimals = 9;

/** What came to a wallet and left it, in the order of execution; what it sent itself is neither. */
export function transfersOf({ native, tokens }: Movements, wallet: string): Transfer[] {
  const transfers: Transfer[] = [];
  for (const { kind, from, to, lamports } of native) {
    // Lamports behind wrapped tokens are told as tokens.
    if (kind === "wrapped" || from === to || lamports === 0n) continue;
    const facts = { kind: "native", mint: null, amount: lamports, decimals: nativeDecimals, fee: 0n } as const;
    if (to === wallet) transfers.push({ ...facts, direction: "in", counterparty: from });
    else if (from === wallet) transfers.push({ ...facts, direction: "out", counterparty: to });
  }
  for (const { kind, mint, amount, decimals, fee, ...sides } of tokens) {
    if (kind === "wrap" || kind === "unwrap" || kind === "withheld") continue;
    const { fromOwner, toOwner } = sides;
    if (fromOwner === toOwner || amount === 0n) continue;
    const facts = { kind: "token", mint, amount, decimals, fee } as const;
    if (toOwner === wallet) {
      transfers.push({ ...facts, amount: amount - fee, direction: "in", counterparty: fromOwner });
    } else if (fromOwner === wallet) transfers.push({ ...facts, direction: "out", counterparty: toOwner });
  }
  return transfers;
}

/** A transfer as the envelope's answers have it. */
export function transferMembers({ row }: LedgerTransaction, transfer: Transfer): RecordValue {
  const { kind, direction, counterparty, mint, amount, decimals, fee } = transfer;
  return {
    signature: row.signature,
    slot: row.slot,
    block_time: row.blockTime,
    ...{ kind, direction, counterparty, mint, decimals },
    amount: amount.toString(),
    token_amount: decimals === null ? null : new ExactDecimal(amount, decimals),
    fee: fee.toString(),
  };
}
