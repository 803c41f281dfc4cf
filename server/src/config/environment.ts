import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { ConfigFault } from "./faults.ts";
import type { Mode } from "./keys.ts";
import { type ConfigInput, type ConfigOutcome, loadConfig } from "./load.ts";
import { show } from "./masking.ts";
import type { FlagValues } from "./sources.ts";
import { checkStoreFiles } from "./store-files.ts";

/** Read from the working directory when neither `--config` nor SLUICE_CONFIG names a file. */
const usualFile = "sluice.toml";
/** A file of settings that is larger than this is something else. */
const fileBytesMax = 1024 * 1024;

/** The variables of this process: the only place that reads them. */
export function readEnvironment(): Readonly<Record<string, string | undefined>> {
  return { ...process.env };
}

/** The text of a file, or a fault that says why it cannot be read. */
function readSettingsFile(path: string): { readonly text: string } | { readonly fault: ConfigFault } {
  try {
    const { size } = statSync(path);
    if (size <= fileBytesMax) return { text: readFileSync(path, "utf8") };
  } catch {
    // The fault below has all that an operator needs: the path, and that it must be readable.
  }
  const expected = `a readable file of at most ${fileBytesMax} bytes`;
  return { fault: { key: "SLUICE_CONFIG", source: "file", given: show(path, "open"), expected, suggestion: null } };
}

/** A configuration whose files are there as well. */
function withFiles(outcome: ConfigOutcome): ConfigOutcome {
  const faults = outcome.ok ? checkStoreFiles(outcome.config) : [];
  return faults.length === 0 ? outcome : { ok: false, faults };
}

/**
 * Reads the environment (this process's unless another is given), the file that `--config` or SLUICE_CONFIG names, else
 * `sluice.toml` of the working directory where there is one, and the flags. A file that cannot be read is one fault
 * among the others; the files that the settings themselves name are looked at last.
 */
export function loadConfigFromProcess(options: {
  readonly mode: Mode;
  readonly flags?: FlagValues;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The working directory; that of this process when absent. */
  readonly directory?: string;
}): ConfigOutcome {
  const env = options.env ?? readEnvironment();
  const input: ConfigInput = {
    mode: options.mode,
    env,
    ...(options.flags === undefined ? {} : { flags: options.flags }),
  };
  const named = String(options.flags?.["config"] ?? env["SLUICE_CONFIG"] ?? "").trim();
  const usual = join(options.directory ?? ".", usualFile);
  const foundFile = named === "" && existsSync(usual) ? usual : null;
  const path = foundFile ?? named;
  if (path === "") return withFiles(loadConfig(input));
  const file = readSettingsFile(path);
  if ("text" in file) return withFiles(loadConfig({ ...input, tomlText: file.text, foundFile }));
  const outcome = loadConfig(input);
  return { ok: false, faults: [file.fault, ...(outcome.ok ? [] : outcome.faults)] };
}
