import type { ReloadOutcome } from "@sluice/contract/schemas";
import { Command, Option } from "commander";
import { describeConfig, findHostFaults, formatFaults, version } from "../config/index.ts";
import { addAccountCommands } from "./accounts.ts";
import { addAssetCommands } from "./assets.ts";
import { addBackfillCommands } from "./backfill.ts";
import { addBackupCommands } from "./backup.ts";
import { addChainCommands } from "./chain.ts";
import { addCompletionCommand } from "./completion.ts";
import { CommandContext, type Environment, flagsOf } from "./context.ts";
import { addCreditCommands } from "./credits.ts";
import { addEngineCommands } from "./engine.ts";
import { addIngestCommands } from "./ingest.ts";
import { addKeyCommands } from "./keys.ts";
import { addLedgerCommands } from "./ledger.ts";
import { addMigrateCommand } from "./migrate.ts";
import { addOracleCommands } from "./oracle.ts";
import { addPoolCommands } from "./pool.ts";
import { addReparseCommands } from "./reparse.ts";
import { addReportCommands } from "./reports.ts";
import { addRequestCommands } from "./requests.ts";
import { addSearcherCommands } from "./searchers.ts";
import { addSecretCommands, masterKeyFault } from "./secrets.ts";
import { CommandFailure, type Terminal } from "./terminal.ts";
import { addUpstreamCommands } from "./upstreams.ts";
import { addWorkerCommands } from "./workers.ts";

/**
 * All commands of `sluice`. `dev` and `serve` resolve when their server has ended. What a server consists of is loaded
 * by the commands that run one or open its stores: loading it takes eight times as long as all else of a command.
 */
export function buildProgram(terminal: Terminal, environment: Environment = {}): Command {
  const context = new CommandContext(terminal, environment);
  const program = new Command("sluice")
    .description("Everything between a Solana-VM chain and the programs that use it.")
    .version(version)
    .showHelpAfterError()
    .configureOutput({
      writeOut: (text) => terminal.out(text.trimEnd()),
      writeErr: (text) => terminal.error(text.trimEnd()),
    });
  addServerCommands(program, context);
  addAccountCommands(program, context);
  addKeyCommands(program, context);
  addUpstreamCommands(program, context);
  addReportCommands(program, context);
  addRequestCommands(program, context);
  addLedgerCommands(program, context);
  addMigrateCommand(program, context);
  addBackupCommands(program, context);
  addOracleCommands(program, context);
  addEngineCommands(program, context);
  addIngestCommands(program, context);
  addPoolCommands(program, context);
  addBackfillCommands(program, context);
  addReparseCommands(program, context);
  addAssetCommands(program, context);
  addSearcherCommands(program, context);
  addChainCommands(program, context);
  addSecretCommands(program, context);
  addWorkerCommands(program, context);
  addCreditCommands(program, context);
  addConfigCommand(program, context);
  addReloadCommand(program, context);
  addCompletionCommand(program, context);
  program
    .command("version")
    .description("print the version")
    .option("--json", "print JSON")
    .action((options) => {
      context.print(options, { version, bun: Bun.version }, () => `sluice ${version} (bun ${Bun.version})`);
    });
  return program;
}

/** The command, hidden from people, by which a parent starts a worker. */
export const workerCommand = "worker";

/** A flag that may occur more than once. */
function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

function addServerCommands(program: Command, context: CommandContext): void {
  context
    .command(program, "dev", "run everything on a development chain and embedded stores")
    .option("--fresh", "start over: forget accounts, keys and all that was recorded")
    .option("--port-offset <n>", "added to the port of every endpoint")
    .option("--bind <host>", "the address that the endpoints listen on")
    .option("--log-level <level>", "debug, info, warn, error, silent")
    .option("--slot-ms <n>", "milliseconds of a slot of the development chain", "400")
    .option("--oracle <prices>", "market, live or off: where prices come from")
    .option("--traffic <n>", "transactions a second that the development chain makes itself; 0 for none", "5")
    .option("--genesis <file>", "what the development chain begins with, in place of what ships with it")
    .option("--clone <url=address,...>", "accounts to copy from a running chain; may be repeated", collect)
    .option("--program <address=file.so>", "a program that the development chain runs; may be repeated", collect)
    .option("--account <address=file.json>", "an account to begin with, as `solana account` writes it", collect)
    .option("--account-dir <directory>", "a directory of such files; may be repeated", collect)
    .action(async (options) => {
      const config = await context.serverConfig(options, "dev");
      const { runDev } = await import("./dev.ts");
      await runDev(config, options, { terminal: context.terminal, readConfig: () => context.readConfig(options) });
    });
  withServeFlags(context.command(program, "serve", "run the server in production")).action(async (options) => {
    const config = await context.serverConfig(options, "serve");
    const readConfig = () => context.readConfig(options, "serve");
    if (config.workers === 1) {
      const { runServe } = await import("./serve.ts");
      await runServe(config, context.terminal, readConfig);
    } else {
      const { runParent } = await import("./worker.ts");
      const { terminal } = context;
      await runParent(config, { workerCommand, flags: flagsOf(options), terminal, readConfig });
    }
  });
  withServeFlags(context.command(program, workerCommand, "", { hidden: true })).action(async (options) => {
    const { runWorker } = await import("./worker.ts");
    await runWorker(context.config(options, "serve"), () => context.readConfig(options, "serve"));
  });
  context
    .command(
      program,
      "resolver",
      "run the name resolver alone, without a store, on CHAIN_RPC_URL or the nodes of NETWORK_DEFAULT",
    )
    .option("--port-offset <n>", "added to the port of the endpoint")
    .option("--log-level <level>", "debug, info, warn, error, silent")
    .action(async (options) => {
      const alone = { ...options, roles: "resolver" };
      const config = await context.serverConfig(alone, "serve");
      const { runServe } = await import("./serve.ts");
      await runServe(config, context.terminal, () => context.readConfig(alone, "serve"));
    });
}

/** What `serve` takes besides the options of all commands. */
function withServeFlags(command: Command): Command {
  return command
    .option("--roles <roles>", "the parts to run, separated by commas; by default all but the resolver")
    .option("--workers <n>", "processes that serve the gateway's ports together; 1 by default")
    .option("--oracle <prices>", "live or off: where prices come from")
    .option("--port-offset <n>", "added to the port of every endpoint")
    .option("--bind <host>", "the address that the endpoints listen on")
    .option("--log-level <level>", "debug, info, warn, error, silent");
}

function addReloadCommand(program: Command, context: CommandContext): void {
  context
    .command(program, "reload", "have the running server read its configuration again, without dropping a connection")
    .action(async (options) => {
      const outcome = (await context.manage(options, {
        method: "POST",
        path: "/api/v1/admin/reload",
      })) as ReloadOutcome;
      const line = (what: string, keys: readonly string[]) =>
        `${what}: ${keys.length === 0 ? "nothing" : keys.join(", ")}`;
      context.print(options, outcome, () =>
        [line("applied", outcome.applied), line("needs a restart", outcome.needs_restart)].join("\n"),
      );
    });
}

function addConfigCommand(program: Command, context: CommandContext): void {
  const config = program.command("config").description("the configuration");
  const check = context.command(
    config,
    "check",
    "report all faults of the configuration that 'sluice serve' would read, or what it would open (--mode dev: 'sluice dev')",
  );
  withServeFlags(check)
    .addOption(new Option("--mode <mode>", "which of the two").choices(["dev", "serve"]).default("serve"))
    .action(async (options) => {
      const mode = options.mode === "dev" ? "dev" : "serve";
      const outcome = context.readConfig(options, mode);
      if (!outcome.ok) throw new CommandFailure(`for 'sluice ${mode}': ${formatFaults(outcome.faults)}`);
      const hostFaults = await findHostFaults(outcome.config);
      if (hostFaults.length > 0) throw new CommandFailure(`for 'sluice ${mode}': ${formatFaults(hostFaults)}`);
      const fault = await masterKeyFault(outcome.config, () => context.manage(options, { path: "/secrets" }));
      if (fault !== null) throw new CommandFailure(`for 'sluice ${mode}': MASTER_KEY: ${fault}`);
      const { endpointsOf, openedRoles } = await import("../compose.ts");
      const run = mode === "dev" ? (await import("./dev.ts")).withPlannedChain(outcome.config) : outcome.config;
      const opened = { endpoints: endpointsOf(run), roles: openedRoles(run) };
      context.print(options, outcome.config.settings, () => describeConfig(run, opened).trimEnd());
    });
}
