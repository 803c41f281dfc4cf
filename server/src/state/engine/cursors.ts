import type { Network } from "@sluice/contract/tiers";
import type { StoreConnection } from "../connection.ts";
import type { CursorStore } from "../engine-records.ts";
import { checkIdentifier, checkText, isIdentifier } from "../values.ts";

const valueLengthMax = 1_000;

export class Cursors implements CursorStore {
  readonly #connection: StoreConnection;
  readonly #network: Network;

  constructor(connection: StoreConnection, network: Network) {
    this.#connection = connection;
    this.#network = network;
  }

  async get(name: string): Promise<string | null> {
    if (!isIdentifier(name)) return null;
    return this.#connection.run(async (db) => {
      const query = db.selectFrom("engine_cursors").select("value");
      const row = await query.where("name", "=", `${this.#network}:${name}`).executeTakeFirst();
      return row?.value ?? null;
    });
  }

  async set(name: string, value: string): Promise<void> {
    const changed = { value: checkText("value", value, valueLengthMax) };
    await this.#connection.write((db) =>
      db
        .insertInto("engine_cursors")
        .values({ name: `${this.#network}:${checkIdentifier("name", name)}`, ...changed })
        .onConflict((conflict) => conflict.column("name").doUpdateSet(changed))
        .execute(),
    );
  }
}
