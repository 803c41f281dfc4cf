import { resolve } from "node:path";
import { settleInterrupted } from "../backup/index.ts";
import type { Config } from "../config/index.ts";
import type { State } from "../state/index.ts";

/** Completes a restore that was interrupted, or takes it back; for the open state of PostgreSQL, or before SQLite's. */
export async function settleRestore(config: Config, state: Pick<State, "audit"> | null): Promise<void> {
  const has = async (id: string): Promise<boolean> => {
    const { items } = (await state?.audit.list({ subject: id, limit: 1 })) ?? { items: [] };
    return items.length > 0;
  };
  await settleInterrupted(resolve(config.stores.directory), state === null ? null : has);
}
