import { type Network, networks } from "@sluice/contract/tiers";
import type { StoreConnection } from "./connection.ts";
import { type UpstreamOrderRecord, type UpstreamOrderStore, upstreamOrders } from "./order-records.ts";
import { toUpstreamOrder } from "./rows.ts";
import { checkIdentifier, checkOneOf, isIdentifier } from "./values.ts";

/** Far above the nodes that a configuration may name. */
const listedMax = 1_000;

export class UpstreamOrders implements UpstreamOrderStore {
  readonly #connection: StoreConnection;

  constructor(connection: StoreConnection) {
    this.#connection = connection;
  }

  async set(order: Parameters<UpstreamOrderStore["set"]>[0]): Promise<void> {
    const changed = {
      standing: checkOneOf("order", order.order, upstreamOrders),
      set_at: BigInt(this.#connection.clock.now()),
    };
    const row = {
      network: checkOneOf("network", order.network, networks),
      label: checkIdentifier("label", order.label),
      ...changed,
    };
    await this.#connection.run((db) =>
      db
        .insertInto("upstream_orders")
        .values(row)
        .onConflict((conflict) => conflict.columns(["network", "label"]).doUpdateSet(changed))
        .execute(),
    );
  }

  async clear(network: Network, label: string): Promise<boolean> {
    if (!isIdentifier(label)) return false;
    return this.#connection.run(async (db) => {
      const result = await db
        .deleteFrom("upstream_orders")
        .where("network", "=", network)
        .where("label", "=", label)
        .executeTakeFirst();
      return result.numDeletedRows > 0n;
    });
  }

  async list(): Promise<readonly UpstreamOrderRecord[]> {
    return this.#connection.run(async (db) => {
      const rows = await db
        .selectFrom("upstream_orders")
        .selectAll()
        .orderBy("network")
        .orderBy("label")
        .limit(listedMax)
        .execute();
      return rows.map(toUpstreamOrder);
    });
  }
}
