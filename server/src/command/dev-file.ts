import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { platformTiers } from "@sluice/contract/tiers";
import type { DevKeys } from "./dev-accounts.ts";
import { CommandFailure } from "./terminal.ts";

/** Every endpoint that a development server may have. */
export const devEndpoints = [
  "rpc",
  "pubsub",
  "ws",
  "engineRest",
  "engineGrpc",
  "engineGrpcTls",
  "oracle",
  "resolver",
  "yellowstone",
  "metrics",
] as const;
export type DevEndpoint = (typeof devEndpoints)[number];

/** The content of `.sluice/dev.json`, for programs: the endpoints and the keys. Stored, so `doors` keeps its name. */
export interface DevFile {
  /** The Enterprise key. */
  readonly key: string;
  readonly keys: DevKeys;
  readonly doors: Readonly<Record<DevEndpoint, string | null>>;
  /** Where the devnet_* methods of the development chain are answered; null without one. */
  readonly chainAdmin: string | null;
  /** Where faults of the development market are set; null without one. */
  readonly marketAdmin: string | null;
  /** The process that wrote the file. */
  readonly pid: number;
}

const pathIn = (directory: string): string => join(directory, "dev.json");

/**
 * The keys of the file of an earlier run; none when it is absent.
 * @throws {CommandFailure} when it is damaged: new keys in its place would shut out every client without a word
 */
export function readDevKeys(directory: string): Partial<DevKeys> {
  const path = pathIn(directory);
  if (!existsSync(path)) return {};
  const file = keysIn(readFileSync(path, "utf8"));
  if (file === null) {
    throw new CommandFailure(
      `${path} is damaged: it holds no keys in JSON. Remove it to have new keys made for the same accounts, ` +
        "or start over with --fresh.",
    );
  }
  const keys = platformTiers.flatMap((tier): [string, string][] => {
    const key: unknown = Reflect.get(file, tier);
    return typeof key === "string" ? [[tier, key]] : [];
  });
  return Object.fromEntries(keys);
}

function keysIn(text: string): object | null {
  try {
    const keys: unknown = JSON.parse(text)?.keys;
    return typeof keys === "object" && keys !== null ? keys : null;
  } catch {
    return null;
  }
}

/** Written aside and renamed, so that a reader never sees half of it; mode 0600, since it holds keys. */
export function writeDevFile(directory: string, file: DevFile): void {
  const aside = `${pathIn(directory)}.${file.pid}`;
  writeFileSync(aside, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 });
  renameSync(aside, pathIn(directory));
}

/** Removes the files of earlier runs, and no others. */
export function forgetEverything(directory: string, parts: readonly string[]): void {
  for (const part of ["dev.json", ...parts]) {
    const path = join(directory, part);
    if (existsSync(path)) rmSync(path, { recursive: true, force: true });
  }
}
