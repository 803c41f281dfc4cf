import type { StoreConnection } from "../connection.ts";
import type { CursorStore } from "../engine-records.ts";
import { checkIdentifier, checkText, isIdentifier } from "../values.ts";

const valueLengthMax = 1_000;

export class Cursors implements CursorStore {
  readonly #connection: StoreConnection;

  constructor(connection: StoreConnection) {
    this.#connection = connection;
  }

  async get(name: string): Promise<string | null> {
    if (!isIdentifier(name)) return null;
    return this.#connection.run(async (db) => {
      const row = await db.selectFrom("engine_cursors").select("value").where("name", "=", name).executeTakeFirst();
      return row?.value ?? null;
    });
  }

  async set(name: string, value: string): Promise<void> {
    const changed = { value: checkText("value", value, valueLengthMax) };
    await this.#connection.write((db) =>
      db
        .insertInto("engine_cursors")
        .values({ name: checkIdentifier("name", name), ...changed })
        .onConflict((conflict) => conflict.column("name").doUpdateSet(changed))
        .execute(),
    );
  }
}
