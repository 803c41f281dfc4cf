import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Network } from "@sluice/contract/tiers";
import { type Clock, fileFaultOf, type Log, masterKeyId, type Random } from "@sluice/lib";
import { type ConfinementRule, restoreLedger } from "../ledger/index.ts";
import { holdState, restoreState, StateError, unknownMigration } from "../state/index.ts";
import { readLines, syncPath } from "./files.ts";
import { openKeys } from "./key-file.ts";
import { BackupError, keyPart, ledgerPart, type Manifest, readManifest, statePart, verifyParts } from "./manifest.ts";
import { completeSwap, forget, lockRestore, replacedOf, settleInterrupted, stagingOf, writeJournal } from "./swap.ts";

export interface RestoreBackupOptions {
  readonly from: string;
  readonly dataDirectory: string;
  readonly databaseUrl: string | null;
  /** Whether the ledger is in ClickHouse, and so no part of a restore. */
  readonly hasLedgerElsewhere: boolean;
  readonly network: Network;
  /** What the configuration says of the chains. */
  readonly genesis: Readonly<Partial<Record<Network, string | null>>>;
  /** 64 hexadecimal digits each. */
  readonly masterKeys: readonly string[];
  readonly passphrase: string | null;
  /** A new file for the master keys of the backup, as an environment file; needs the passphrase. */
  readonly keyOut: string | null;
  readonly replace: boolean;
  /** Of the process that reads the copy of the ledger. */
  readonly ledgerConfinement: ConfinementRule;
}

export interface RestoreDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Omit<Log, "child">;
  /** Whether PostgreSQL has a restore of this id. */
  readonly wasCommitted: (id: string) => Promise<boolean>;
}

export interface RestoreResult {
  readonly from: string;
  /** When the backup was written. */
  readonly at: string;
  /** The state migrations that the backup has. */
  readonly schema: readonly number[];
  /** Where what was there before lies now; null where nothing was. */
  readonly replaced: string | null;
  readonly left_out: readonly string[];
}

/** The folders that a restore replaces as a whole. */
const folders = { state: "state", ledger: "ledger", credits: "credits", facts: "ledger-queue" } as const;
const idBytes = 12;

/**
 * Restores a backup as a whole: verifies it, prepares everything beside what is there, and then puts it into its place.
 * A process that is killed leaves what was there, or, from the decision on, what the next start or restore completes.
 *
 * @throws {BackupError} for a backup or a target that is refused; StateError, LedgerOpenError where a store refuses it.
 *   Nothing is changed then.
 */
export async function restoreBackup(
  options: RestoreBackupOptions,
  dependencies: RestoreDependencies,
): Promise<RestoreResult> {
  const { from, dataDirectory, databaseUrl } = options;
  const manifest = readManifest(from);
  await verifyParts(from, manifest);
  const opened = requireUsable(manifest, options);
  using _restoring = lockRestore(dataDirectory);
  // Held until the end: a server that starts meanwhile is refused.
  using _held = databaseUrl === null ? holdState(join(dataDirectory, folders.state)) : null;
  await settleOwn(options, dependencies);
  const parts = partsOf(manifest, options);
  const present = parts.filter((part) => isFilled(join(dataDirectory, part)));
  if (present.length > 0 && !options.replace) {
    const names = present.join(", ");
    throw new BackupError("NOT_EMPTY", `${dataDirectory} holds ${names} already; --replace puts them aside.`);
  }
  if (opened !== null) writeKeys(opened, options);
  const id = Buffer.from(dependencies.random.bytes(idBytes)).toString("hex");
  try {
    await stage({ manifest, id, parts }, options, dependencies);
  } catch (error) {
    forget(dataDirectory);
    throw explained(error, dataDirectory);
  }
  completeSwap(dataDirectory);
  return {
    from,
    at: manifest.at,
    schema: manifest.schema,
    replaced: present.length > 0 ? replacedOf(dataDirectory, id) : null,
    left_out: leftOut(manifest, options),
  };
}

/** Restores that were interrupted are settled under the lock that is held here. */
async function settleOwn(
  { dataDirectory, databaseUrl }: RestoreBackupOptions,
  { wasCommitted }: RestoreDependencies,
): Promise<void> {
  await settleInterrupted(dataDirectory, databaseUrl === null ? null : wasCommitted, { isLocked: true });
  rmSync(stagingOf(dataDirectory), { recursive: true, force: true });
}

/** Refuses what cannot be restored here. Gives the master keys that the passphrase opens. */
function requireUsable(manifest: Manifest, options: RestoreBackupOptions): readonly string[] | null {
  const unknown = unknownMigration(manifest.schema);
  if (unknown !== null) {
    throw new BackupError(
      "NEWER",
      `The backup is of version ${manifest.version} and has state migration ${unknown}, which this version does not know. ` +
        "Restore it with that version.",
    );
  }
  for (const { network, genesis } of manifest.chains) {
    const [, expected = null] = Object.entries(options.genesis).find(([name]) => name === network) ?? [];
    if (expected === null || expected === genesis) continue;
    const key = `GENESIS_${network.toUpperCase()}`;
    throw new BackupError("OTHER_CHAIN", `The backup is of the chain ${genesis}, and ${key} is ${expected}.`);
  }
  const hasKeys = manifest.parts.some(({ path }) => path === keyPart);
  if (options.passphrase !== null && !hasKeys) {
    throw new BackupError("OTHER_KEY", "The backup holds no master key that a passphrase could open.");
  }
  const opened = options.passphrase === null ? null : openKeys(join(options.from, keyPart), options.passphrase);
  const own = [...options.masterKeys, ...(opened ?? [])].map(masterKeyId);
  const lacking = manifest.key_ids.filter((id) => id !== "unnamed" && !own.includes(id));
  if (lacking.length === 0) return opened;
  const present = options.masterKeys.length === 0 ? "none is set" : `set is ${options.masterKeys.map(masterKeyId)}`;
  throw new BackupError(
    "OTHER_KEY",
    `The backup needs the master key ${lacking.join(", ")}, and ${present}. Set MASTER_KEY or MASTER_KEY_PREVIOUS to it.`,
  );
}

function writeKeys([present = "", ...others]: readonly string[], { keyOut }: RestoreBackupOptions): void {
  if (keyOut === null) return;
  const previous = others.length === 0 ? "" : `MASTER_KEY_PREVIOUS=${others.join(",")}\n`;
  try {
    writeFileSync(keyOut, `MASTER_KEY=${present}\n${previous}`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    throw new BackupError("TARGET", `The file ${keyOut} cannot be written: ${fileFaultOf(error)?.cause ?? error}.`);
  }
}

function partsOf({ ledger }: Manifest, options: RestoreBackupOptions): string[] {
  return [
    ...(options.databaseUrl === null ? [folders.state] : []),
    ...(options.hasLedgerElsewhere || !ledger ? [] : [folders.ledger]),
    folders.credits,
    folders.facts,
  ];
}

function leftOut({ ledger }: Manifest, { hasLedgerElsewhere }: RestoreBackupOptions): string[] {
  if (hasLedgerElsewhere) return ["the ledger, which is in ClickHouse: restore it there"];
  return ledger ? [] : ["the ledger, which the backup does not have"];
}

/** A state folder with a lock alone is empty. */
function isFilled(directory: string): boolean {
  if (!existsSync(directory)) return false;
  return readdirSync(directory).some((name) => !name.startsWith("state.lock") && name !== "state.pid");
}

interface Plan {
  readonly manifest: Manifest;
  readonly id: string;
  readonly parts: readonly string[];
}

/** Prepares everything in a folder of its own and, as its last act, decides. */
async function stage(plan: Plan, options: RestoreBackupOptions, dependencies: RestoreDependencies): Promise<void> {
  const { manifest, id, parts } = plan;
  const { from, dataDirectory, databaseUrl, network, replace } = options;
  const staging = stagingOf(dataDirectory);
  for (const part of parts) mkdirSync(join(staging, part), { recursive: true, mode: 0o700 });
  if (parts.includes(folders.ledger)) {
    const target = {
      directory: join(staging, folders.ledger),
      archive: join(from, ledgerPart),
      network,
      confinement: options.ledgerConfinement,
    };
    await restoreLedger(target, dependencies);
  }
  copyParts(manifest, { from, staging });
  const journal = { id, database: databaseUrl !== null, parts };
  // Before PostgreSQL commits, so that whoever comes next learns from it what was decided.
  if (databaseUrl !== null) writeJournal(dataDirectory, journal);
  const directory = join(staging, folders.state);
  const { schema } = manifest;
  await restoreState({ directory, databaseUrl, network, schema, replace, id }, readLines(join(from, statePart)), {
    ...dependencies,
  });
  if (databaseUrl !== null) return;
  syncPath(directory);
  syncPath(staging);
  writeJournal(dataDirectory, journal);
}

/** Waiting records lie in the folder of a process that has ended; the next one takes them over. */
const factsHolder = "restored";

function copyParts({ parts }: Manifest, { from, staging }: { readonly from: string; readonly staging: string }): void {
  for (const { path } of parts) {
    const [folder = "", name] = path.split("/");
    if (name === undefined) continue;
    const isFacts = folder === folders.facts;
    const target = isFacts ? join(staging, folder, factsHolder) : join(staging, folder);
    mkdirSync(target, { recursive: true, mode: 0o700 });
    if (isFacts) writeFileSync(`${target}.lock`, "", { mode: 0o600 });
    copyFileSync(join(from, path), join(target, name));
    syncPath(join(target, name));
    syncPath(target);
  }
  for (const folder of [folders.credits, folders.facts]) syncPath(join(staging, folder));
}

function explained(error: unknown, directory: string): unknown {
  if (error instanceof BackupError || error instanceof StateError) return error;
  const fault = fileFaultOf(error);
  if (fault === null) return error;
  return new BackupError(
    "TARGET",
    `The backup cannot be restored into ${directory}: ${fault.cause}. Nothing was changed.`,
  );
}
