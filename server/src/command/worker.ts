import { systemClock } from "@sluice/lib";
import { compose, composeWorkers, configOfWorker } from "../compose.ts";
import type { Config, ConfigOutcome, FlagValues } from "../config/index.ts";
import { createLog } from "../observe/index.ts";
import { takeSeat } from "../workers/index.ts";
import { explainStartFault } from "./start-fault.ts";
import { CommandFailure, type Terminal } from "./terminal.ts";
import { onHangUp, untilSignal, untilSignals } from "./until-signal.ts";

/**
 * Runs the parent of a host's workers until SIGTERM or SIGINT; SIGHUP restarts them one at a time.
 *
 * @param options.workerCommand - the command of `sluice` that runs a worker
 */
export async function runParent(
  config: Config,
  options: { workerCommand: string; flags: FlagValues; terminal: Terminal; readConfig: () => ConfigOutcome },
): Promise<void> {
  const { workerCommand, flags, terminal, readConfig } = options;
  const stop = untilSignal(systemClock);
  const args = Object.entries(flags).flatMap(([name, value]) => [`--${kebab(name)}`, String(value)]);
  const command = [process.execPath, ...process.execArgv, Bun.main, workerCommand, ...args];
  const host = await composeWorkers(config, { command, readConfig }).catch(explainStartFault);
  onHangUp(async () => host.restart(), terminal);
  await stop;
  await host[Symbol.asyncDispose]();
}

const kebab = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Runs one worker of a parent until that asks it to end, or has ended itself. */
export async function runWorker(config: Config, readConfig: () => ConfigOutcome): Promise<void> {
  const asked = untilSignals(["SIGTERM", "SIGUSR2"]);
  const seat = await takeSeat({ clock: systemClock });
  const { number } = seat.orders;
  const log = createLog({ level: config.logLevel, fields: { worker: number } });
  const reread = (): ConfigOutcome => {
    const outcome = readConfig();
    return outcome.ok ? { ok: true, config: configOfWorker(outcome.config, number) } : outcome;
  };
  const start = compose(configOfWorker(config, number), { log, readConfig: reread, seat });
  const sluice = await start.catch(explainStartFault).catch((error: unknown) => {
    if (error instanceof CommandFailure) seat.failed(error.message);
    throw error;
  });
  if ((await asked) === "SIGUSR2") await sluice.retire();
  else await sluice[Symbol.asyncDispose]();
  await seat.ended(await sluice.renderMetrics());
}
