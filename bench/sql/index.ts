/**
 * bench/sql: statements of a customer over the ledger's views beside the same ones over a table of PostgreSQL that
 * holds the same transactions, with the indexes that one would give it.
 * `npm run bench -- sql [--transactions 500000] [--rounds 5]`, with DATABASE_URL of a PostgreSQL that may be written
 * to: a schema of its own is made and removed. Each statement has to find the same in both.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { systemClock } from "@sluice/lib";
import { SQL } from "bun";
import { type Ledger, openLedger } from "../../server/src/ledger/index.ts";

const { values } = parseArgs({
  options: { transactions: { type: "string", default: "500000" }, rounds: { type: "string", default: "5" } },
});
const transactions = Number(values.transactions);
const rounds = Number(values.rounds);
const databaseUrl = Bun.env["DATABASE_URL"] ?? "";
const network = "devnet";
const [perBlock, wallets, chunk] = [1_000, 20_000, 50_000];
const quiet = { debug: () => undefined, info: () => undefined, warn: console.warn, error: console.error };
const schema = "sluice_bench_sql";

/** The columns that both have; their text is the same in both. */
const columns =
  "slot, transaction_index, signature, toUnixTimestamp(block_time) AS block_time, success, fee, fee_payer, program_ids";

interface Statement {
  readonly name: string;
  readonly ledger: string;
  readonly postgres: string;
}

const statements: readonly Statement[] = [
  {
    name: "transactions and fees of each minute",
    ledger:
      "SELECT intDiv(toUnixTimestamp(block_time), 60) AS minute, count() AS n, sum(fee) AS fees FROM transactions GROUP BY minute ORDER BY minute",
    postgres:
      "SELECT block_time / 60 AS minute, count(*) AS n, sum(fee) AS fees FROM transactions GROUP BY minute ORDER BY minute",
  },
  {
    name: "the ten busiest payers",
    ledger: "SELECT fee_payer, count() AS n FROM transactions GROUP BY fee_payer ORDER BY n DESC, fee_payer LIMIT 10",
    postgres:
      'SELECT fee_payer, count(*) AS n FROM transactions GROUP BY fee_payer ORDER BY n DESC, fee_payer COLLATE "C" LIMIT 10',
  },
  {
    name: "failures of each program",
    ledger:
      "SELECT arrayJoin(program_ids) AS program, count() AS n, countIf(NOT success) AS failed FROM transactions GROUP BY program ORDER BY program",
    postgres:
      'SELECT program, count(*) AS n, count(*) FILTER (WHERE NOT success) AS failed FROM transactions, unnest(program_ids) AS program GROUP BY program ORDER BY program COLLATE "C"',
  },
  {
    name: "how many payers there are",
    ledger: "SELECT uniqExact(fee_payer) AS n FROM transactions",
    postgres: "SELECT count(DISTINCT fee_payer) AS n FROM transactions",
  },
  {
    name: "a payer's newest 50",
    ledger:
      "SELECT slot, transaction_index, fee FROM transactions WHERE fee_payer = 'wallet77' ORDER BY slot DESC, transaction_index DESC LIMIT 50",
    postgres:
      "SELECT slot, transaction_index, fee FROM transactions WHERE fee_payer = 'wallet77' ORDER BY slot DESC, transaction_index DESC LIMIT 50",
  },
  {
    name: "fees of a block",
    ledger: "SELECT count() AS n, sum(fee) AS fees FROM transactions WHERE slot = 7",
    postgres: "SELECT count(*) AS n, sum(fee) AS fees FROM transactions WHERE slot = 7",
  },
];

async function fill(ledger: Ledger): Promise<void> {
  const payer = `concat('wallet', toString(cityHash64(number, 1) % ${wallets}))`;
  for (let from = 0; from < transactions; from += chunk) {
    await ledger.command(
      "INSERT INTO transactions (network, slot, transaction_index, blockhash, block_time, at, signature, success, " +
        "error, fee, is_vote, fee_payer, signers, version, accounts, program_ids, body) SELECT " +
        `'${network}', intDiv(number, ${perBlock}) AS slot, toUInt32(number % ${perBlock}), ` +
        `concat('hash', toString(slot)), toDateTime(1790000000 + intDiv(number, 2500)) AS time, ` +
        "toDateTime64(time, 3, 'UTC'), concat('signature', toString(number)), cityHash64(number, 2) % 20 != 0, '', " +
        `5000 + cityHash64(number, 3) % 20000, false, ${payer} AS fee_payer, [fee_payer], '0', [fee_payer], ` +
        "[concat('program', toString(cityHash64(number, 4) % 40))], " +
        `leftPad(toString(number), 600, 'what a transaction holds ') FROM numbers(${from}, ${Math.min(chunk, transactions - from)})`,
    );
  }
}

/** The ledger's own rows, so that the data are the same. */
async function copy(ledger: Ledger, postgres: SQL): Promise<void> {
  await postgres.unsafe(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
  await postgres.unsafe(`CREATE SCHEMA ${schema}`);
  await postgres.unsafe(`SET search_path TO ${schema}`);
  await postgres.unsafe(
    "CREATE TABLE transactions (slot bigint, transaction_index int, signature text, block_time bigint, success bool, " +
      "fee bigint, fee_payer text, program_ids text[], PRIMARY KEY (slot, transaction_index))",
  );
  const slots = chunk / perBlock;
  for (let from = 0; from < transactions / perBlock; from += slots) {
    const where = `network = '${network}' AND slot >= ${from} AND slot < ${from + slots}`;
    const rows = await ledger.query(`SELECT ${columns} FROM transactions FINAL WHERE ${where}`);
    await postgres.unsafe(
      "INSERT INTO transactions SELECT * FROM json_to_recordset($1::text::json) AS rows(slot bigint, " +
        "transaction_index int, signature text, block_time bigint, success bool, fee bigint, fee_payer text, program_ids text[])",
      [JSON.stringify(rows)],
    );
  }
  await postgres.unsafe("CREATE INDEX ON transactions (fee_payer, slot DESC, transaction_index DESC)");
  await postgres.unsafe("CREATE INDEX ON transactions (block_time)");
  await postgres.unsafe("VACUUM ANALYZE transactions");
}

/** The rows as texts. */
async function inLedger(ledger: Ledger, sql: string): Promise<string[]> {
  const { body } = await ledger.customers.run({
    ...{ sql, parameters: {}, accountId: "bench", network, format: "json" },
    ...{ rowsMax: 100_000, executionMs: 60_000, signal: new AbortController().signal },
  });
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part as Uint8Array);
  const lines = Buffer.concat(parts).toString().trim().split("\n");
  // Names and types come first.
  return lines.slice(2).map((line) => (JSON.parse(line) as unknown[]).map(String).join(" "));
}

async function inPostgres(postgres: SQL, sql: string): Promise<string[]> {
  const rows: unknown[][] = await postgres.unsafe(sql).values();
  return rows.map((row) => row.map(String).join(" "));
}

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? Number.NaN;

async function timed(run: () => Promise<string[]>): Promise<{ readonly ms: number; readonly rows: string[] }> {
  const startedMs = performance.now();
  const rows = await run();
  return { ms: performance.now() - startedMs, rows };
}

async function compare(ledger: Ledger, postgres: SQL): Promise<void> {
  console.log("statement | rows | ledger ms | PostgreSQL ms | times");
  for (const statement of statements) {
    const times = { ledger: [] as number[], postgres: [] as number[] };
    let found = 0;
    // The first round warms both up.
    for (let round = 0; round <= rounds; round += 1) {
      const ours = await timed(() => inLedger(ledger, statement.ledger));
      const theirs = await timed(() => inPostgres(postgres, statement.postgres));
      if (ours.rows.join("\n") !== theirs.rows.join("\n"))
        throw new Error(
          `${statement.name}: ${ours.rows.slice(0, 3)} in the ledger, ${theirs.rows.slice(0, 3)} in PostgreSQL`,
        );
      found = ours.rows.length;
      if (round > 0) times.ledger.push(ours.ms);
      if (round > 0) times.postgres.push(theirs.ms);
    }
    const [one, other] = [median(times.ledger), median(times.postgres)];
    console.log([statement.name, found, one.toFixed(1), other.toFixed(1), (other / one).toFixed(2)].join(" | "));
  }
}

if (databaseUrl === "") {
  console.log("NOT RUN: DATABASE_URL is not set");
} else {
  const directory = mkdtempSync(join(tmpdir(), "sluice-bench-sql-"));
  // One connection, which has the schema in its path.
  const postgres = new SQL(databaseUrl, { max: 1 });
  try {
    await using ledger = await openLedger(
      { directory, clickhouseUrl: null, cluster: null },
      { clock: systemClock, log: quiet },
    );
    await fill(ledger);
    await copy(ledger, postgres);
    console.log(`${transactions} transactions, ${rounds} rounds, medians`);
    await compare(ledger, postgres);
  } finally {
    await postgres.unsafe(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
    await postgres.end();
    rmSync(directory, { recursive: true, force: true });
  }
}
process.exit(0);
