import { resolve } from "node:path";
import { composeManagement } from "../compose.ts";
import type { Config } from "../config/index.ts";
import { StateError } from "../state/index.ts";
import { explainStartFault, isStoreAbsent } from "./start-fault.ts";
import { CommandFailure } from "./terminal.ts";

/**
 * The management API over the stores that this command opens itself.
 * @throws {CommandFailure} when there is no store, or the stores cannot be opened
 */
export async function openOwnStores(config: Config, options: { readonly migrates: boolean }) {
  return await composeManagement(config, options).catch((error: unknown) => {
    if (isStoreAbsent(error)) throw new CommandFailure(nothingAt(config, error));
    explainStartFault(error);
  });
}

function nothingAt({ stores }: Config, error: unknown): string {
  const ofDatabase = stores.databaseUrl !== null && error instanceof StateError;
  const store = ofDatabase ? "no store in the database of DATABASE_URL" : "no store";
  return (
    `no server and ${store} at ${resolve(stores.directory)}; ` +
    "start it (npx sluice serve, npm start), or pass --data-dir or --config"
  );
}
