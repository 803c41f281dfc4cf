import type { WorkersReport } from "@sluice/contract/schemas";
import { sleep, systemClock } from "@sluice/lib";
import type { Command } from "commander";
import { managementSocketPath } from "../config/index.ts";
import type { CommandContext } from "./context.ts";
import { serverIsAt } from "./management-client.ts";
import { CommandFailure, table } from "./terminal.ts";

/** How often a restart is looked at while it runs. */
const lookMs = 200;

/** The processes of a host that serve the gateway together. */
export function addWorkerCommands(program: Command, context: CommandContext): void {
  const workers = program.command("workers").description("the workers of this host (serve --workers)");
  context.command(workers, "list", "list the workers and the last restart of all").action(async (options) => {
    const report = await readReport(context, options);
    context.print(options, report, () => describeWorkers(report.workers) + describeRestart(report.restart));
  });
  context
    .command(workers, "restart", "restart the workers one at a time, each when its successor serves")
    .action(async (options) => {
      await requireServer(context, options);
      let report = (await context.manage(options, { method: "POST", path: "/workers/restart" })) as WorkersReport;
      while (report.restart?.state === "running") {
        await sleep(systemClock, lookMs);
        report = await readReport(context, options);
      }
      const { restart } = report;
      if (restart?.state === "stopped") {
        const before =
          restart.restarted.length === 0 ? "none was restarted" : `restarted: ${restart.restarted.join(", ")}`;
        throw new CommandFailure(`the restart has stopped: ${restart.reason}; ${before}`);
      }
      context.print(options, report, () => describeWorkers(report.workers) + describeRestart(restart));
    });
}

async function requireServer(context: CommandContext, options: Readonly<Record<string, unknown>>): Promise<void> {
  const config = context.config(options);
  if (!(await serverIsAt(managementSocketPath(config)))) {
    throw new CommandFailure(`no server runs on ${config.stores.directory}`);
  }
}

async function readReport(context: CommandContext, options: Readonly<Record<string, unknown>>): Promise<WorkersReport> {
  await requireServer(context, options);
  return (await context.manage(options, { path: "/workers" })) as WorkersReport;
}

export function describeWorkers(workers: WorkersReport["workers"]): string {
  const rows = workers.map(({ worker, pid, state, uptime_seconds: up, failures }) => [
    worker,
    pid,
    state,
    up,
    failures,
  ]);
  return table(["WORKER", "PROCESS", "IS", "UP FOR S", "FAILURES"], rows);
}

function describeRestart(restart: WorkersReport["restart"]): string {
  if (restart === null) return "";
  const reason = restart.reason === null ? "" : `: ${restart.reason}`;
  return `\n\nlast restart ${restart.state}${reason}; restarted: ${restart.restarted.join(", ") || "none"}`;
}
