import { join } from "node:path";
import type { IngestRecord } from "@sluice/contract/schemas";
import { type Network, networks } from "@sluice/contract/tiers";
import type { Slot } from "@sluice/wire/identifiers";
import type { Config } from "../config/index.ts";
import type { BlockFlow } from "../engine/index.ts";
import type { BackfillSource } from "../history/index.ts";
import {
  type BlockSource,
  BlockSubscription,
  createIngestEvents,
  Ingest,
  type NetworkNodes,
  NodeBlocks,
  type NodeReply,
  PollingSource,
  ReadBodies,
  YellowstoneSource,
} from "../ingest/index.ts";
import { type ChainIdentity, ChainLogs, createLogEvents, openChainLog } from "../log/index.ts";
import { FileLock } from "../state/index.ts";
import { answerText, type UpstreamOutcome, type UpstreamPool, type Upstreams } from "../upstreams/index.ts";
import type { Dependencies } from "./dependencies.ts";
import { opensEngine, opensIngest, opensStreams, opensWebhooks } from "./endpoints.ts";

export type Pools = Pick<Upstreams, "pool">;
type UpstreamNode = UpstreamPool["nodeSet"]["nodes"][number];

/** Nodes of a network that bring blocks by themselves; the others are asked for single blocks. */
const bringingMax = 3;
/** Nodes of a network that take part at all. */
const nodesMax = 8;

/**
 * Opens the log of each network with nodes as soon as its chain is known: of all that this process reads or tells, or
 * of the block engine's where others read it.
 */
export function openChainLogs(
  config: Config,
  { resources, ...dependencies }: Dependencies & { readonly upstreams: Pools },
): ChainLogs {
  const kept = config.stores.log;
  if (opensIngest(config) || opensStreams(config) || opensWebhooks(config)) {
    const configured = networks.filter((network) => config.upstreams[network].length > 0);
    return resources.use(newChainLogs(config, { networks: configured, joins: true, ...kept }, dependencies));
  }
  const read = opensEngine(config) && kept.url !== null ? [config.networkDefault] : [];
  return resources.use(newChainLogs(config, { networks: read, joins: false, ...kept }, dependencies));
}

interface KeptLogs extends Pick<Config["stores"]["log"], "url" | "sync" | "retentionMs" | "bytesMax"> {
  readonly networks: readonly Network[];
  /** Whether other networks join with their first node. */
  readonly joins: boolean;
  /** Below the data directory; absent is the data directory itself. */
  readonly folder?: string;
}

function newChainLogs(
  config: Config,
  kept: KeptLogs,
  { upstreams, ...dependencies }: Omit<Dependencies, "resources"> & { readonly upstreams: Pools },
): ChainLogs {
  const { clock, log } = dependencies;
  const dataDirectory = join(config.stores.directory, kept.folder ?? "");
  const events = createLogEvents(dependencies);
  const open = (network: Network, chain: ChainIdentity) =>
    openChainLog(
      {
        network,
        chain,
        logUrl: kept.url,
        dataDirectory,
        // A development chain that is started anew is another one; a real one never is.
        discardsOtherChain: config.mode === "dev",
        sync: kept.sync,
        retentionMs: kept.retentionMs,
        bytesMax: kept.bytesMax,
      },
      { clock, log, events, lock: (path) => FileLock.take(path) },
    );
  const joins = (network: Network): boolean => kept.joins && upstreams.pool(network) !== null;
  const { networks: opened } = kept;
  return new ChainLogs(
    { networks: opened },
    { clock, log, open, joins, chainOf: (network) => chainOf(upstreams, network) },
  );
}

function chainOf(upstreams: Pools, network: Network): ChainIdentity | null {
  const chain = upstreams.pool(network)?.chain ?? null;
  return chain === null ? null : { genesisHash: chain.genesis, firstBlockhash: chain.first?.blockhash ?? null };
}

/** Ingest of every network with nodes; null where this process does not have the role. */
export async function openIngest(
  config: Config,
  {
    upstreams,
    chainLogs,
    resources,
    ...dependencies
  }: Dependencies & {
    readonly upstreams: Pools;
    readonly chainLogs: ChainLogs;
  },
): Promise<IngestReport | null> {
  if (!opensIngest(config)) return null;
  const ingest = resources.use(newIngest(config, { ...dependencies, upstreams }));
  resources.use(await chainLogs.follow(ingest.take));
  return reportOf({ ingest, chainLogs });
}

function newIngest(
  config: Config,
  { upstreams, ...dependencies }: Omit<Dependencies, "resources"> & { readonly upstreams: Pools },
): Ingest {
  const { clock, random } = dependencies;
  return new Ingest(
    { gapAfterMs: config.stores.log.gapAfterMs },
    {
      clock,
      random,
      nodesOf: (network) => nodesOf({ network, upstreams }, dependencies),
      eventsOf: (network) => createIngestEvents(dependencies, { network }),
    },
  );
}

const afterEverySlot = (2n ** 63n - 1n) as Slot;

/** What the block engine's own log keeps: more than the life of a bundle. */
const privateLog = { folder: "engine-flow", retentionMs: 600_000, bytesMax: 1024 * 1024 * 1024 } as const;

/**
 * The blocks of the block engine's network, while it runs: those that this process has anyway, else a log of its own
 * that it reads into for as long as it leads.
 */
export async function openBlockFlow(
  config: Config,
  {
    chainLogs,
    ...dependencies
  }: Omit<Dependencies, "resources"> & {
    readonly upstreams: Pools;
    readonly chainLogs: ChainLogs;
  },
): Promise<BlockFlow> {
  const { networkDefault: network } = config;
  if (chainLogs.networks.includes(network)) {
    return { current: () => chainLogs.current(network), [Symbol.asyncDispose]: async () => undefined };
  }
  await using opening = new AsyncDisposableStack();
  const { bytesMax, sync } = config.stores.log;
  const kept = {
    ...privateLog,
    networks: [network],
    joins: false,
    url: null,
    sync,
    bytesMax: Math.min(bytesMax, privateLog.bytesMax),
  };
  const own = opening.use(newChainLogs(config, kept, dependencies));
  const ingest = opening.use(newIngest(config, dependencies));
  // Nobody else wants what is in it, so it goes when it is old.
  opening.use(await own.follow((_network, log) => log?.setWatermark(afterEverySlot)));
  opening.use(await own.follow(ingest.take));
  const resources = opening.move();
  return { current: () => own.current(network), [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

/** What operators are told of ingest, and what they tell it. */
export interface IngestReport {
  status(): readonly IngestRecord[];
  skip: Ingest["skip"];
}

/** Each network that is to be read, whether its log is open or not. */
function reportOf({ ingest, chainLogs }: { readonly ingest: Ingest; readonly chainLogs: ChainLogs }): IngestReport {
  const absent = { head: null, confirmed: null, finalized: null, lag_slots: null, unavailable_slots: 0, sources: [] };
  return {
    skip: (network, from, to) => ingest.skip(network, from, to),
    status: () => {
      const statuses = ingest.status();
      return chainLogs.networks.map((network): IngestRecord => {
        const fault = chainLogs.faultOf(network);
        const found = statuses.find((each) => each.network === network);
        return found === undefined ? { network, state: "starting", fault, ...absent } : { fault, ...recordOf(found) };
      });
    },
  };
}

// Slots stay far below 2^53 within the life of a chain (contract: count).
const numberOf = (slot: bigint | null): number | null => (slot === null ? null : Number(slot));

function recordOf(status: ReturnType<Ingest["status"]>[number]): Omit<IngestRecord, "fault"> {
  return {
    network: status.network,
    state: status.state,
    head: numberOf(status.head),
    confirmed: numberOf(status.confirmed),
    finalized: numberOf(status.finalized),
    lag_slots: numberOf(status.lagSlots),
    unavailable_slots: Number(status.unavailableSlots),
    sources: status.sources.map(({ name, kind, isUp, isTrusted }) => ({ name, kind, up: isUp, trusted: isTrusted })),
  };
}

/** The nodes of a network as ingest reads from them: their health and their slots are those of its pool. */
function nodesOf(
  { network, upstreams }: { readonly network: Network; readonly upstreams: Pools },
  dependencies: Pick<Dependencies, "clock" | "random">,
): NetworkNodes {
  const pool = (): UpstreamPool | null => upstreams.pool(network);
  const bodies = new ReadBodies();
  return {
    head: (commitment) => {
      const slot = commitment === "confirmed" ? pool()?.slotOf("confirmed") : pool()?.finalRoot();
      return (slot ?? null) as Slot | null;
    },
    isWell: (node) => pool()?.mayNotify(node) ?? false,
    list: () => {
      const reading = pool()?.nodeSet.nodes.filter((node) => node.serves("read") || node.serves("archive")) ?? [];
      const open = reading.filter(({ order, chain }) => order === "open" && chain === "joined").slice(0, nodesMax);
      return open.map((node, index) => ({
        label: node.label,
        identity: node,
        open: () => sourcesOf(node, index < bringingMax, { ...dependencies, bodies }),
      }));
    },
  };
}

/** The nodes of a network that have blocks of the past, those of the archive first, each within its own rate. */
export function backfillSources(upstreams: Pools, network: Network): readonly BackfillSource[] {
  const nodes = upstreams.pool(network)?.nodeSet.nodes ?? [];
  const open = nodes.filter(({ order, chain }) => order === "open" && chain === "joined");
  const archive = open.filter((node) => node.serves("archive"));
  const others = open.filter((node) => node.serves("read") && !archive.includes(node));
  return [...archive, ...others].slice(0, nodesMax).map((node) => {
    const blocks = new NodeBlocks((question) => askNode(node, question));
    return {
      node: node.label,
      fetchBlock: (slot, signal) => blocks.fetchBlock(slot, signal),
      fetchDigest: (slot, commitment, signal) => blocks.fetchDigest(slot, commitment, signal),
      fetchSlots: (from, to, signal) => blocks.fetchSlots(from, to, signal),
    };
  });
}

/** What a node brings blocks by. */
function sourcesOf(
  node: UpstreamNode,
  brings: boolean,
  { clock, random, bodies }: Pick<Dependencies, "clock" | "random"> & { readonly bodies: ReadBodies },
): readonly BlockSource[] {
  const { label, options, feed } = node;
  const blocks = new NodeBlocks((question) => askNode(node, question));
  const polling = new PollingSource({ node: label }, { clock, slots: feed, blocks });
  if (!brings) return [polling];
  const { ws, headers, yellowstone } = options;
  if (yellowstone !== undefined) {
    return [polling, new YellowstoneSource({ node: label, ...yellowstone }, { clock, random, blocks, bodies })];
  }
  return [polling, new BlockSubscription({ node: label, ws, headers }, { clock, random, blocks })];
}

/** One call to one node, within the rate that its provider allows, and not while it rests. */
async function askNode(
  node: UpstreamNode,
  { method, params, deadlineMs }: { readonly method: string; readonly params: string; readonly deadlineMs: number },
): Promise<NodeReply> {
  const rests = node.rests.whole !== null || node.rests.methods.some((each) => each.method === method);
  if (rests || !node.takeTurn()) return { kind: "limited" };
  const call = { method, params, kind: "archive", commitment: "confirmed", minimumSlot: null } as const;
  return replyOf(await node.call(call, deadlineMs));
}

function replyOf(outcome: UpstreamOutcome): NodeReply {
  if (!outcome.ok) {
    return outcome.refused === "UPSTREAM_LIMITED" ? { kind: "limited" } : { kind: "failed", reason: outcome.refused };
  }
  const text = answerText(outcome.answer);
  if (text === null) return { kind: "failed", reason: "large" };
  return { kind: "answer", text, errorCode: outcome.answer.errorCode };
}
