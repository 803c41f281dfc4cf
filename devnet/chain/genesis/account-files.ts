import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { AccountWrite } from "@sluice/svm/bank";
import { parseJsonExact } from "@sluice/wire/json";
import { accountEntry, accountOf } from "./account-entry.ts";
import { genesisFileBytesMax } from "./file.ts";
import { readBounded } from "./files.ts";
import { Reading } from "./shapes.ts";

/** Account files of one directory at most. */
const filesMax = 100_000;

/** An account to load from a file. */
export interface AccountFileRequest {
  /** Where it stands; null takes the address that the file names. */
  readonly address: string | null;
  readonly path: string;
}

const reason = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The account of a file; its errors are added to `faults`. */
export function readAccountFile({ address, path }: AccountFileRequest, faults: string[]): readonly AccountWrite[] {
  let text: string;
  try {
    text = readBounded(path, genesisFileBytesMax).toString("utf8");
  } catch (error) {
    faults.push(`${path} cannot be read: ${reason(error)}`);
    return [];
  }
  const json = parseJsonExact(text);
  const reading = new Reading();
  const entry = json.ok
    ? accountEntry.read(json.value, "", reading)
    : reading.fault("", `is no JSON from character ${json.offset} on`);
  for (const fault of reading.faults)
    faults.push(`${path}: ${fault.path === "" ? "the file" : fault.path}: ${fault.message}`);
  return entry === undefined ? [] : [{ address: address ?? entry.address, account: accountOf(entry) }];
}

/** The accounts of all files of a directory whose names end in `.json`, in the order of their names. */
export function readAccountDirectory(directory: string, faults: string[]): readonly AccountWrite[] {
  let names: readonly string[];
  try {
    names = readdirSync(directory)
      .filter((name) => name.endsWith(".json"))
      .sort();
  } catch (error) {
    faults.push(`${directory} cannot be read: ${reason(error)}`);
    return [];
  }
  if (names.length > filesMax) {
    faults.push(`${directory} has more than ${filesMax} files`);
    return [];
  }
  return names.flatMap((name) => readAccountFile({ address: null, path: join(directory, name) }, faults));
}
