import { type RawBuilder, sql } from "kysely";
import type { StoreConnection } from "./connection.ts";
import type { BookMeter, LeftBehind, NewProcess, ProcessRecord, ProcessStore } from "./process-records.ts";
import { numberOf, numberOrNull } from "./rows.ts";
import type { Db, MeterTable, ProcessRow, Tx } from "./tables.ts";
import { checkIdentifier, checkText, checkWhole } from "./values.ts";

const listedMax = 1_000;
const textLengthMax = 200;

export class Processes implements ProcessStore {
  readonly #connection: StoreConnection;

  readonly #schema: number;

  /** `schema` is the number of the newest migration that this process knows. */
  constructor(connection: StoreConnection, schema: number) {
    this.#connection = connection;
    this.#schema = schema;
  }

  async join(process: NewProcess, ttlMs: number): Promise<readonly ProcessRecord[]> {
    const row = {
      id: checkIdentifier("id", process.id),
      roles: checkText("roles", process.roles.join(","), textLengthMax),
      version: checkText("version", process.version, textLengthMax),
      meters: process.meters ? 1n : 0n,
      shares_ledger: process.sharesLedger ? 1n : 0n,
      shares_hot: process.sharesHot ? 1n : 0n,
      schema: BigInt(this.#schema),
      master_keys: idsOrNull(process.masterKeys),
      ...storesOf(process),
    };
    const expires_at = this.#inMs(ttlMs);
    return this.#connection.transaction(async (tx) => {
      // Those that join take turns, so that of two at least one sees the other.
      if (this.#connection.driver === "postgres") {
        await sql`lock table processes in share row exclusive mode`.execute(tx);
      }
      await tx.deleteFrom("processes").where("expires_at", "<=", this.#now).execute();
      const registered = await readProcesses(tx);
      await tx
        .insertInto("processes")
        .values({ ...row, started_at: this.#now, beats: 0n, expires_at })
        .onConflict((conflict) => conflict.column("id").doUpdateSet({ expires_at, ...storesOf(process) }))
        .execute();
      return registered.map(toProcess).filter(({ id }) => id !== process.id);
    });
  }

  async beat(id: string, ttlMs: number): Promise<boolean> {
    const expires_at = this.#inMs(ttlMs);
    return this.#connection.run(async (db) => {
      const result = await db
        .updateTable("processes")
        .set(({ eb }) => ({ beats: eb("beats", "+", 1n), expires_at }))
        .where("id", "=", id)
        .where("expires_at", ">", this.#now)
        .executeTakeFirst();
      return result.numUpdatedRows > 0n;
    });
  }

  async identify(id: string, stores: Pick<ProcessRecord, "ledgerId" | "hotId">): Promise<void> {
    await this.#connection.run((db) =>
      db.updateTable("processes").set(storesOf(stores)).where("id", "=", id).execute(),
    );
  }

  async leave(id: string): Promise<void> {
    await this.#connection.run((db) => db.deleteFrom("processes").where("id", "=", id).execute());
  }

  async list(): Promise<readonly ProcessRecord[]> {
    return this.#connection.run(async (db) => {
      const rows = await db.selectFrom("processes").selectAll().where("expires_at", ">", this.#now).execute();
      return rows.sort((one, other) => Number(one.started_at - other.started_at)).map(toProcess);
    });
  }

  async leftBehind(own: string): Promise<LeftBehind> {
    const isLeft = sql<boolean>`holder <> ${checkIdentifier("own", own)}
      and holder not in (select id from processes where expires_at > ${this.#now})`;
    return this.#connection.run(async (db) => {
      const { rows: leases } = await sql<{ count: bigint }>`select count(*) as count from leases
        where holder <> '' and ${isLeft}`.execute(db);
      const { rows } = await sql<{ meter: MeterTable; processes: bigint; amount: bigint }>`select meter,
        count(distinct holder) as processes, cast(sum(leased) as bigint) as amount
        from lease_books where ${isLeft} group by meter`.execute(db);
      const of = (table: MeterTable): LeftBehind["books"][BookMeter] => {
        const row = rows.find(({ meter }) => meter === table);
        return { processes: Number(row?.processes ?? 0n), amount: row?.amount ?? 0n };
      };
      const books = {
        credits: of("credits"),
        oracle: of("oracle_requests"),
        "oracle-v2": of("oracle_v2_requests"),
        served: of("served_requests"),
      };
      return { leases: Number(leases[0]?.count ?? 0n), books };
    });
  }

  /** The database's clock where processes share one: their own may differ. */
  get #now(): RawBuilder<bigint> {
    if (this.#connection.driver === "sqlite") return sql<bigint>`${BigInt(this.#connection.clock.now())}`;
    return sql<bigint>`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`;
  }

  #inMs(ttlMs: number): RawBuilder<bigint> {
    return sql<bigint>`${this.#now} + ${checkWhole("ttlMs", ttlMs)}`;
  }
}

const idsOrNull = (ids: readonly string[] | null): string | null =>
  ids?.map((id) => checkIdentifier("masterKeys", id)).join(",") ?? null;

const idOrNull = (path: string, id: string | null): string | null => (id === null ? null : checkIdentifier(path, id));

const storesOf = ({ ledgerId, hotId }: Pick<ProcessRecord, "ledgerId" | "hotId">) => ({
  ledger_id: idOrNull("ledgerId", ledgerId),
  hot_id: idOrNull("hotId", hotId),
});

/** Those registered now that do not know this migration; a version that did not tell knows none of its kind. */
export async function processesBefore(tx: Tx, migration: number): Promise<readonly ProcessRecord[]> {
  const nowMs = sql<bigint>`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`;
  const rows = await tx
    .selectFrom("processes")
    .selectAll()
    .where("expires_at", ">", nowMs)
    .where(({ eb, or }) => or([eb("schema", "is", null), eb("schema", "<", BigInt(migration))]))
    .limit(listedMax)
    .execute();
  return rows.map(toProcess);
}

const readProcesses = (db: Db): Promise<ProcessRow[]> =>
  db.selectFrom("processes").selectAll().orderBy("started_at").orderBy("id").limit(listedMax).execute();

function toProcess(row: ProcessRow): ProcessRecord {
  return {
    id: row.id,
    roles: row.roles.split(","),
    masterKeys: row.master_keys === null ? null : row.master_keys.split(",").filter((id) => id !== ""),
    version: row.version,
    meters: row.meters === 1n,
    sharesLedger: row.shares_ledger === 1n,
    sharesHot: row.shares_hot === 1n,
    schema: numberOrNull(row.schema),
    ledgerId: row.ledger_id,
    hotId: row.hot_id,
    startedAt: numberOf(row.started_at),
    beats: numberOf(row.beats),
  };
}
