/** The tables of the ledger, as data: what each holds, how long it keeps its rows, and the least that is kept. */

/** How long a table keeps its rows, in milliseconds, or without an end. */
export type LedgerRetention = number | "forever";

/** What operators are told of a table. */
export interface LedgerTable {
  readonly holds: string;
  /** Unless an operator says otherwise. */
  readonly kept: LedgerRetention;
  /** Milliseconds; a shorter retention is refused. */
  readonly least: number;
  /** Why not less, as the end of a sentence. */
  readonly leastReason: string;
}

const dayMs = 86_400_000;

const oneDay = { least: dayMs, leastReason: "rows of a day are what is looked at after a fault" } as const;
const movedAway = "of releases before prices by second and minute; not read any more";

/** All tables, by name. The setting of each is `LEDGER_RETENTION_` with the name in capitals. */
export const ledgerTables = {
  requests: {
    holds: "a row for each request that was served",
    kept: "forever",
    least: 62 * dayMs,
    leastReason: "the use of this month and the last is computed from it",
  },
  bundle_outcomes: { holds: "the outcome of each bundle", kept: "forever", ...oneDay },
  pool_samples: { holds: "a stake pool every ten minutes and as each epoch is counted", kept: "forever", ...oneDay },
  pool_validator_samples: { holds: "what each epoch brought to a stake pool's validators", kept: "forever", ...oneDay },
  oracle_ticks: { holds: "prices of single exchanges", kept: 30 * dayMs, ...oneDay },
  oracle_rounds_by_second: {
    holds: "aggregated prices by second",
    kept: 8 * dayMs,
    least: 8 * dayMs,
    leastReason: "histories of a week are read from it",
  },
  oracle_candles_by_minute: {
    holds: "candles by minute",
    kept: "forever",
    least: 731 * dayMs,
    leastReason: "tiers of the oracle include histories of two years",
  },
  oracle_volumes_by_minute: {
    holds: "traded volumes by minute",
    kept: "forever",
    least: 731 * dayMs,
    leastReason: "tiers of the oracle include candles of two years",
  },
  oracle_rounds: { holds: `prices by second ${movedAway}`, kept: 8 * dayMs, ...oneDay },
  oracle_candles: { holds: `candles by minute ${movedAway}`, kept: "forever", ...oneDay },
  blocks: { holds: "a row for each block of a chain", kept: "forever", ...oneDay },
  transactions: {
    holds: "a row for each transaction, from which a node's answer can be made again",
    kept: "forever",
    ...oneDay,
  },
  instructions: { holds: "instructions, outer and inner", kept: "forever", ...oneDay },
  token_movements: { holds: "tokens that went from one account to another", kept: "forever", ...oneDay },
  native_movements: { holds: "lamports that went from one account to another", kept: "forever", ...oneDay },
  account_changes: {
    holds: "balances before and after each transaction that changed them",
    kept: "forever",
    ...oneDay,
  },
  rewards: { holds: "rewards that blocks paid", kept: "forever", ...oneDay },
  parsed: { holds: "what parsers made of transactions", kept: "forever", ...oneDay },
  transactions_by_signature: { holds: "where each transaction is, by signature", kept: "forever", ...oneDay },
  transactions_by_address: { holds: "the transactions of each address", kept: "forever", ...oneDay },
  webhook_attempts: {
    holds: "a row for each attempt to deliver an event to a webhook",
    kept: 14 * dayMs,
    ...oneDay,
  },
} as const satisfies Readonly<Record<string, LedgerTable>>;

/** A table of the ledger, by its name. */
export type LedgerTableName = keyof typeof ledgerTables;

/** The names, in the order of the documents. */
export const ledgerTableNames: readonly LedgerTableName[] = Object.keys(ledgerTables).filter(
  (name): name is LedgerTableName => name in ledgerTables,
);
