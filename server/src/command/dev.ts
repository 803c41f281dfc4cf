import { mkdirSync } from "node:fs";
import { systemClock, systemRandom } from "@sluice/lib";
import { compose, engineUrl, type Sluice, stateOptions, storeParts } from "../compose.ts";
import { type Config, type ConfigOutcome, managementSocketPath, version } from "../config/index.ts";
import { createLog } from "../observe/index.ts";
import { requireUnusedState } from "../state/index.ts";
import { renderBanner } from "./banner.ts";
import { ensureDevAccounts } from "./dev-accounts.ts";
import { type ChainAddress, type DevChainGenesis, startDevChain } from "./dev-chain.ts";
import { type DevEndpoint, devEndpoints, forgetEverything, readDevKeys, writeDevFile } from "./dev-file.ts";
import { type MarketAddress, startDevMarket } from "./dev-market.ts";
import { serverIsAt } from "./management-client.ts";
import { explainStartFault } from "./start-fault.ts";
import { CommandFailure, type Terminal } from "./terminal.ts";
import { untilSignal } from "./until-signal.ts";

interface DevOptions extends DevChainGenesis {
  readonly fresh?: boolean;
  readonly slotMs?: string;
  readonly traffic?: string;
}

interface DevDependencies {
  readonly terminal: Terminal;
  readonly readConfig: () => ConfigOutcome;
}

/**
 * Runs the server with its own chain until SIGINT or SIGTERM: what `npm start` does.
 * @throws {CommandFailure} when it does not start for a reason that an operator can correct
 */
export async function runDev(config: Config, options: DevOptions, dependencies: DevDependencies): Promise<void> {
  await startAndServe(config, options, dependencies).catch(explainStartFault);
}

async function startAndServe(
  config: Config,
  options: DevOptions,
  { terminal, readConfig }: DevDependencies,
): Promise<void> {
  const startedAt = systemClock.monotonic();
  const stop = untilSignal(systemClock);
  const slotMs = readSlotMs(options.slotMs);
  const traffic = readTraffic(options.traffic);
  const { directory } = config.stores;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (options.fresh === true) {
    await requireUnused(config);
    forgetEverything(directory, storeParts);
  }
  const known = readDevKeys(directory);
  const log = createLog({ level: config.logLevel, destination: "stderr", pretty: process.stderr.isTTY === true });
  const ownChain = config.upstreams.devnet.length === 0;
  await using resources = new AsyncDisposableStack();
  const dependencies = { clock: systemClock, random: systemRandom, log };
  const blockEngine = config.roles.includes("engine") && config.engine.builder !== null ? engineUrl(config) : null;
  const ownMarket = config.oracle.prices === "market" && config.roles.includes("oracle");
  const [chain, market] = await startChildren(resources, [
    ownChain ? startDevChain({ ...options, slotMs, traffic, blockEngine }, dependencies) : null,
    ownMarket ? startDevMarket(dependencies) : null,
  ]);
  /** With the children in the place of what was not named; nodes that are named while it runs take the chain's. */
  const withChildren = (base: Config): Config => {
    const chained = chain === null || base.upstreams.devnet.length > 0 ? base : onChain(base, chain.ready());
    return market === null ? chained : onMarket(chained, market.ready());
  };
  const effective = withChildren(config);
  const reread = (): ConfigOutcome => {
    const outcome = readConfig();
    return outcome.ok ? { ok: true, config: withChildren(outcome.config) } : outcome;
  };
  const sluice = resources.use(await compose(effective, { log, readConfig: reread }));
  const { keys, consoleAccountId } = await ensureDevAccounts(known, {
    ...dependencies,
    state: sluice.state,
  });
  // A browser needs no session only where other machines cannot reach the endpoint; elsewhere it signs in with a key.
  if (isForThisMachine(effective)) sluice.openConsoleAs(consoleAccountId);
  const marketAdmin = market?.ready().admin ?? null;
  const chainAdmin = chain?.ready().admin ?? null;
  const file = {
    key: keys.enterprise,
    keys,
    doors: endpointUrls(sluice, "listensAt"),
    chainAdmin,
    marketAdmin,
    pid: process.pid,
  };
  writeDevFile(directory, file);
  terminal.out(
    renderBanner({
      file,
      addresses: endpointUrls(sluice, "url"),
      directory,
      version,
      consoleUrl: sluice.consoleUrl,
      chain: chainAdmin === null ? "as configured" : describeChain(slotMs, traffic, chainAdmin),
      prices: describePrices(effective, marketAdmin),
      startedInMs: systemClock.monotonic() - startedAt,
    }),
  );
  await stop;
}

/** Waits for both children, which start side by side; when one cannot start, the other is ended with the rest. */
async function startChildren(
  resources: AsyncDisposableStack,
  [chain, market]: [ReturnType<typeof startDevChain> | null, ReturnType<typeof startDevMarket> | null],
): Promise<[Awaited<ReturnType<typeof startDevChain>> | null, Awaited<ReturnType<typeof startDevMarket>> | null]> {
  const [startedChain, startedMarket] = await Promise.allSettled([chain, market]);
  if (startedChain.status === "fulfilled" && startedChain.value !== null) resources.use(startedChain.value);
  if (startedMarket.status === "fulfilled" && startedMarket.value !== null) resources.use(startedMarket.value);
  if (startedChain.status === "rejected") throw startedChain.reason;
  if (startedMarket.status === "rejected") throw startedMarket.reason;
  return [startedChain.value, startedMarket.value];
}

/**
 * What a living server uses is not taken away under it. One that is still starting or draining answers no commands, but
 * holds the directory.
 */
async function requireUnused(config: Config): Promise<void> {
  const { directory } = config.stores;
  if (await serverIsAt(managementSocketPath(config))) {
    throw new CommandFailure(`a server uses ${directory}: stop it before you start over`);
  }
  try {
    requireUnusedState(stateOptions(config).directory);
  } catch (error) {
    explainStartFault(error);
  }
}

/** The configuration with the development chain as devnet's only node. */
function onChain(config: Config, chain: ChainAddress): Config {
  const node = {
    label: "devnet",
    url: chain.rpc,
    ws: chain.ws,
    groups: ["read", "archive", "send"] as const,
    weight: 1,
    requestsPerSecond: null,
    headers: {},
    yellowstone: { url: chain.grpc, token: null },
  };
  const resolver = { ...config.resolver, chainRpcUrl: config.resolver.chainRpcUrl ?? chain.rpc };
  const pools = config.oracle.pools.length > 0 ? config.oracle.pools : poolsOf(chain);
  const oracle = { ...config.oracle, pools };
  return { ...config, resolver, oracle, upstreams: { ...config.upstreams, devnet: [node] } };
}

/**
 * The configuration that `dev` would run, as far as it is known before its chain has started: where that chain will
 * answer is not.
 */
export function withPlannedChain(config: Config): Config {
  if (config.upstreams.devnet.length > 0) return config;
  const local = "127.0.0.1:0";
  const http = `http://${local}`;
  return onChain(config, { rpc: http, ws: `ws://${local}`, admin: http, grpc: http, pools: {} });
}

/** The development chain's pool is smaller than what real prices are read from. */
const devDepthMin = 1_000;

/** The pool of the chain's own token, by the name that its genesis gives it. */
function poolsOf(chain: ChainAddress): Config["oracle"]["pools"] {
  const [base, quoted] = chain.pools["xnt-usdc"] ?? [];
  if (base === undefined || quoted === undefined) return [];
  return [{ symbol: "XNT", quote: "USDC", base, quoted, depthMin: devDepthMin }];
}

/** The configuration with the development market in the place of the exchanges, but for those that are named. */
function onMarket(config: Config, market: MarketAddress): Config {
  return { ...config, oracle: { ...config.oracle, endpoints: { ...market.exchanges, ...config.oracle.endpoints } } };
}

/** Whether only this machine can reach a listening address. */
export function isLoopback(bind: string): boolean {
  return bind === "localhost" || bind === "::1" || /^127\.\d+\.\d+\.\d+$/.test(bind);
}

/** Whether nobody but this machine opens the console: it neither listens for others nor is told to them. */
function isForThisMachine({ bind, publicUrls: { gateway } }: Config): boolean {
  if (!isLoopback(bind)) return false;
  return gateway === null || isLoopback(new URL(gateway).hostname.replace(/^\[|\]$/g, ""));
}

function readSlotMs(text: string | undefined): number {
  const slotMs = Number(text ?? "400");
  if (Number.isInteger(slotMs) && slotMs >= 10 && slotMs <= 60_000) return slotMs;
  throw new CommandFailure("--slot-ms expects whole milliseconds from 10 to 60000");
}

function readTraffic(text: string | undefined): number {
  const traffic = Number(text ?? "5");
  if (Number.isInteger(traffic) && traffic >= 0 && traffic <= 1_000) return traffic;
  throw new CommandFailure("--traffic expects whole transactions a second from 0 to 1000");
}

function describeChain(slotMs: number, traffic: number, admin: string): string {
  const generated = traffic === 0 ? "" : `, ${traffic} generated transactions a second (--traffic 0 for none)`;
  return `development chain, a slot every ${slotMs} ms${generated}; forks and faults at ${admin} (sluice chain --help)`;
}

function describePrices({ oracle, roles }: Config, marketAdmin: string | null): string {
  if (oracle.prices === "off" || !roles.includes("oracle")) return "none";
  if (oracle.prices === "live") return "of the exchanges themselves";
  const faults = marketAdmin === null ? "" : `, which goes wrong on demand at ${marketAdmin}/faults`;
  return `of a development market${faults} (--oracle live for real ones)`;
}

/** Under each endpoint's name what people are told of it, or where programs of this machine reach it. */
function endpointUrls(sluice: Sluice, form: "url" | "listensAt"): Record<DevEndpoint, string | null> {
  const urls = devEndpoints.map((name) => [
    name,
    sluice.endpoints.find((endpoint) => endpoint.name === name)?.[form] ?? null,
  ]);
  return Object.fromEntries(urls);
}
