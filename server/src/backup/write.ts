import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Network, networks } from "@sluice/contract/tiers";
import { type Clock, fileFaultOf, masterKeyId, type Random, SecretVault, sealedUnder } from "@sluice/lib";
import type { Ledger } from "../ledger/index.ts";
import type { State, StoredSecret } from "../state/index.ts";
import { syncPath, writeLines } from "./files.ts";
import { sealKeys } from "./key-file.ts";
import {
  BackupError,
  type BackupPart,
  keyPart,
  ledgerPart,
  type Manifest,
  manifestForm,
  manifestName,
  manifestText,
  measure,
  statePart,
} from "./manifest.ts";

export interface WriteOptions {
  /** A directory that is empty or is made. */
  readonly to: string;
  /** Of the server. */
  readonly dataDirectory: string;
  readonly version: string;
  readonly network: Network;
  /** 64 hexadecimal digits each, the present one first. */
  readonly masterKeys: readonly string[];
  /** Puts the master keys into the backup, under this; null leaves them out. */
  readonly passphrase: string | null;
}

export interface WriteDependencies {
  readonly state: Pick<State, "snapshot" | "chains" | "secrets">;
  readonly ledger: Pick<Ledger, "archive"> & { readonly requests: Pick<Ledger["requests"], "flush"> };
  readonly clock: Pick<Clock, "now">;
  readonly random: Random;
}

export interface BackupResult {
  readonly directory: string;
  readonly at: string;
  readonly bytes: number;
  readonly parts: number;
  readonly key_ids: readonly string[];
  /** What is not in it and why, in words. */
  readonly left_out: readonly string[];
}

/**
 * Writes a backup while the server goes on. Advances of credits and waiting records of requests come first and the
 * ledger last: what moves from one place to another meanwhile is in the backup once or twice, and what is there twice
 * counts once (docs/decisions/0046). The manifest is written last; without it there is no backup.
 *
 * @throws {BackupError} TARGET where the directory cannot be used; nothing is left there when it fails
 */
export async function writeBackup(options: WriteOptions, dependencies: WriteDependencies): Promise<BackupResult> {
  const { to } = options;
  const isNew = makeTarget(to);
  try {
    return await writeParts(options, dependencies);
  } catch (error) {
    for (const name of readdirSync(to)) rmSync(join(to, name), { recursive: true, force: true });
    if (isNew) rmSync(to, { recursive: true, force: true });
    const fault = fileFaultOf(error);
    if (fault === null) throw error;
    throw new BackupError("TARGET", `The backup cannot be written to ${to}: ${fault.cause}. Nothing was left there.`);
  }
}

/** Whether it was made. */
function makeTarget(to: string): boolean {
  const isNew = !existsSync(to);
  try {
    mkdirSync(to, { recursive: true, mode: 0o700 });
    if (readdirSync(to).length === 0) return isNew;
  } catch (error) {
    const cause = fileFaultOf(error)?.cause ?? String(error);
    throw new BackupError("TARGET", `The backup cannot be written to ${to}: ${cause}.`);
  }
  throw new BackupError("TARGET", `The directory ${to} is not empty: a backup has one of its own.`);
}

async function writeParts(options: WriteOptions, dependencies: WriteDependencies): Promise<BackupResult> {
  const { to, dataDirectory, version, network, masterKeys, passphrase } = options;
  const { state, ledger, clock, random } = dependencies;
  const at = new Date(clock.now()).toISOString();
  copyFiles(join(dataDirectory, "credits"), join(to, "credits"), /\.advances$/);
  copyFacts(join(dataDirectory, "ledger-queue"), join(to, "ledger-queue"));
  const schema = await state.snapshot(join(to, "state.partial"), async (snapshot) => {
    await writeLines(join(to, statePart), snapshot.lines());
    return snapshot.schema;
  });
  if (ledger.archive !== null) {
    await ledger.requests.flush();
    await ledger.archive(join(to, ledgerPart));
    syncPath(join(to, ledgerPart));
  }
  if (passphrase !== null) {
    writeFileSync(join(to, keyPart), sealKeys(masterKeys, passphrase, random), { mode: 0o600, flush: true });
  }
  const chains = await Promise.all(networks.map(async (name) => ({ name, chain: await state.chains.find(name) })));
  const manifest: Manifest = {
    form: manifestForm,
    version,
    schema,
    at,
    network,
    chains: chains.flatMap(({ name, chain }) => (chain === null ? [] : [{ network: name, genesis: chain.genesis }])),
    key_ids: await keyIds(state.secrets, masterKeys, random),
    ledger: ledger.archive !== null,
    parts: await partsOf(to),
  };
  seal(to, manifest);
  return {
    directory: to,
    at,
    bytes: manifest.parts.reduce((sum, { bytes }) => sum + bytes, 0),
    parts: manifest.parts.length,
    key_ids: manifest.key_ids,
    left_out: leftOut(manifest, passphrase !== null),
  };
}

function leftOut({ ledger }: Manifest, hasKey: boolean): string[] {
  return [
    ...(ledger ? [] : ["the ledger, which is in ClickHouse: back it up there (BACKUP DATABASE … ON CLUSTER …)"]),
    ...(hasKey ? [] : ["the master key: keep it elsewhere"]),
  ];
}

function seal(to: string, manifest: Manifest): void {
  const path = join(to, manifestName);
  writeFileSync(`${path}.partial`, manifestText(manifest), { mode: 0o600, flush: true });
  renameSync(`${path}.partial`, path);
  for (const folder of ["credits", "ledger-queue"].map((name) => join(to, name))) {
    if (existsSync(folder)) syncPath(folder);
  }
  syncPath(to);
  syncPath(dirname(to));
}

async function partsOf(to: string): Promise<BackupPart[]> {
  const found: BackupPart[] = [];
  for (const path of readdirSync(to, { recursive: true, withFileTypes: true })) {
    if (!path.isFile()) continue;
    const whole = join(path.parentPath, path.name);
    found.push({ path: whole.slice(to.length).replace(/^\/+/, ""), ...(await measure(whole)) });
  }
  return found.toSorted((one, other) => (one.path < other.path ? -1 : 1));
}

const namesIn = (folder: string): readonly string[] => (existsSync(folder) ? readdirSync(folder) : []);

/** Files that are gone by then were done with. */
function copyFiles(from: string, to: string, form: RegExp): void {
  for (const name of namesIn(from).filter((each) => form.test(each))) {
    mkdirSync(to, { recursive: true, mode: 0o700 });
    try {
      copyFileSync(join(from, name), join(to, name));
      syncPath(join(to, name));
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
    }
  }
}

/** Each process has a folder there; the names of batches are unique over all of them. */
function copyFacts(from: string, to: string): void {
  for (const holder of namesIn(from).filter((name) => !name.endsWith(".lock"))) {
    copyFiles(join(from, holder), to, /^\d{20}-\d{1,7}\.facts$/);
  }
}

const pageSize = 1_000;

/** The master keys that nodes are sealed under; keys of encrypted bundles are not in a backup. */
async function keyIds(secrets: State["secrets"], masterKeys: readonly string[], random: Random): Promise<string[]> {
  const found = new Set<string>();
  for (let after: StoredSecret | null = null; ; ) {
    const page: readonly StoredSecret[] = await secrets.list(after, pageSize);
    for (const { kind, secretId, stored } of page) {
      if (kind !== "node" || stored[0] === 0) continue;
      const opens = (key: string): boolean => new SecretVault(key, random).unwrap(secretId, stored) !== null;
      const key = sealedUnder(stored) === null ? masterKeys.find(opens) : undefined;
      found.add(sealedUnder(stored) ?? (key === undefined ? "unnamed" : masterKeyId(key)));
    }
    after = page.at(-1) ?? null;
    if (after === null || page.length < pageSize) return [...found].toSorted();
  }
}
