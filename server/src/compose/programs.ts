import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { IdlFault, type IdlProgram, IdlPrograms, idlLimits, noPrograms, readIdl } from "@sluice/parser";
import { isAddress } from "@sluice/wire/identifiers";
import type { Config } from "../config/index.ts";
import { StartRefusedError } from "./start-refused.ts";

const filesMax = 500;
const ending = ".json";

/**
 * The programs that the operator's files describe; none without a directory.
 *
 * @throws {StartRefusedError} PROGRAM_FILES with the file, and the path in it, that cannot be read
 */
export function readPrograms({ programIdls: directory }: Pick<Config, "programIdls">): IdlPrograms {
  if (directory === null) return noPrograms;
  const programs: IdlProgram[] = [];
  const files = new Map<string, string>();
  for (const name of namesIn(directory)) {
    const file = join(directory, name);
    for (const program of programsOf(file, name)) {
      const before = files.get(program.address);
      if (before !== undefined) throw refused(file, `describes ${program.address}, as ${before} does`);
      files.set(program.address, file);
      programs.push(program);
    }
  }
  return new IdlPrograms(programs);
}

function namesIn(directory: string): string[] {
  const names = attempt(directory, () => readdirSync(directory)).filter((name) => name.endsWith(ending));
  if (names.length > filesMax) throw refused(directory, `has more than ${filesMax} files`);
  return names.sort();
}

function programsOf(file: string, name: string): readonly IdlProgram[] {
  const stem = name.slice(0, -ending.length);
  const text = attempt(file, () => {
    if (statSync(file).size > idlLimits.bytes) throw new IdlFault("", `must have at most ${idlLimits.bytes} bytes`);
    return readFileSync(file, "utf8");
  });
  return attempt(file, () => readIdl(text, isAddress(stem) ? stem : null));
}

function attempt<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw refused(file, error instanceof Error ? error.message : String(error));
  }
}

const refused = (file: string, problem: string): StartRefusedError =>
  new StartRefusedError("PROGRAM_FILES", `PROGRAM_IDLS: ${file}: ${problem}`);
