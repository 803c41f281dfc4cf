import { resolve } from "node:path";
import type { Network } from "@sluice/contract/tiers";
import { type Clock, type Random, systemRandom } from "@sluice/lib";
import { readArchive } from "./archive.ts";
import { LedgerConnection } from "./connection.ts";
import type { LedgerLog } from "./endpoint.ts";
import { LedgerOpenError, LedgerQueryError } from "./errors.ts";
import { migrate } from "./migrations.ts";
import { ChildSupervisor, type ConfinementRule } from "./supervisor.ts";

/**
 * Makes an embedded ledger of a copy, in a directory without one, and brings it up to date.
 *
 * @throws {Error} ENOSPC where the disk has no room for it
 * @throws {LedgerOpenError} for a copy that is damaged or of a newer version, and where the engine does not start
 */
export async function restoreLedger(
  options: {
    readonly directory: string;
    readonly archive: string;
    readonly network: Network;
    readonly confinement: ConfinementRule;
  },
  dependencies: { readonly clock: Clock; readonly log: LedgerLog; readonly random?: Random },
): Promise<void> {
  const { clock, log, random = systemRandom } = dependencies;
  const directory = resolve(options.directory);
  await using endpoint = await ChildSupervisor.start(
    { directory, confinement: options.confinement },
    { clock, random, log },
  );
  const form = { database: "sluice", cluster: null };
  await using connection = new LedgerConnection({ database: form.database }, { endpoint, clock });
  try {
    await readArchive({ connection, clock, directory }, options.archive);
  } catch (error) {
    if (!(error instanceof LedgerQueryError)) throw error;
    throw new LedgerOpenError(`The copy of the ledger cannot be read: ${error.message}`);
  }
  await migrate(connection, form, { clock, log, random, network: options.network });
}
