import type { Command } from "commander";
import {
  type Config,
  type ConfigOutcome,
  type FlagValues,
  formatFaults,
  loadConfigFromProcess,
  type Mode,
} from "../config/index.ts";
import { type ManagementMethod, openManagement } from "./management-client.ts";
import { CommandFailure, type Terminal } from "./terminal.ts";

type Options = Readonly<Record<string, unknown>>;

/** What every command shares: its configuration, the way to the server, and how an answer is printed. */
export class CommandContext {
  readonly terminal: Terminal;

  constructor(terminal: Terminal) {
    this.terminal = terminal;
  }

  /** A command with the options that all of them have. */
  command(parent: Command, name: string, description: string): Command {
    return parent
      .command(name)
      .description(description)
      .option("--config <file>", "a TOML file of settings")
      .option("--data-dir <directory>", "the directory of the embedded stores")
      .option("--json", "print JSON");
  }

  config(options: Options, mode: Mode = "dev"): Config {
    return configOrFail(mode, flagsOf(options));
  }

  /** What the command's configuration says now. */
  readConfig(options: Options, mode: Mode = "dev"): ConfigOutcome {
    return loadConfigFromProcess({ mode, flags: flagsOf(options) });
  }

  async manage(options: Options, method: ManagementMethod, path: string, body?: unknown): Promise<unknown> {
    await using client = await openManagement(this.config(options));
    return await client.call(method, path, body);
  }

  print(options: Options, value: unknown, text: () => string): void {
    this.terminal.out(options["json"] === true ? JSON.stringify(value, null, 2) : text());
  }
}

/** The options that are settings, by the names that config knows. */
const settings = ["config", "dataDir", "portOffset", "bind", "logLevel", "roles", "oracle"] as const;

export function flagsOf(options: Options): FlagValues {
  const given = settings.flatMap((name): [string, string][] => {
    const value = options[name];
    return typeof value === "string" ? [[name, value]] : [];
  });
  return Object.fromEntries(given);
}

/** @throws {CommandFailure} with all faults of the configuration */
function configOrFail(mode: Mode, flags: FlagValues): Config {
  const outcome = loadConfigFromProcess({ mode, flags });
  if (!outcome.ok) throw new CommandFailure(formatFaults(outcome.faults));
  return outcome.config;
}
