import { type Config, type FlagValues, formatFaults, loadConfigFromProcess, type Mode } from "../config/index.ts";
import { CommandFailure } from "./terminal.ts";

/** The configuration of this command, or a failure that names every fault of it. */
export function configOrFail(mode: Mode, flags: FlagValues): Config {
  const outcome = loadConfigFromProcess({ mode, flags });
  if (!outcome.ok) throw new CommandFailure(formatFaults(outcome.faults));
  return outcome.config;
}
