import { type Random, SecretVault, systemClock, systemRandom } from "@sluice/lib";
import { surveySecrets, unreadableSecrets } from "../admin/index.ts";
import type { Config } from "../config/index.ts";
import { openState, type SecretStore, StateError } from "../state/index.ts";
import { StartRefusedError } from "./start-refused.ts";
import { stateOptions } from "./stores.ts";

/** The master keys of the configuration, as one vault. */
export const vaultOf = ({ masterKey, masterKeysPrevious }: Config, random: Random): SecretVault =>
  new SecretVault(masterKey, random, masterKeysPrevious);

/**
 * Refuses to start over secrets that no configured master key opens: what they belong to would be left out in silence.
 * @throws {StartRefusedError} OTHER_KEY
 */
export async function requireReadableSecrets(
  config: Config,
  { store, random }: { readonly store: SecretStore; readonly random: Random },
): Promise<void> {
  const fault = unreadableSecrets(await surveySecrets({ store, vault: vaultOf(config, random) }));
  if (fault !== null) throw new StartRefusedError("OTHER_KEY", fault);
}

/**
 * Whether the master keys of the configuration open what is stored, for `sluice config check`: what is wrong, or null.
 * A store that is not there, in use, away or of another version is not asked, and then nothing is known to be wrong.
 */
export async function secretFault(config: Config): Promise<string | null> {
  const silent = { info: () => undefined, warn: () => undefined };
  const options = { ...stateOptions(config), create: false, migrate: false };
  try {
    await using state = await openState(options, { clock: systemClock, random: systemRandom, log: silent });
    const vault = vaultOf(config, systemRandom);
    return unreadableSecrets(await surveySecrets({ store: state.secrets, vault }));
  } catch (error) {
    if (error instanceof StateError) return null;
    throw error;
  }
}
