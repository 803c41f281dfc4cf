import { type Network, networks } from "@sluice/contract/tiers";
import type { ChainRecord, ChainStore } from "./chain-records.ts";
import type { StoreConnection } from "./connection.ts";
import { toChain } from "./rows.ts";
import { checkIdentifier, checkOneOf } from "./values.ts";

export class Chains implements ChainStore {
  readonly #connection: StoreConnection;

  constructor(connection: StoreConnection) {
    this.#connection = connection;
  }

  async find(network: Network): Promise<ChainRecord | null> {
    return this.#connection.run(async (db) => {
      const row = await db.selectFrom("chains").selectAll().where("network", "=", network).executeTakeFirst();
      return row === undefined ? null : toChain(row);
    });
  }

  async put(network: Network, { genesis, first }: ChainRecord): Promise<void> {
    const changed = {
      genesis: checkIdentifier("genesis", genesis),
      first_slot: first === null ? null : first.slot,
      first_blockhash: first === null ? null : checkIdentifier("blockhash", first.blockhash),
      seen_at: BigInt(this.#connection.clock.now()),
    };
    await this.#connection.write((db) =>
      db
        .insertInto("chains")
        .values({ network: checkOneOf("network", network, networks), ...changed })
        .onConflict((conflict) => conflict.column("network").doUpdateSet(changed))
        .execute(),
    );
  }
}
