import { createHmac } from "node:crypto";
import { sqlLimits } from "@sluice/contract/sql";
import type { LedgerSettings } from "../connection.ts";
import type { Form } from "../ddl.ts";
import { viewsDatabaseOf } from "./views.ts";

/**
 * Whom customers' statements run as, and within which bounds: in the embedded engine a role of its configuration, on
 * servers a user of their own.
 */

/** Bounds that are not told to customers; they hold beside those of `sqlLimits`. */
const innerLimits = {
  /** One thread for each of the few statements that run at a time: the others are the server's own. */
  threads: 1,
  /** Above that of the server's own statements, which go first. */
  priority: 10,
  syntaxDepth: 300,
  syntaxElements: 20_000,
  /** What `range` may make for one block of rows. */
  rangeElements: 1_000_000,
  temporaryBytes: 1024 * 1024 * 1024,
  subqueryDepth: 30,
} as const;

/** Of the statements that judge a statement. */
const judgingMs = 5_000;

/** ClickHouse settings of every statement of a customer; `readonly` forbids to change any of them. */
export function customerSettings(terms: {
  readonly comment: string;
  readonly rowsMax: number;
  readonly executionMs: number;
}): LedgerSettings {
  return {
    log_comment: terms.comment,
    max_execution_time: terms.executionMs / 1_000,
    timeout_overflow_mode: "throw",
    max_bytes_to_read: sqlLimits.readBytes,
    read_overflow_mode: "throw",
    max_memory_usage: sqlLimits.memoryBytes,
    max_result_rows: terms.rowsMax,
    max_result_bytes: sqlLimits.resultBytes,
    result_overflow_mode: "throw",
    max_threads: innerLimits.threads,
    priority: innerLimits.priority,
    max_parser_depth: innerLimits.syntaxDepth,
    max_ast_depth: innerLimits.syntaxDepth,
    max_ast_elements: innerLimits.syntaxElements,
    max_expanded_ast_elements: innerLimits.syntaxElements,
    max_subquery_depth: innerLimits.subqueryDepth,
    max_query_size: 4 * sqlLimits.queryBytes,
    function_range_max_elements_in_block: innerLimits.rangeElements,
    max_temporary_data_on_disk_size_for_query: innerLimits.temporaryBytes,
    // A query without FROM is run as a subquery, whose order is the result's.
    query_plan_remove_redundant_sorting: 0,
    do_not_merge_across_partitions_select_final: 1,
    output_format_json_quote_64bit_integers: 1,
    output_format_json_quote_decimals: 1,
    output_format_json_quote_denormals: 1,
    output_format_arrow_string_as_string: 1,
    // A server stops what nobody waits for any more; the embedded engine is told to by the process around it.
    cancel_http_readonly_queries_on_client_close: 1,
    readonly: 1,
  };
}

/** The same for the statements that judge one: they read nothing of the ledger. */
export function judgingSettings(mark: string): LedgerSettings {
  return customerSettings({ comment: `${mark} - -`, rowsMax: innerLimits.syntaxElements, executionMs: judgingMs });
}

/** The name of the user, its quota and its profile on servers. */
export const customerUser = "sluice_customer";

/**
 * The password of that user: of the ledger's own, so that all processes of an installation have the same without
 * another secret to keep.
 */
export const customerPassword = (ledgerPassword: string): string =>
  createHmac("sha256", ledgerPassword).update("statements of customers").digest("hex");

const onCluster = ({ cluster }: Form): string => (cluster === null ? "" : ` ON CLUSTER '${cluster}'`);

/**
 * Makes the user of customers' statements on servers, or brings it up to date: it reads the views, is held to the
 * bounds whatever a statement sets, sees no row of a table that it should not reach, and has a quota.
 */
export function customerUserStatements(form: Form, password: string): string[] {
  const on = onCluster(form);
  const views = viewsDatabaseOf(form);
  const bounds = [
    `max_execution_time = ${sqlLimits.executionMs / 1_000} MAX ${sqlLimits.executionMs / 1_000}`,
    `max_bytes_to_read = ${sqlLimits.readBytes} MAX ${sqlLimits.readBytes}`,
    `max_memory_usage = ${sqlLimits.memoryBytes} MAX ${sqlLimits.memoryBytes}`,
    `max_result_rows = ${sqlLimits.resultRows} MAX ${sqlLimits.resultRows}`,
    "allow_ddl = 0 CONST",
    "allow_introspection_functions = 0 CONST",
  ];
  const hash = new Bun.CryptoHasher("sha256").update(password).digest("hex");
  return [
    `CREATE SETTINGS PROFILE OR REPLACE ${customerUser}${on} SETTINGS ${bounds.join(", ")}`,
    `CREATE USER OR REPLACE ${customerUser}${on} IDENTIFIED WITH sha256_hash BY '${hash}' ` +
      `DEFAULT DATABASE ${views} SETTINGS PROFILE '${customerUser}'`,
    `GRANT${on} SELECT ON ${views}.* TO ${customerUser}`,
    `CREATE ROW POLICY OR REPLACE ${customerUser}${on} ON ${form.database}.* FOR SELECT USING 0 TO ${customerUser}`,
    `CREATE QUOTA OR REPLACE ${customerUser}${on} FOR INTERVAL 1 minute MAX queries = 6000, ` +
      `read_bytes = ${sqlLimits.readBytes * 60} TO ${customerUser}`,
  ];
}
