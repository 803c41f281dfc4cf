/**
 * The limit: chDB called directly, in a separate process, with rows that were encoded before and nothing else to do.
 * The table is the ledger's own. direct.ts <directory>; each input line `<format> <rows of a batch> <batches>` is
 * answered with {"micros", "seconds"} for all of it.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock, systemRandom } from "@sluice/lib";
import { accessControl } from "../../server/src/ledger/child/access-control.ts";
import { engineConfiguration } from "../../server/src/ledger/child/configuration.ts";
import { Engine, type StatementContext } from "../../server/src/ledger/child/engine.ts";
import { loadNative } from "../../server/src/ledger/child/native.ts";
import { statementsOf } from "../../server/src/ledger/ddl.ts";
import { requestsTable } from "../../server/src/ledger/tables.ts";

const directory = process.argv[2];
if (directory === undefined) throw new Error("usage: direct.ts <directory>");
mkdirSync(directory, { recursive: true });
const configuration = join(directory, "engine.xml");
const users = join(directory, "users.xml");
writeFileSync(configuration, engineConfiguration({ archives: join(directory, "backups"), users }));
writeFileSync(users, accessControl({ threads: 2 }));
const native = loadNative();
const engine = new Engine(
  { directory: join(directory, "engine"), arguments: [`--config-file=${configuration}`] },
  { native, clock: systemClock, overdue: () => process.exit(70) },
);
const file = join(directory, "rows");

function context(database: string | null, settings: Record<string, string> = {}): StatementContext {
  const rest = { roles: [], parameters: new Map(), signal: new AbortController().signal };
  return { database, settings: new Map(Object.entries(settings)), ...rest };
}
const whole = { max_block_size: "1000000", max_insert_block_size: "1000000" };
const command = (sql: string) => engine.run(sql, "Null", context("sluice", whole));

function jsonRows(rows: number): Buffer {
  const line = (index: number): string =>
    JSON.stringify({
      at: Date.now(),
      request_id: Buffer.from(systemRandom.bytes(16)).toString("hex"),
      account_id: `00c0ffee${10 + ((index * index) % 50)}`,
      key_id: `00c0ffee${10 + ((index * index) % 50)}`,
      network: "devnet",
      door: "rpc",
      method: ["getTransaction", "getSlot", "getAccountInfo", "getLatestBlockhash", "sendTransaction"][index % 5],
      status: 200,
      rpc_code: index % 50 === 0 ? -32_602 : null,
      latency_ms: (index % 997) / 100,
      bytes_in: 100 + (index % 90),
      bytes_out: 300 + (index % 4_000),
      credits: 1,
      cache: index % 3 === 0 ? "MISS" : "HIT",
      upstream: "node-1",
      batch: "7465000000000000000",
    });
  return Buffer.from(Array.from({ length: rows }, (_, index) => line(index)).join("\n"));
}

const prepared = new Map<string, Buffer>();
async function encoded(format: string, rows: number): Promise<Buffer> {
  const name = `${format} ${rows}`;
  const known = prepared.get(name);
  if (known !== undefined) return known;
  let bytes = jsonRows(rows);
  if (format !== "JSONEachRow") {
    await command("TRUNCATE TABLE memory");
    await insertText("INSERT INTO sluice.memory SETTINGS max_insert_block_size = 1000000 FORMAT JSONEachRow", bytes);
    bytes = Buffer.from((await engine.run("SELECT * FROM memory", format, context("sluice", whole))).bytes);
  }
  prepared.set(name, bytes);
  return bytes;
}

async function insertText(sql: string, bytes: Buffer): Promise<void> {
  const connection = native.CreateConnection(join(directory ?? "", "engine"));
  if (connection === null) throw new Error("the engine opened no connection");
  await native.InsertRawAsyncConnection(connection, sql, bytes, false);
  native.CloseConnection(connection);
}

/** Binary data cannot stand in a statement's text, so it is read from a file, which is written here. */
async function insert(format: string, bytes: Buffer, token: string): Promise<void> {
  if (format === "JSONEachRow") {
    const settings = `insert_deduplicate = 1, insert_deduplication_token = '${token}'`;
    await insertText(`INSERT INTO sluice.requests SETTINGS ${settings} FORMAT ${format}`, bytes);
    return;
  }
  const settings = { insert_deduplicate: "1", insert_deduplication_token: token };
  writeFileSync(file, bytes);
  const sql = `INSERT INTO requests FROM INFILE '${file}' COMPRESSION 'none' FORMAT ${format}`;
  await engine.insert(sql, bytes.length, context("sluice", settings));
  rmSync(file);
}

await engine.run("CREATE DATABASE IF NOT EXISTS sluice", "Null", context(null));
const [create] = statementsOf({ kind: "create-table", table: requestsTable }, { database: "sluice", cluster: null });
if (create !== undefined) await command(create);
await command("CREATE TABLE memory AS requests ENGINE = Memory");
console.log(JSON.stringify({ ready: true }));
let tokens = 0;
for await (const line of console) {
  const [format = "JSONEachRow", rows = "10000", batches = "10"] = line.split(" ");
  const bytes = await encoded(format, Number(rows));
  const used = process.cpuUsage();
  const startedAt = performance.now();
  for (let batch = 0; batch < Number(batches); batch++) await insert(format, bytes, `direct-${tokens++}`);
  const { user, system } = process.cpuUsage(used);
  console.log(JSON.stringify({ micros: user + system, seconds: (performance.now() - startedAt) / 1000 }));
}
engine.close();
process.exit(0);
