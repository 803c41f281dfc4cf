import type { StoreConnection } from "../connection.ts";
import {
  type EngineSwitch,
  type EngineSwitchRecord,
  type EngineSwitchStore,
  engineSwitches,
} from "../engine-records.ts";
import { numberOf } from "../rows.ts";
import { checkOneOf } from "../values.ts";

export class EngineSwitches implements EngineSwitchStore {
  readonly #connection: StoreConnection;

  constructor(connection: StoreConnection) {
    this.#connection = connection;
  }

  async set(name: EngineSwitch, isOn: boolean): Promise<EngineSwitchRecord> {
    const setAt = this.#connection.clock.now();
    const changed = { is_on: isOn ? 1n : 0n, set_at: BigInt(setAt) };
    const row = { name: checkOneOf("name", name, engineSwitches), ...changed };
    await this.#connection.run((db) =>
      db
        .insertInto("engine_switches")
        .values(row)
        .onConflict((conflict) => conflict.column("name").doUpdateSet(changed))
        .execute(),
    );
    return { name, isOn, setAt };
  }

  async all(): Promise<readonly EngineSwitchRecord[]> {
    const rows = await this.#connection.run((db) =>
      db.selectFrom("engine_switches").selectAll().where("name", "in", engineSwitches).execute(),
    );
    const byName = new Map(rows.map((row) => [row.name, row]));
    return engineSwitches.map((name) => {
      const row = byName.get(name);
      return { name, isOn: row?.is_on === 1n, setAt: row === undefined ? 0 : numberOf(row.set_at) };
    });
  }
}
