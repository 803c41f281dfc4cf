import type { UpstreamBody } from "@sluice/contract/schemas";
import type { Network } from "@sluice/contract/tiers";
import { type Random, SecretVault } from "@sluice/lib";
import type { UpstreamBoard } from "../admin/index.ts";
import { maskUrl, type UpstreamConfig, upstreamEntry, upstreamIn, upstreamOf, upstreamsMax } from "../config/index.ts";
import type { Hot } from "../hot/index.ts";
import type { Log } from "../observe/index.ts";
import type { State, UpstreamNodeRecord } from "../state/index.ts";
import { type AddedNode, canSendTo, type NodeView, type Upstreams } from "../upstreams/index.ts";

const channel = "upstreams";
/** How often state is looked at for what other processes were told, should a notice of it not come. */
const lookMs = 1_000;

export interface UpstreamBoardParts {
  readonly upstreams: Upstreams;
  readonly state: Pick<State, "upstreamOrders" | "upstreamNodes">;
  readonly hot: Pick<Hot, "publish" | "subscribe">;
  readonly log: Pick<Log, "warn">;
  readonly random: Random;
  /** What addresses and headers of nodes are sealed with; null keeps them plain. */
  readonly masterKey: string | null;
  readonly resources: AsyncDisposableStack;
}

export interface WiredUpstreamBoard extends UpstreamBoard {
  /** Has this process alone follow what stands in state; never throws. */
  recall(): Promise<void>;
}

/**
 * The nodes for operators: what state keeps of nodes that were added and of orders is followed by every process, at once
 * by a notice, else within a second.
 */
export async function wireUpstreamBoard(parts: UpstreamBoardParts): Promise<WiredUpstreamBoard> {
  const { upstreams, hot, log, resources } = parts;
  const vault = new SecretVault(parts.masterKey, parts.random);
  const follow = follower(parts, vault);
  let isFailing = false;
  const recall = async (): Promise<void> => {
    try {
      await follow();
      isFailing = false;
    } catch (fault) {
      if (!isFailing) log.warn({ fault: String(fault) }, "what operators ordered for nodes cannot be read");
      isFailing = true;
    }
  };
  resources.use(await hot.subscribe(channel, () => void recall(), { onGap: () => void recall() }));
  await recall();
  resources.use(repeat(recall));
  return {
    list: () => upstreams.nodes().map(bodyOf),
    prepare: ({ network, requests_per_second: requestsPerSecond, ...wish }) => {
      const parts = { ...wish, requestsPerSecond };
      const parsed = upstreamOf(parts);
      if (!parsed.ok) return { expected: parsed.expected };
      const { label } = parsed.value;
      const nodes = upstreams.nodes().filter((node) => node.network === network);
      if (nodes.some((node) => node.options.label === label)) return { taken: true };
      if (nodes.length >= upstreamsMax) return { expected: `at most ${upstreamsMax} nodes of a network` };
      if (!canSendTo(parsed.value)) return { expected: "an address and headers that can be sent" };
      const options = vault.wrap(vaultId(network, label), Buffer.from(upstreamEntry(parts)));
      return { node: { network, label, options }, shown: shownOptions(parsed.value) };
    },
    remove: async (network, label) => {
      await upstreams.pool(network)?.remove(label);
    },
    follow: async () => {
      await follow();
      await hot.publish(channel, "changed").catch((fault: unknown) => {
        log.warn(
          { fault: String(fault) },
          "other replicas could not be told of a change to nodes; they look by themselves",
        );
      });
    },
    recall,
  };
}

/** Brings the nodes of this process to what stands in state. One run at a time: a later one sees what an earlier wrote. */
function follower({ upstreams, state, log }: UpstreamBoardParts, vault: SecretVault): () => Promise<void> {
  const told = new Set<string>();
  const tellOnce = (network: Network, label: string, message: string): void => {
    const name = `${network}/${label}`;
    if (!told.has(name)) log.warn({ node: name }, message);
    told.add(name);
  };
  const opened = ({ network, label, options }: UpstreamNodeRecord): AddedNode[] => {
    const entry = vault.unwrap(vaultId(network, label), options);
    const parsed = entry === null ? null : upstreamIn(Buffer.from(entry).toString());
    if (parsed?.ok === true) return [{ network, options: parsed.value }];
    tellOnce(network, label, "a node that was added cannot be read with this master key and is left out");
    return [];
  };
  const work = async (): Promise<void> => {
    const [nodes, orders] = await Promise.all([state.upstreamNodes.list(), state.upstreamOrders.list()]);
    for (const { network, options } of upstreams.reconcileAdded(nodes.flatMap(opened))) {
      tellOnce(network, options.label, "a node that was added cannot be sent to and is left out");
    }
    for (const { network, options, order } of upstreams.nodes()) {
      const found = orders.find((each) => each.network === network && each.label === options.label);
      const wanted = found?.order ?? "open";
      if (wanted !== order) upstreams.pool(network)?.order(options.label, wanted);
    }
  };
  let last: Promise<unknown> = Promise.resolve();
  return () => {
    const next = last.then(work);
    last = next.catch(() => undefined);
    return next;
  };
}

/** Runs the work again and again, never twice at a time; disposing waits for a run that is under way. */
function repeat(work: () => Promise<void>): AsyncDisposable {
  let running: Promise<void> | null = null;
  const timer = setInterval(() => {
    running ??= work().finally(() => {
      running = null;
    });
  }, lookMs);
  timer.unref();
  return {
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer);
      await running;
    },
  };
}

const vaultId = (network: Network, label: string): string => `upstream:${network}/${label}`;

/** What of a node is no secret. */
function shownOptions({ url, ws, groups, weight, requestsPerSecond, headers }: UpstreamConfig) {
  return {
    url: maskUrl(url),
    ws: maskUrl(ws),
    groups: [...groups],
    weight,
    requests_per_second: requestsPerSecond,
    headers: Object.keys(headers),
  };
}

function bodyOf({ network, options, order, health, isAdded }: NodeView): UpstreamBody {
  return {
    network,
    label: options.label,
    ...shownOptions(options),
    origin: isAdded ? "run time" : "configuration",
    order,
    serving: health.out === null,
    out: health.out,
    // Slots stay far below 2^53 within the life of a chain (contract: count).
    slot: health.slot === null ? null : Number(health.slot),
    slot_lag: health.slotLag === null ? null : Math.max(0, Number(health.slotLag)),
    latency_ms: health.latencyMs === null ? null : Math.round(health.latencyMs * 10) / 10,
    error_rate: Math.round(health.errorRate * 1_000) / 1_000,
    in_flight: health.inFlight,
  };
}
