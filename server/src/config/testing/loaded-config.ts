import type { Config } from "../config.ts";
import { type ConfigFault, formatFaults } from "../faults.ts";
import { type ConfigInput, loadConfig } from "../load.ts";

/** A valid MASTER_KEY. */
export const masterKey = "0123456789abcdef".repeat(4);

/** The configuration of an input; a fault is an error. */
export function load(input: Partial<ConfigInput>): Config {
  const outcome = loadConfig({ mode: "dev", env: {}, ...input });
  if (!outcome.ok) throw new Error(formatFaults(outcome.faults));
  return outcome.config;
}

/** The faults of an input: none when it is valid. */
export function faultsOf(input: Partial<ConfigInput>): readonly ConfigFault[] {
  const outcome = loadConfig({ mode: "dev", env: {}, ...input });
  return outcome.ok ? [] : outcome.faults;
}
