import type { Command } from "commander";
import {
  type Config,
  type ConfigOutcome,
  type FlagValues,
  findHostFaults,
  formatFaults,
  loadConfigFromProcess,
  type Mode,
} from "../config/index.ts";
import { type ManagementMethod, openManagement } from "./management-client.ts";
import { CommandFailure, type Terminal } from "./terminal.ts";

type Options = Readonly<Record<string, unknown>>;

export interface ManagementCall {
  /** GET when absent. */
  readonly method?: ManagementMethod;
  readonly path: string;
  readonly body?: unknown;
  readonly migrates?: boolean;
}

/** Where commands run; this process's variables and working directory when absent. */
export interface Environment {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly directory?: string;
}

/** What every command shares: its configuration, the way to the server, and how an answer is printed. */
export class CommandContext {
  readonly terminal: Terminal;
  readonly #environment: Environment;

  constructor(terminal: Terminal, environment: Environment = {}) {
    this.terminal = terminal;
    this.#environment = environment;
  }

  /** A command with the options that all of them have. */
  command(
    parent: Command,
    name: string,
    description: string,
    terms: { readonly hidden?: boolean; readonly isDefault?: boolean } = {},
  ): Command {
    return parent
      .command(name, { hidden: terms.hidden === true, isDefault: terms.isDefault === true })
      .description(description)
      .option("--config <file>", "a TOML file of settings; ./sluice.toml where there is one")
      .option("--data-dir <directory>", "the directory of the embedded stores")
      .option("--json", "print JSON");
  }

  /** @throws {CommandFailure} with all faults of the configuration */
  config(options: Options, mode: Mode = "dev"): Config {
    const outcome = this.readConfig(options, mode);
    if (!outcome.ok) throw new CommandFailure(formatFaults(outcome.faults));
    return outcome.config;
  }

  /**
   * The configuration of a server that is about to open its endpoints, whose hosts were looked up.
   * @throws {CommandFailure} with all faults
   */
  async serverConfig(options: Options, mode: Mode): Promise<Config> {
    const config = this.config(options, mode);
    const faults = await findHostFaults(config);
    if (faults.length > 0) throw new CommandFailure(formatFaults(faults));
    return config;
  }

  /** What the command's configuration says now. */
  readConfig(options: Options, mode: Mode = "dev"): ConfigOutcome {
    return loadConfigFromProcess({ ...this.#environment, mode, flags: flagsOf(options) });
  }

  /** Asks the running server, or the stores when none runs. */
  async manage(options: Options, { method = "GET", path, body, migrates = false }: ManagementCall): Promise<unknown> {
    // Beside the answer, which may be JSON for a program.
    const dataSince = (since: string): void =>
      this.terminal.error(`sluice: records are kept from ${since} on; what lies before is not in this answer`);
    await using client = await openManagement(this.config(options), { migrates, flagOf, dataSince });
    return await client.call(method, path, body);
  }

  print(options: Options, value: unknown, text: () => string): void {
    this.terminal.out(options["json"] === true ? JSON.stringify(value, null, 2) : text());
  }
}

/** The options by which members of bodies and queries are typed. */
const flags: Readonly<Record<string, string>> = {
  account_id: "--account",
  "tiers.platform": "--tier",
  "tiers.oracle": "--oracle-tier",
  "tiers.oracle-v2": "--oracle-v2-tier",
  permissions: "--permission",
  "restrictions.networks": "--network",
  "restrictions.domains": "--domain",
  "restrictions.ipRanges": "--ip",
  expires_at: "--expires",
  overlap_seconds: "--overlap",
  group_by: "--by",
};

/** The option of a member such as `restrictions.ipRanges.0`; other members are named as their option is. */
function flagOf(member: string): string {
  const whole = member.replace(/\.\d+$/, "");
  return flags[whole] ?? (whole === "" ? "" : `--${whole.replaceAll(/[._]/g, "-")}`);
}

/** The options that are settings, by the names that config knows. */
const settings = ["config", "dataDir", "portOffset", "bind", "logLevel", "roles", "oracle", "workers"] as const;

export function flagsOf(options: Options): FlagValues {
  const given = settings.flatMap((name): [string, string][] => {
    const value = options[name];
    return typeof value === "string" ? [[name, value]] : [];
  });
  return Object.fromEntries(given);
}
