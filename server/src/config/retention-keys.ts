import { type LedgerTableName, ledgerTables } from "@sluice/contract/ledger";
import { showDuration } from "@sluice/lib";
import { type Always, always } from "./key-definition.ts";
import { retention } from "./parsers.ts";

/** The setting of one table, of which `ledgerTables` says the rest. */
function keptFor(table: LedgerTableName): Always<number | "forever"> {
  const { holds, kept, least, leastReason } = ledgerTables[table];
  return always(
    "Retention",
    `retention.${table}`,
    kept === "forever" ? kept : showDuration(kept),
    retention(least, leastReason),
    `How long the ledger keeps rows of \`${table}\`: ${holds}.`,
  );
}

/** How long each table of the ledger keeps its rows. */
export const retentionKeys = {
  LEDGER_RETENTION_REQUESTS: keptFor("requests"),
  LEDGER_RETENTION_BUNDLE_OUTCOMES: keptFor("bundle_outcomes"),
  LEDGER_RETENTION_ORACLE_TICKS: keptFor("oracle_ticks"),
  LEDGER_RETENTION_ORACLE_ROUNDS_BY_SECOND: keptFor("oracle_rounds_by_second"),
  LEDGER_RETENTION_ORACLE_CANDLES_BY_MINUTE: keptFor("oracle_candles_by_minute"),
  LEDGER_RETENTION_ORACLE_VOLUMES_BY_MINUTE: keptFor("oracle_volumes_by_minute"),
  LEDGER_RETENTION_ORACLE_ROUNDS: keptFor("oracle_rounds"),
  LEDGER_RETENTION_ORACLE_CANDLES: keptFor("oracle_candles"),
  LEDGER_RETENTION_BLOCKS: keptFor("blocks"),
  LEDGER_RETENTION_TRANSACTIONS: keptFor("transactions"),
  LEDGER_RETENTION_INSTRUCTIONS: keptFor("instructions"),
  LEDGER_RETENTION_TOKEN_MOVEMENTS: keptFor("token_movements"),
  LEDGER_RETENTION_NATIVE_MOVEMENTS: keptFor("native_movements"),
  LEDGER_RETENTION_ACCOUNT_CHANGES: keptFor("account_changes"),
  LEDGER_RETENTION_REWARDS: keptFor("rewards"),
  LEDGER_RETENTION_PARSED: keptFor("parsed"),
  LEDGER_RETENTION_TRANSACTIONS_BY_SIGNATURE: keptFor("transactions_by_signature"),
  LEDGER_RETENTION_TRANSACTIONS_BY_ADDRESS: keptFor("transactions_by_address"),
  LEDGER_RETENTION_WEBHOOK_ATTEMPTS: keptFor("webhook_attempts"),
  LEDGER_RETENTION_POOL_SAMPLES: keptFor("pool_samples"),
  LEDGER_RETENTION_POOL_VALIDATOR_SAMPLES: keptFor("pool_validator_samples"),
} as const satisfies Readonly<Record<RetentionKey, Always<number | "forever">>>;

type RetentionKey = `LEDGER_RETENTION_${Uppercase<LedgerTableName>}`;

/** How long each table keeps its rows, by its name. */
export function retentionOf(
  values: Readonly<Record<RetentionKey, number | "forever">>,
): Readonly<Record<LedgerTableName, number | "forever">> {
  return {
    requests: values.LEDGER_RETENTION_REQUESTS,
    bundle_outcomes: values.LEDGER_RETENTION_BUNDLE_OUTCOMES,
    oracle_ticks: values.LEDGER_RETENTION_ORACLE_TICKS,
    oracle_rounds_by_second: values.LEDGER_RETENTION_ORACLE_ROUNDS_BY_SECOND,
    oracle_candles_by_minute: values.LEDGER_RETENTION_ORACLE_CANDLES_BY_MINUTE,
    oracle_volumes_by_minute: values.LEDGER_RETENTION_ORACLE_VOLUMES_BY_MINUTE,
    oracle_rounds: values.LEDGER_RETENTION_ORACLE_ROUNDS,
    oracle_candles: values.LEDGER_RETENTION_ORACLE_CANDLES,
    blocks: values.LEDGER_RETENTION_BLOCKS,
    transactions: values.LEDGER_RETENTION_TRANSACTIONS,
    instructions: values.LEDGER_RETENTION_INSTRUCTIONS,
    token_movements: values.LEDGER_RETENTION_TOKEN_MOVEMENTS,
    native_movements: values.LEDGER_RETENTION_NATIVE_MOVEMENTS,
    account_changes: values.LEDGER_RETENTION_ACCOUNT_CHANGES,
    rewards: values.LEDGER_RETENTION_REWARDS,
    parsed: values.LEDGER_RETENTION_PARSED,
    transactions_by_signature: values.LEDGER_RETENTION_TRANSACTIONS_BY_SIGNATURE,
    transactions_by_address: values.LEDGER_RETENTION_TRANSACTIONS_BY_ADDRESS,
    webhook_attempts: values.LEDGER_RETENTION_WEBHOOK_ATTEMPTS,
    pool_samples: values.LEDGER_RETENTION_POOL_SAMPLES,
    pool_validator_samples: values.LEDGER_RETENTION_POOL_VALIDATOR_SAMPLES,
  };
}
