import { systemClock } from "@sluice/lib";
import { compose, composeResolver } from "../compose.ts";
import { type Config, type ConfigOutcome, isResolverAlone } from "../config/index.ts";
import { explainStartFault } from "./start-fault.ts";
import type { Terminal } from "./terminal.ts";
import { onHangUp, untilSignal } from "./until-signal.ts";

interface Started extends AsyncDisposable {
  /** Absent where the configuration cannot be changed while it runs. */
  readonly reload?: () => Promise<unknown>;
}

/** Runs the server until SIGTERM or SIGINT, then drains it. Its standard output holds log records only. */
export async function runServe(config: Config, terminal: Terminal, readConfig: () => ConfigOutcome): Promise<void> {
  const stop = untilSignal(systemClock);
  const start: Promise<Started> = isResolverAlone(config.roles)
    ? composeResolver(config)
    : compose(config, { readConfig });
  const sluice = await start.catch(explainStartFault);
  if (sluice.reload !== undefined) onHangUp(sluice.reload, terminal);
  await stop;
  await sluice[Symbol.asyncDispose]();
}
