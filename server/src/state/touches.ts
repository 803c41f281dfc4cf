import { sql } from "kysely";
import type { StateDriver } from "./records.ts";
import type { Tx } from "./tables.ts";

/** Two values a row; SQLite takes 32,766 in a statement. */
const touchRowsInStatement = 1_000;

/** Writes the latest time of each key in one statement a thousand keys; rows are locked in the order of their ids. */
export async function applyTouches(
  tx: Tx,
  driver: StateDriver,
  items: readonly ReadonlyMap<string, number>[],
): Promise<readonly undefined[]> {
  const latest = new Map<string, number>();
  for (const [id, time] of items.flatMap((item) => [...item])) latest.set(id, Math.max(time, latest.get(id) ?? 0));
  const sorted = [...latest].sort(([left], [right]) => (left < right ? -1 : 1));
  for (let from = 0; from < sorted.length; from += touchRowsInStatement) {
    const part = sorted.slice(from, from + touchRowsInStatement);
    if (driver === "postgres") {
      const ids = part.map(([id]) => id);
      await tx.selectFrom("api_keys").select("id").where("id", "in", ids).orderBy("id").forUpdate().execute();
    }
    const rows = sql.join(part.map(([id, time]) => sql`(cast(${id} as text), cast(${BigInt(time)} as bigint))`));
    await sql`update api_keys set last_used_at = v.column2 from (values ${rows}) as v
      where id = v.column1 and (last_used_at is null or last_used_at < v.column2)`.execute(tx);
  }
  return items.map(() => undefined);
}
