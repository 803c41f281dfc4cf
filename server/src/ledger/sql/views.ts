import type { Form } from "../ddl.ts";
import { parsedFactColumns } from "../parsed-tables.ts";

/**
 * The views that customers read, as SELECTs of the ledger's tables. What a statement may see is fixed in their
 * conditions, by two words at the end of its `log_comment`: the account and the network. They are set by this server,
 * and a statement that is `readonly` cannot change them.
 */

/** Text that views and the settings of a statement agree on; ids of accounts and networks hold no space. */
export const comment = (terms: { readonly mark: string; readonly accountId: string; readonly network: string }) =>
  `${terms.mark} ${terms.accountId} ${terms.network}`;

const account = "splitByChar(' ', getSetting('log_comment'))[-2]";
const network = "splitByChar(' ', getSetting('log_comment'))[-1]";

/** A view's revision is raised with each change of it, so that it is made again where it is older. */
export interface ViewDefinition {
  readonly name: string;
  readonly revision: number;
  readonly select: (database: string) => string;
}

const listed = (columns: readonly string[]): string => columns.join(", ");

/** Repeated rows of a key count once, and blocks that left the chain are not there. */
const ofChain = (database: string, table: string): string =>
  `FROM ${database}.${table} FINAL WHERE network = ${network} AND (network, slot, blockhash) NOT IN (` +
  `SELECT network, slot, blockhash FROM ${database}.dropped_blocks FINAL WHERE dropped AND network = ${network})`;

/** What is below the highest end of a range that is held is final. */
const finalized = (database: string): string => {
  const watermark = `SELECT max(until_slot) FROM ${database}.held_ranges FINAL WHERE network = ${network}`;
  return `CAST(slot < (${watermark}), 'Bool') AS finalized`;
};

const place = ["network", "slot", "transaction_index", "blockhash", "block_time", "signature"] as const;

const chainView = (name: string, table: string, columns: (database: string) => readonly string[]): ViewDefinition => ({
  name,
  revision: 1,
  select: (database) => `SELECT ${listed(columns(database))} ${ofChain(database, table)}`,
});

const blocks = chainView("blocks", "blocks", (database) => [
  "network",
  "slot",
  "blockhash",
  "block_time",
  "parent_slot",
  "parent_blockhash",
  "block_height",
  "leader",
  "transactions",
  "votes",
  "failed",
  "fees",
  "compute_units",
  finalized(database),
]);

const transactions = chainView("transactions", "transactions", (database) => [
  ...place,
  "success",
  "error",
  "fee",
  "compute_units",
  "is_vote",
  "fee_payer",
  "signers",
  "version",
  "accounts",
  "program_ids",
  "memo",
  finalized(database),
]);

const instructions = chainView("instructions", "instructions", () => [
  ...place,
  "success",
  "position",
  "outer_index",
  "inner_index",
  "stack_height",
  "program_id",
  "accounts",
  "base58Encode(data) AS data",
]);

const movement = [...place, "position", "kind"] as const;

const tokenTransfers = chainView("token_transfers", "token_movements", () => [
  ...movement,
  "mint",
  "decimals",
  "amount",
  "from_account",
  "from_owner",
  "to_account",
  "to_owner",
]);

const nativeTransfers = chainView("native_transfers", "native_movements", () => [
  ...movement,
  "amount",
  "from_account",
  "to_account",
]);

const parsed: ViewDefinition = {
  ...chainView("parsed", "parsed", () => [
    ...place,
    "fee_payer",
    "type",
    "source",
    "description",
    "events",
    ...parsedFactColumns.map(({ name }) => name),
    "version AS parser_version",
  ]),
  revision: 2,
};

/** Five minutes are more than the age of a price in any tier of the oracle. */
const prices: ViewDefinition = {
  name: "prices",
  revision: 1,
  select: (database) =>
    "SELECT at AS minute, symbol, open, high, low, close, confidence, sources " +
    `FROM ${database}.oracle_candles_by_minute FINAL WHERE at < now64(3) - INTERVAL 6 MINUTE`,
};

/** Rows of versions that wrote no network are of the one that was the default when the ledger was given its id. */
const ofBundleNetwork = (database: string): string =>
  `network IN (${network}, if(${network} = ` +
  `(SELECT network FROM ${database}.identity ORDER BY made_at, id LIMIT 1), '', ${network}))`;

const own = `(account_id = ${account})`;
const ownText = (column: string, name = column): string => `if(${own}, toString(${column}), '') AS ${name}`;
const ownOnly = (column: string): string => `if(${own}, ${column}, NULL) AS ${column}`;

const bundles: ViewDefinition = {
  name: "bundles",
  revision: 1,
  select: (database) => {
    const columns = [
      `toLowCardinality(${network}) AS network`,
      "at AS ended_at",
      "id AS bundle_id",
      `CAST(${own}, 'Bool') AS own`,
      "state",
      "landed_slot",
      "leader",
      "signatures",
      "tip_seen",
      "compute_units",
      ownOnly("tip"),
      ownText("mev_type"),
      ownText("reason"),
      ownText("door", "endpoint"),
      ownOnly("target_slot"),
      ownOnly("accepted_at"),
      ownOnly("forwarded_times"),
    ];
    return (
      `SELECT ${listed(columns)} FROM (SELECT * FROM ${database}.bundle_outcomes FINAL ` +
      `WHERE ${ofBundleNetwork(database)} AND (state = 'finalized' OR ${own}))`
    );
  },
};

const myRequests: ViewDefinition = {
  name: "my_requests",
  revision: 1,
  select: (database) =>
    "SELECT at, request_id, key_id, network, door AS endpoint, method, status, rpc_code, code, latency_ms, bytes_in, " +
    `bytes_out, credits, cache FROM ${database}.requests WHERE account_id = ${account}`,
};

export const viewDefinitions: readonly ViewDefinition[] = [
  blocks,
  transactions,
  instructions,
  tokenTransfers,
  nativeTransfers,
  parsed,
  prices,
  bundles,
  myRequests,
];

/** The database of the views of a ledger. */
export const viewsDatabaseOf = (form: Pick<Form, "database">): string => `${form.database}_views`;

const onCluster = ({ cluster }: Form): string => (cluster === null ? "" : ` ON CLUSTER '${cluster}'`);
const commentOf = ({ revision }: ViewDefinition): string => `sluice view ${revision}`;

/** The revision that the comment of a view tells; 0 for any other comment. */
export const revisionIn = (text: string): number => Number(/^sluice view (\d{1,9})$/.exec(text)?.[1] ?? 0);

export const createViewsDatabase = (form: Form): string =>
  `CREATE DATABASE IF NOT EXISTS ${viewsDatabaseOf(form)}${onCluster(form)}`;

/** Makes a view, or makes it again. It reads with the rights of the user that made it, whoever reads it. */
export const createView = (view: ViewDefinition, form: Form): string =>
  [
    `CREATE OR REPLACE VIEW ${viewsDatabaseOf(form)}.${view.name}${onCluster(form)}`,
    "DEFINER = CURRENT_USER SQL SECURITY DEFINER",
    `AS ${view.select(form.database)}`,
    `COMMENT '${commentOf(view)}'`,
  ].join("\n");
