import { compose } from "../compose.ts";
import type { Config } from "../config/index.ts";
import { explainStartFault } from "./start-fault.ts";
import type { Terminal } from "./terminal.ts";
import { untilSignal } from "./until-signal.ts";

/** Runs the server until SIGTERM or SIGINT, then drains it. */
export async function runServe(config: Config, terminal: Terminal): Promise<void> {
  const stop = untilSignal();
  const sluice = await compose(config, {}).catch(explainStartFault);
  for (const door of sluice.doors) terminal.out(`${door.name} ${door.url}`);
  await stop;
  await sluice[Symbol.asyncDispose]();
}
