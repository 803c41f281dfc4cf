import { createHash } from "node:crypto";
import { createReadStream, lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CodedError } from "@sluice/contract/errors";

export type BackupCode = "TARGET" | "DAMAGED" | "OTHER_KEY" | "OTHER_CHAIN" | "IN_USE" | "NOT_EMPTY" | "NEWER";

/** A backup that is not written, or not restored, with a sentence for the operator. What was there is untouched. */
export class BackupError extends CodedError<BackupCode> {
  constructor(code: BackupCode, message: string) {
    super(code, { message, details: {} });
  }
}

/** One file of a backup. */
export interface BackupPart {
  /** Below the backup's directory, with `/` between. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

export interface Manifest {
  readonly form: typeof manifestForm;
  /** Of the program that wrote it. */
  readonly version: string;
  /** The migrations of the state, by number. */
  readonly schema: readonly number[];
  /** When it was written, ISO 8601. */
  readonly at: string;
  /** NETWORK_DEFAULT. */
  readonly network: string;
  /** The chains that the state knew. */
  readonly chains: readonly { readonly network: string; readonly genesis: string }[];
  /** Ids of the master keys without which its secrets cannot be read. */
  readonly key_ids: readonly string[];
  /** Whether the ledger is in it; a cluster's is not. */
  readonly ledger: boolean;
  readonly parts: readonly BackupPart[];
}

export const manifestForm = "sluice backup 1";
export const manifestName = "manifest.json";
export const statePart = "state.jsonl";
export const ledgerPart = "ledger.tar";
export const keyPart = "master-key.json";
const manifestBytesMax = 64 * 1024 * 1024;

/** The only names that a part has: nothing else of a manifest becomes a path. */
const partForm =
  /^(?:state\.jsonl|ledger\.tar|master-key\.json|credits\/[a-z0-9-]{1,40}-[0-9a-f]{24}\.advances|ledger-queue\/\d{20}-\d{1,7}\.facts)$/;

const digestOf = (content: Manifest): string => createHash("sha256").update(JSON.stringify(content)).digest("hex");

export function manifestText(manifest: Manifest): string {
  return `${JSON.stringify({ ...manifest, sha256: digestOf(manifest) }, null, 2)}\n`;
}

function damaged(what: string): BackupError {
  return new BackupError("DAMAGED", `The backup is damaged: ${what}. Nothing was changed.`);
}

/**
 * Reads the manifest of a backup.
 *
 * @throws {BackupError} DAMAGED, NEWER
 */
export function readManifest(directory: string): Manifest {
  const path = join(directory, manifestName);
  let text: string;
  try {
    if (lstatSync(path).size > manifestBytesMax) throw damaged(`${manifestName} is too large`);
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof BackupError) throw error;
    throw damaged(`${path} cannot be read, which is written last: it is no whole backup`);
  }
  const { sha256, ...content } = parse(text);
  if (content["form"] !== manifestForm) {
    const form = String(content["form"]).slice(0, 100);
    throw new BackupError("NEWER", `The backup has the form "${form}"; this version reads "${manifestForm}".`);
  }
  if (!isManifest(content)) throw damaged(`${manifestName} is not as it was written`);
  const odd = content.parts.find((part) => !partForm.test(part.path));
  if (odd !== undefined) throw damaged(`${manifestName} names a file that no backup has: ${JSON.stringify(odd.path)}`);
  if (digestOf(content) !== sha256) throw damaged(`${manifestName} is not as it was written`);
  return content;
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // Told below.
  }
  throw damaged(`${manifestName} is no JSON`);
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function isManifest(value: Readonly<Record<string, unknown>>): value is Readonly<Record<string, unknown>> & Manifest {
  const { version, schema, at, network, chains, key_ids: keyIds, ledger, parts } = value;
  const texts = [version, at, network].every((text) => typeof text === "string");
  if (!texts || typeof ledger !== "boolean") return false;
  if (!Array.isArray(schema) || !schema.every(Number.isSafeInteger)) return false;
  if (!Array.isArray(chains) || !Array.isArray(keyIds) || !Array.isArray(parts)) return false;
  const areChains = chains.every(
    (each: unknown) => isObject(each) && typeof each["network"] === "string" && typeof each["genesis"] === "string",
  );
  return areChains && keyIds.every((id: unknown) => typeof id === "string") && parts.every(isPart);
}

function isPart(value: unknown): value is BackupPart {
  if (!isObject(value)) return false;
  const { path, bytes, sha256 } = value;
  return typeof path === "string" && Number.isSafeInteger(bytes) && typeof sha256 === "string";
}

/** Length and SHA-256 of a file. */
export async function measure(path: string): Promise<{ readonly bytes: number; readonly sha256: string }> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const piece of createReadStream(path, { highWaterMark: 1024 * 1024 })) {
    const chunk = piece as Buffer;
    hash.update(chunk);
    bytes += chunk.byteLength;
  }
  return { bytes, sha256: hash.digest("hex") };
}

/**
 * Reads every part and compares it with the manifest.
 *
 * @throws {BackupError} DAMAGED, with the part
 */
export async function verifyParts(directory: string, { parts, ledger }: Manifest): Promise<void> {
  const names = new Set(parts.map(({ path }) => path));
  if (names.size !== parts.length || !names.has(statePart) || names.has(ledgerPart) !== ledger) {
    throw damaged(`${manifestName} lacks a part, or has one twice`);
  }
  for (const part of parts) {
    const path = join(directory, part.path);
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isFile() !== true) throw damaged(`${part.path} is missing`);
    if (found.size !== part.bytes) throw damaged(`${part.path} has ${found.size} bytes, not ${part.bytes}`);
    if ((await measure(path)).sha256 !== part.sha256) throw damaged(`${part.path} is not as it was written`);
  }
}
