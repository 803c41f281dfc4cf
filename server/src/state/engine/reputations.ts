import type { Network } from "@sluice/contract/tiers";
import type { StoreConnection } from "../connection.ts";
import type { ReputationRecord, ReputationStore } from "../engine-records.ts";
import type { ReputationRow } from "../engine-tables.ts";
import { numberOf, parse } from "../rows.ts";
import { checkCount, checkIdentifier, checkJson, checkWhole, isIdentifier } from "../values.ts";

const valueLengthMax = 16_384;
const putMax = 10_000;
const pageMax = 1_000;
const rowsInStatement = 500;

export class Reputations implements ReputationStore {
  readonly #connection: StoreConnection;
  readonly #network: Network;

  constructor(connection: StoreConnection, network: Network) {
    this.#connection = connection;
    this.#network = network;
  }

  async put(records: readonly ReputationRecord[]): Promise<void> {
    checkCount("records", records.length, putMax);
    const rows = new Map(records.map((record) => [record.searcherId, toRow(this.#network, record)]));
    // In one order everywhere, so that two processes never wait for each other's rows in a circle.
    const sorted = [...rows.values()].sort((left, right) => (left.searcher_id < right.searcher_id ? -1 : 1));
    if (sorted.length === 0) return;
    await this.#connection.transaction(async (tx) => {
      for (let from = 0; from < sorted.length; from += rowsInStatement) {
        await tx
          .insertInto("searcher_reputations")
          .values(sorted.slice(from, from + rowsInStatement))
          .onConflict((conflict) =>
            conflict.columns(["network", "searcher_id"]).doUpdateSet(({ ref }) => ({
              version: ref("excluded.version"),
              value: ref("excluded.value"),
            })),
          )
          .execute();
      }
    });
  }

  async get(searcherId: string): Promise<ReputationRecord | null> {
    if (!isIdentifier(searcherId)) return null;
    return this.#connection.run(async (db) => {
      const query = db.selectFrom("searcher_reputations").selectAll().where("network", "=", this.#network);
      const row = await query.where("searcher_id", "=", searcherId).executeTakeFirst();
      return row === undefined ? null : toReputation(row);
    });
  }

  async list(after: string | null, limit: number): Promise<readonly ReputationRecord[]> {
    const rowsMax = Math.min(Number(checkWhole("limit", limit)), pageMax);
    return this.#connection.run(async (db) => {
      let query = db.selectFrom("searcher_reputations").selectAll().where("network", "=", this.#network);
      if (after !== null) query = query.where("searcher_id", ">", checkIdentifier("after", after));
      const rows = await query.orderBy("searcher_id").limit(rowsMax).execute();
      return rows.map(toReputation);
    });
  }
}

function toRow(network: Network, { searcherId, version, value }: ReputationRecord): ReputationRow {
  return {
    network,
    searcher_id: checkIdentifier("searcherId", searcherId),
    version: checkWhole("version", version),
    value: checkJson("value", value, valueLengthMax),
  };
}

function toReputation(row: ReputationRow): ReputationRecord {
  return {
    searcherId: row.searcher_id,
    version: numberOf(row.version),
    value: parse("searcher_reputations.value", row.value),
  };
}
