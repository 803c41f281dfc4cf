import { readFileSync } from "node:fs";
import type { Config } from "../config/index.ts";
import { createEngineEvents, type EngineService, openEngineService } from "../engine/index.ts";
import type { RevocationFeed } from "../keys/index.ts";
import { AppDoor, devTls, GrpcDoor, type GrpcTls, listening } from "../net/index.ts";
import type { Dependencies } from "./dependencies.ts";
import { engineChain } from "./engine-chain.ts";
import type { Gateway } from "./gateway.ts";
import type { Stores } from "./stores.ts";
import { version } from "./version.ts";

interface Needs extends Dependencies {
  readonly stores: Stores;
  readonly gateway: Gateway;
  readonly revocations: RevocationFeed;
}

/** How long calls in flight may take at most once the server has been asked to end. */
const drainMsMax = 5_000;

export const opensEngine = (config: Config): boolean =>
  config.roles.includes("engine") &&
  config.engine.builder !== null &&
  config.upstreams[config.networkDefault].length > 0;

/** Opens the block engine, or has it stand by, and its doors; null where this process has not the role, or nothing to build for. */
export async function openBlockEngine(config: Config, dependencies: Needs): Promise<EngineService | null> {
  const { builder, commission, validators, region, simulators, tickMs } = config.engine;
  if (!opensEngine(config) || builder === null) return null;
  const { clock, random, log, stores, gateway, revocations, resources } = dependencies;
  const { access, limits, requestId, trustedProxies, upstreams, slots } = gateway;
  const network = config.networkDefault;
  const engine = resources.use(
    await openEngineService(
      {
        network,
        version,
        tickMs,
        simulators,
        fee: { pubkey: builder, commission },
        validators,
        url: engineUrl(config),
        region,
        masterKey: config.masterKey,
        trustedProxies,
      },
      {
        clock,
        random,
        log,
        chain: engineChain(network, upstreams, slots),
        stores: stores.state.engine,
        ledger: stores.ledger,
        access,
        limits,
        requestId,
        events: createEngineEvents(dependencies),
      },
    ),
  );
  revocations.subscribe(() => void engine.recheck());
  await openDoors(config, engine, dependencies);
  return engine;
}

async function openDoors(config: Config, engine: EngineService, dependencies: Needs): Promise<void> {
  const { gateway, events, resources } = dependencies;
  const hostname = config.bind;
  const { engineRest, engineGrpc, engineGrpcTls } = config.ports;
  // All at once, so that clients that hold on to one door do not keep the others open beyond the time that there is.
  const opened: { stop(deadlineMs: number): Promise<void> }[] = [];
  const drainMs = Math.min(drainMsMax, config.drain.deadlineMs);
  resources.defer(async () => void (await Promise.all(opened.map((each) => each.stop(drainMs)))));
  const rest = listening(
    "engineRest",
    engineRest,
    () =>
      new AppDoor(
        { hostname, port: engineRest, gatewayPort: config.ports.gateway },
        {
          fetch: (request, bindings) => engine.fetch(request, bindings),
          sockets: engine.sockets,
          requestId: gateway.requestId,
          events,
        },
      ),
  );
  opened.push(rest);
  const calls = { services: engine.services, isServing: () => engine.isServing() };
  const secured = await tlsOf(config, dependencies);
  const doors: readonly { readonly door: string; readonly port: number; readonly tls: GrpcTls | null }[] = [
    { door: "engineGrpc", port: engineGrpc, tls: null },
    ...(secured === null ? [] : [{ door: "engineGrpcTls", port: engineGrpcTls, tls: secured }]),
  ];
  for (const each of doors) {
    opened.push(await GrpcDoor.open({ ...each, hostname }, calls));
  }
}

/** What an operator has named, under `dev` an authority of the data directory's own; null leaves the door shut. */
async function tlsOf({ engine, mode, stores }: Config, { clock, random }: Needs): Promise<GrpcTls | null> {
  if (engine.tlsCert !== null && engine.tlsKey !== null) {
    return { certificateChain: readFileSync(engine.tlsCert, "utf8"), privateKey: readFileSync(engine.tlsKey, "utf8") };
  }
  return mode === "dev" ? await devTls({ directory: stores.directory }, { clock, random }) : null;
}

export const opensEngineTls = (config: Config): boolean => config.mode === "dev" || config.engine.tlsCert !== null;

/** The address of the gRPC door: what an operator has named, or the one that validators of this machine find. */
export function engineUrl({ engine, bind, ports }: Config): string {
  const host = bind === "0.0.0.0" || bind === "::" ? "127.0.0.1" : bind;
  return engine.url ?? `http://${host}:${ports.engineGrpc}`;
}
