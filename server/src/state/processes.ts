import { type RawBuilder, sql } from "kysely";
import type { StoreConnection } from "./connection.ts";
import type { NewProcess, ProcessRecord, ProcessStore } from "./process-records.ts";
import { numberOf } from "./rows.ts";
import type { Db, ProcessRow } from "./tables.ts";
import { checkIdentifier, checkText, checkWhole } from "./values.ts";

const listedMax = 1_000;
const textLengthMax = 200;

export class Processes implements ProcessStore {
  readonly #connection: StoreConnection;

  constructor(connection: StoreConnection) {
    this.#connection = connection;
  }

  async join(process: NewProcess, ttlMs: number): Promise<readonly ProcessRecord[]> {
    const row = {
      id: checkIdentifier("id", process.id),
      roles: checkText("roles", process.roles.join(","), textLengthMax),
      version: checkText("version", process.version, textLengthMax),
      meters: process.meters ? 1n : 0n,
      shares_ledger: process.sharesLedger ? 1n : 0n,
      shares_hot: process.sharesHot ? 1n : 0n,
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
        .onConflict((conflict) => conflict.column("id").doUpdateSet({ expires_at }))
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

  async leave(id: string): Promise<void> {
    await this.#connection.run((db) => db.deleteFrom("processes").where("id", "=", id).execute());
  }

  async list(): Promise<readonly ProcessRecord[]> {
    return this.#connection.run(async (db) => {
      const rows = await db.selectFrom("processes").selectAll().where("expires_at", ">", this.#now).execute();
      return rows.sort((one, other) => Number(one.started_at - other.started_at)).map(toProcess);
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

const readProcesses = (db: Db): Promise<ProcessRow[]> =>
  db.selectFrom("processes").selectAll().orderBy("started_at").orderBy("id").limit(listedMax).execute();

function toProcess(row: ProcessRow): ProcessRecord {
  return {
    id: row.id,
    roles: row.roles.split(","),
    version: row.version,
    meters: row.meters === 1n,
    sharesLedger: row.shares_ledger === 1n,
    sharesHot: row.shares_hot === 1n,
    startedAt: numberOf(row.started_at),
    beats: numberOf(row.beats),
  };
}
