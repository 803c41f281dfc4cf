import { compose, composeResolver } from "../compose.ts";
import { type Config, isResolverAlone } from "../config/index.ts";
import { systemClock } from "../lib/index.ts";
import { explainStartFault } from "./start-fault.ts";
import { CommandFailure, type Terminal } from "./terminal.ts";
import { untilSignal } from "./until-signal.ts";

/** Runs the server until SIGTERM or SIGINT, then drains it. */
export async function runServe(config: Config, terminal: Terminal): Promise<void> {
  const stop = untilSignal(systemClock);
  const start = isResolverAlone(config.roles) ? startResolver(config) : compose(config, {});
  const sluice = await start.catch(explainStartFault);
  for (const door of sluice.doors) terminal.out(`${door.name} ${door.url}`);
  await stop;
  await sluice[Symbol.asyncDispose]();
}

async function startResolver(config: Config): ReturnType<typeof composeResolver> {
  const { chainRpcUrl } = config.resolver;
  if (chainRpcUrl === null) throw new CommandFailure("the resolver needs a node: set CHAIN_RPC_URL");
  return await composeResolver({ ...config, resolver: { ...config.resolver, chainRpcUrl } });
}
