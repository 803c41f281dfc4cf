import { resolve } from "node:path";
import { systemClock, systemRandom } from "@sluice/lib";
import { type BackupJob, createBackupJob, type RestoreResult, restoreBackup } from "../backup/index.ts";
import { type Config, version } from "../config/index.ts";
import { createLog } from "../observe/index.ts";
import { openState, StateError } from "../state/index.ts";
import type { Dependencies } from "./dependencies.ts";
import { type Stores, stateOptions } from "./stores.ts";

const masterKeysOf = ({ masterKey, masterKeysPrevious }: Config): readonly string[] =>
  masterKey === null ? masterKeysPrevious : [masterKey, ...masterKeysPrevious];

/** Backups of the stores of this process. */
export function backupJob(
  config: Config,
  { stores, ...dependencies }: Pick<Dependencies, "clock" | "random" | "log"> & { readonly stores: Stores },
): BackupJob {
  const dataDirectory = resolve(config.stores.directory);
  const masterKeys = masterKeysOf(config);
  return createBackupJob(
    { dataDirectory, version, network: config.networkDefault, masterKeys },
    { ...dependencies, state: stores.state, ledger: stores.ledger },
  );
}

export interface RestoreWish {
  readonly from: string;
  readonly replace: boolean;
  readonly passphrase: string | null;
  readonly keyOut: string | null;
}

/** Restores a backup into the stores of a configuration, which no server uses. */
export async function restoreInto(config: Config, wish: RestoreWish): Promise<RestoreResult> {
  const [clock, random] = [systemClock, systemRandom];
  const log = createLog({ level: "warn", destination: "stderr" });
  return await restoreBackup(
    {
      ...wish,
      dataDirectory: resolve(config.stores.directory),
      databaseUrl: config.stores.databaseUrl,
      ledgerConfinement: config.stores.ledgerConfinement,
      hasLedgerElsewhere: config.stores.clickhouseUrl !== null,
      network: config.networkDefault,
      genesis: config.genesis.hashes,
      masterKeys: masterKeysOf(config),
    },
    { clock, random, log, wasCommitted: (id) => hasRestore(config, id) },
  );
}

async function hasRestore(config: Config, id: string): Promise<boolean> {
  const silent = { info: () => undefined, warn: () => undefined };
  const options = { ...stateOptions(config), create: false, migrate: false };
  try {
    await using state = await openState(options, { clock: systemClock, random: systemRandom, log: silent });
    return (await state.audit.list({ subject: id, limit: 1 })).items.length > 0;
  } catch (error) {
    // A database without tables, or of an earlier version, has had no restore by this one.
    if (error instanceof StateError && (error.code === "ABSENT" || error.code === "SCHEMA_OLDER")) return false;
    throw error;
  }
}
