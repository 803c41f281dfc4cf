import { type SecretVault, sealedUnder } from "@sluice/lib";
import type { SecretStore, StoredSecret } from "../state/index.ts";

/** The secrets that are stored under one master key. */
export interface SecretGroup {
  /** 16 hexadecimal digits, "plain" without encryption, or "unnamed" as earlier versions encrypted. */
  readonly key_id: string;
  readonly secrets: number;
  /** How many of them the master keys of this process open. */
  readonly readable: number;
  /** The first of those that they do not open. */
  readonly unreadable: readonly string[];
}

export interface SecretSurvey {
  /** The id of MASTER_KEY; null without one. */
  readonly key_id: string | null;
  /** The ids of MASTER_KEY and MASTER_KEY_PREVIOUS. */
  readonly key_ids: readonly string[];
  readonly groups: readonly SecretGroup[];
}

export interface RotationOutcome {
  readonly key_id: string | null;
  /** Encrypted anew now, and those that already were. */
  readonly rotated: number;
  readonly present: number;
  /** Changed by another process meanwhile; a second run finds them as they are then. */
  readonly passed: number;
  /** What no master key of this process opens, by name. At most 1,000. */
  readonly unreadable: readonly string[];
}

interface SecretsDependencies {
  readonly store: SecretStore;
  readonly vault: SecretVault;
}

const batchSize = 100;
const shownMax = 5;
const namedMax = 1_000;
/** Far more than nodes and encryption keys come to. */
const batchesMax = 10_000;

const nameOf = ({ kind, place }: StoredSecret): string => `${kind} ${place}`;

/** The word by which a group of secrets is known. */
export function groupOf(stored: Uint8Array): string {
  return stored[0] === 0 ? "plain" : (sealedUnder(stored) ?? "unnamed");
}

async function* batches(store: SecretStore, size = batchSize): AsyncGenerator<readonly StoredSecret[]> {
  let after: StoredSecret | null = null;
  for (let count = 0; count < batchesMax; count += 1) {
    const batch: readonly StoredSecret[] = await store.list(after, size);
    if (batch.length > 0) yield batch;
    after = batch.at(-1) ?? null;
    if (after === null || batch.length < size) return;
  }
}

/** Which master keys the stored secrets are under, and whether those of this process open them. */
export async function surveySecrets({ store, vault }: SecretsDependencies): Promise<SecretSurvey> {
  const groups = new Map<string, { secrets: number; readable: number; unreadable: string[] }>();
  for await (const batch of batches(store)) {
    for (const secret of batch) {
      const key = groupOf(secret.stored);
      const group = groups.get(key) ?? { secrets: 0, readable: 0, unreadable: [] };
      groups.set(key, group);
      group.secrets += 1;
      if (vault.unwrap(secret.secretId, secret.stored) !== null) group.readable += 1;
      else if (group.unreadable.length < shownMax) group.unreadable.push(nameOf(secret));
    }
  }
  const sorted = [...groups].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return {
    key_id: vault.keyId,
    key_ids: vault.keyIds,
    groups: sorted.map(([key_id, group]) => ({ key_id, ...group })),
  };
}

/**
 * Encrypts every stored secret under the present master key. Each batch is one transaction, and what is under that key
 * already is left alone, so a run that ended half-way is continued by the next; meanwhile secrets are under both keys.
 */
export async function rotateSecrets(
  { store, vault }: SecretsDependencies,
  { size = batchSize }: { readonly size?: number } = {},
): Promise<RotationOutcome> {
  let [rotated, present, passed] = [0, 0, 0];
  const unreadable: string[] = [];
  for await (const batch of batches(store, size)) {
    const changes: { secret: StoredSecret; stored: Uint8Array }[] = [];
    for (const secret of batch) {
      if (vault.isPresent(secret.stored)) {
        present += 1;
        continue;
      }
      const opened = vault.unwrap(secret.secretId, secret.stored);
      if (opened !== null) changes.push({ secret, stored: vault.wrap(secret.secretId, opened) });
      else if (unreadable.length < namedMax) unreadable.push(nameOf(secret));
    }
    const replaced = changes.length === 0 ? 0 : await store.replace(changes);
    rotated += replaced;
    passed += changes.length - replaced;
  }
  return { key_id: vault.keyId, rotated, present, passed, unreadable };
}

/** Deletes what no master key of this process opens, of one group; says what it was. For a key that is lost. */
export async function forgetSecrets({ store, vault }: SecretsDependencies, keyId: string): Promise<readonly string[]> {
  const forgotten: string[] = [];
  for await (const batch of batches(store)) {
    const lost = batch.filter(
      ({ secretId, stored }) => groupOf(stored) === keyId && vault.unwrap(secretId, stored) === null,
    );
    if (lost.length === 0) continue;
    await store.remove(lost);
    forgotten.push(...lost.map(nameOf));
  }
  return forgotten;
}

/** What the operator is told where stored secrets cannot be opened; null where all can be. */
export function unreadableSecrets({ key_id, key_ids, groups }: SecretSurvey): string | null {
  const lost = groups.filter(({ unreadable }) => unreadable.length > 0);
  if (lost.length === 0) return null;
  const what = lost.map(({ key_id: id, secrets, readable, unreadable }) => {
    const under = id === "unnamed" ? "a key that they do not name" : `the key ${id}`;
    return `${secrets - readable} under ${under} (${unreadable.join(", ")})`;
  });
  const own = key_id === null ? "No MASTER_KEY is set" : `MASTER_KEY is the key ${key_id}`;
  const others = key_ids.filter((id) => id !== key_id);
  const further = others.length === 0 ? "" : `, MASTER_KEY_PREVIOUS ${others.join(", ")}`;
  return (
    `${own}${further}, and stored secrets are ${what.join("; ")}. Set MASTER_KEY to that key, or name it in ` +
    "MASTER_KEY_PREVIOUS and run `sluice secrets rotate`; where it is lost, `sluice secrets forget <key id>` deletes them"
  );
}
