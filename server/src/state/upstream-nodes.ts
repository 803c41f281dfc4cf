import { type Network, networks } from "@sluice/contract/tiers";
import type { StoreConnection } from "./connection.ts";
import type { UpstreamNodeRecord, UpstreamNodeStore } from "./order-records.ts";
import { toUpstreamNode } from "./rows.ts";
import { checkCount, checkIdentifier, checkOneOf, isIdentifier } from "./values.ts";

/** Far above the nodes that a gateway serves well. */
const listedMax = 1_000;
const optionBytesMax = 256 * 1024;

export class UpstreamNodes implements UpstreamNodeStore {
  readonly #connection: StoreConnection;

  constructor(connection: StoreConnection) {
    this.#connection = connection;
  }

  async add({ network, label, options }: Omit<UpstreamNodeRecord, "addedAt">): Promise<boolean> {
    checkCount("options", options.length, optionBytesMax);
    const row = {
      network: checkOneOf("network", network, networks),
      label: checkIdentifier("label", label),
      options,
      added_at: BigInt(this.#connection.clock.now()),
    };
    return this.#connection.write(async (db) => {
      const result = await db
        .insertInto("upstream_nodes")
        .values(row)
        .onConflict((conflict) => conflict.columns(["network", "label"]).doNothing())
        .executeTakeFirst();
      return (result.numInsertedOrUpdatedRows ?? 0n) > 0n;
    });
  }

  async remove(network: Network, label: string): Promise<boolean> {
    if (!isIdentifier(label)) return false;
    return this.#connection.write(async (db) => {
      const result = await db
        .deleteFrom("upstream_nodes")
        .where("network", "=", network)
        .where("label", "=", label)
        .executeTakeFirst();
      return result.numDeletedRows > 0n;
    });
  }

  async list(): Promise<readonly UpstreamNodeRecord[]> {
    return this.#connection.run(async (db) => {
      const rows = await db
        .selectFrom("upstream_nodes")
        .selectAll()
        .orderBy("network")
        .orderBy("label")
        .limit(listedMax)
        .execute();
      return rows.map(toUpstreamNode);
    });
  }
}
