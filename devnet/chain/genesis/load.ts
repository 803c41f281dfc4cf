import { dirname, resolve } from "node:path";
import { CodedError } from "@sluice/contract/errors";
import type { AccountWrite } from "@sluice/svm/bank";
import { nameServices } from "@sluice/wire/name-services";
import { programs } from "@sluice/wire/programs";
import { assembledPrograms } from "../programs/index.ts";
import { type AccountFileRequest, readAccountDirectory, readAccountFile } from "./account-files.ts";
import { type BuiltGenesis, buildGenesis, defaultGenesis } from "./build.ts";
import { type Ask, type CloneRequest, cloneAccounts } from "./clone.ts";

import { mergeAccounts, programAccounts } from "./elf-accounts.ts";
import { type GenesisFile, genesisFileBytesMax, parseGenesisFile } from "./file.ts";
import { readBounded } from "./files.ts";
import { GenesisLedger } from "./ledger.ts";
import type { Fault } from "./shapes.ts";

/** A program's file is at most as long as an account. */
const programFileBytesMax = 10 * 1_024 * 1_024;
const elfMagic = Buffer.from([0x7f, 0x45, 0x4c, 0x46]);

/** A program to load at the start. */
export interface ProgramRequest {
  readonly address: string;
  readonly path: string;
}

export interface GenesisSources {
  /** Path of a genesis file; null takes the one that ships with the chain. */
  readonly genesisPath: string | null;
  readonly clones: readonly CloneRequest[];
  readonly programs: readonly ProgramRequest[];
  readonly accountFiles: readonly AccountFileRequest[];
  /** Directories of account files. */
  readonly accountDirectories: readonly string[];
}

/** How a program that the chain begins with does what it does. */
type ProgramKind =
  /** The real program. */
  | "real"
  /** Written for this chain; it runs, and does what its layouts say. */
  | "assembled"
  /** Its accounts are there as if it had run; it cannot be called. */
  | "effect"
  /** Handed in: by a genesis file, --clone or --program. */
  | "given";

/** The accounts of genesis besides those of the machine and the validators. */
export interface GenesisDescription extends Omit<BuiltGenesis, "accounts"> {
  /** Programs last, behind their files. */
  readonly accounts: readonly AccountWrite[];
  /** Kinds of the programs among the accounts. */
  readonly programKinds: ReadonlyMap<string, ProgramKind>;
}

/** The faults of what a chain was to begin with, all that were found. */
export class GenesisFaults extends CodedError<"GENESIS_INVALID", { readonly faults: readonly string[] }> {
  constructor(faults: readonly string[]) {
    super("GENESIS_INVALID", { message: faults.join("; "), details: { faults } });
  }

  get faults(): readonly string[] {
    return this.details.faults;
  }
}

function readElf(path: string): Uint8Array | string {
  try {
    const elf = new Uint8Array(readBounded(path, programFileBytesMax));
    return elfMagic.equals(elf.subarray(0, 4)) ? elf : `${path} is no ELF file`;
  } catch (error) {
    return `${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function readGenesis(path: string): { file: GenesisFile; built: BuiltGenesis } | readonly string[] {
  const refused = (faults: readonly Fault[]) =>
    faults.map(({ path: at, message }) => `${path}: ${at === "" ? "the file" : at}: ${message}`);
  let text: string;
  try {
    text = readBounded(path, genesisFileBytesMax).toString("utf8");
  } catch (error) {
    return [`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`];
  }
  const parsed = parseGenesisFile(text);
  if (!parsed.ok) return refused(parsed.faults);
  const build = buildGenesis(parsed.file);
  return build.ok ? { file: parsed.file, built: build.built } : refused(build.faults);
}

/** The programs that a genesis file names, from files beside it. */
function filePrograms(file: GenesisFile, path: string, faults: string[]): AccountWrite[] {
  const ledger = new GenesisLedger(file);
  return file.programs.flatMap(({ address, file: elfPath, loader, authority }, index) => {
    const elf = readElf(resolve(dirname(path), elfPath));
    if (typeof elf !== "string")
      return programAccounts(address, elf, { loader, authority: ledger.keyOrNull(authority) });
    faults.push(`${path}: programs[${index}].file: ${elf}`);
    return [];
  });
}

function describe(built: BuiltGenesis, given: readonly AccountWrite[]): GenesisDescription {
  const own = assembledPrograms();
  const assembled = own.flatMap(({ address, elf }) => programAccounts(address, elf));
  const accounts = mergeAccounts(assembled, built.accounts, given);
  const programKinds = new Map<string, ProgramKind>(own.map(({ address }) => [address, "assembled"]));
  const names = nameServices.find(({ label }) => label === "devnet");
  for (const address of [names?.nameProgram, names?.handleProgram]) {
    if (address !== undefined && address !== null) programKinds.set(address, "effect");
  }
  for (const { address, account } of given) if (account?.executable === true) programKinds.set(address, "given");
  return { ...built, accounts, programKinds };
}

let standard: GenesisDescription | null = null;

/** The default accounts of a chain; the same every time. */
export function standardGenesis(): GenesisDescription {
  standard ??= describe(defaultGenesis(), []);
  return standard;
}

/**
 * Reads everything that a chain is to begin with: the genesis file, then what is cloned, then account files, then
 * programs, each in place of what was there before. Throws GenesisFaults with all faults.
 */
export async function loadGenesis(sources: GenesisSources, ask: Ask): Promise<GenesisDescription> {
  const faults: string[] = [];
  const { genesisPath } = sources;
  const read = genesisPath === null ? null : readGenesis(genesisPath);
  if (read !== null && !("built" in read)) faults.push(...read);
  const own =
    read !== null && "built" in read && genesisPath !== null ? filePrograms(read.file, genesisPath, faults) : [];
  const clones = await Promise.all(sources.clones.map((request) => cloneAccounts(request, ask)));
  for (const clone of clones) if (!clone.ok) faults.push(...clone.faults);
  const loaded = sources.programs.flatMap(({ address, path }) => {
    const elf = readElf(path);
    if (typeof elf !== "string") return programAccounts(address, elf);
    faults.push(`--program ${address}: ${elf}`);
    return [];
  });
  const files = [
    ...sources.accountDirectories.flatMap((directory) => readAccountDirectory(directory, faults)),
    ...sources.accountFiles.flatMap((request) => readAccountFile(request, faults)),
  ];
  if (faults.length > 0) throw new GenesisFaults(faults);
  const cloned = clones.flatMap((clone) => (clone.ok ? clone.accounts : []));
  const given = [...own, ...cloned, ...files, ...loaded];
  const built = read !== null && "built" in read ? read.built : null;
  if (built === null && given.length === 0) return standardGenesis();
  return describe(built ?? defaultGenesis(), given);
}

const loaders: ReadonlySet<string> = new Set([
  programs.bpfLoaderDeprecated,
  programs.bpfLoader,
  programs.bpfLoaderUpgradeable,
  programs.loaderV4,
]);

/** Whether the machine reads a program from this account. */
export function isLoaded({ account }: AccountWrite): boolean {
  return account?.executable === true && loaders.has(account.owner);
}

/**
 * The account as the machine takes it, which refuses an executable one that no loader owns. Without the flag it cannot
 * be called either.
 */
export function forMachine({ address, account }: AccountWrite): AccountWrite {
  const owned = account === null || loaders.has(account.owner) || account.owner === programs.nativeLoader;
  return { address, account: owned ? account : { ...account, executable: false } };
}
