import { readFileSync } from "node:fs";
import { type BuiltGenesis, buildGenesis } from "./build.ts";
import { type GenesisFile, parseGenesisFile } from "./file.ts";

const path = new URL("./default.json", import.meta.url);

/** The genesis file that a chain begins with when it is given none. */
export function defaultGenesisFile(): GenesisFile {
  const parsed = parseGenesisFile(readFileSync(path, "utf8"));
  if (!parsed.ok) throw new Error(`the default genesis has faults: ${JSON.stringify(parsed.faults)}`);
  return parsed.file;
}

export function defaultGenesis(): BuiltGenesis {
  const build = buildGenesis(defaultGenesisFile());
  if (!build.ok) throw new Error(`the default genesis has faults: ${JSON.stringify(build.faults)}`);
  return build.built;
}
