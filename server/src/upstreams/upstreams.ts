import { limits } from "@sluice/contract/limits";
import type { CommitmentName } from "@sluice/contract/rpc";
import { type Network, networks } from "@sluice/contract/tiers";
import type { Clock, Random } from "@sluice/lib";
import type { UpstreamConfig } from "../config/index.ts";
import { requestTarget } from "../net/index.ts";
import type { ChainStore } from "../state/index.ts";
import type { UpstreamCallEvents } from "./events.ts";
import type { ConnectNode, NodeOrder } from "./node.ts";
import type { UpstreamHealth } from "./node-health.ts";
import { type PoolChain, UpstreamPool } from "./pool.ts";
import type { UpstreamTracing } from "./upstream-call.ts";

export interface UpstreamsOptions {
  readonly networks: Readonly<Record<Network, readonly UpstreamConfig[]>>;
  /** The specification's 30 s unless a test says otherwise. */
  readonly deadlineMs?: number;
  readonly answerBytesMax?: number;
  readonly largeBytesMax?: number;
  readonly inFlightMax?: number;
  readonly waitingMax?: number;
  /** Bytes of a call as it goes to a node; what an Agave node takes when absent. */
  readonly callBytesMax?: number;
  readonly slotLagMax?: bigint;
  readonly silenceMsMax?: number;
  /** How nodes of another chain are found; absent, every node joins. */
  readonly chains?: {
    readonly genesis: Readonly<Record<Network, string | null>>;
    readonly allowUnknown: readonly string[];
    /** Whether another chain than the stored one is taken as the network's. */
    readonly followsNodes: boolean;
  };
}

export interface UpstreamsDependencies {
  readonly clock: Clock;
  readonly random: Random;
  /** Called when the newest known slot of a commitment has changed; the cache drops its slot entries then. */
  readonly onSlot: (network: Network, commitment: CommitmentName, slot: bigint) => void;
  /** Where the chain of each network is stored; absent, nothing is. */
  readonly chainStore?: Pick<ChainStore, "find" | "put">;
  /** Called when the chain of a network is another one than before. */
  readonly onNewChain?: (network: Network) => void;
  /** The events of calls; absent, none are recorded. */
  readonly events?: UpstreamCallEvents;
  /** Null or absent without an OpenTelemetry SDK. */
  readonly tracing?: UpstreamTracing | null;
  /** Absent, nodes are reached over HTTP and WebSockets. */
  readonly connect?: ConnectNode;
}

/** A node as operators see it. */
export interface NodeView {
  readonly network: Network;
  readonly options: UpstreamConfig;
  readonly order: NodeOrder;
  readonly health: UpstreamHealth;
  /** Whether it was added at run time, and so is not configured. */
  readonly isAdded: boolean;
}

/** A node that was added at run time. */
export interface AddedNode {
  readonly network: Network;
  readonly options: UpstreamConfig;
}

/** Whether the transport can send to a node. The reason is not given, since it may contain a secret. */
export function canSendTo({ url, headers }: Pick<UpstreamConfig, "url" | "headers">): boolean {
  try {
    requestTarget(url, headers);
    return true;
  } catch {
    return false;
  }
}

export interface Upstreams extends AsyncDisposable {
  /** The pool of a network; null for a network without upstreams. */
  pool(network: Network): UpstreamPool | null;
  /** Whether the slots of a commitment arrive from some node of the network; see UpstreamPool.isLive. */
  isLive(network: Network, commitment: CommitmentName): boolean;
  /** Begins to follow the slots of every node. */
  start(): void;
  /** Every node of every network. */
  nodes(): readonly NodeView[];
  /**
   * Replaces the nodes that were added at run time: new ones join, others leave once their calls have ended. A
   * configured node takes precedence over one of its label. Gives those that the transport cannot send to, which are
   * left out.
   */
  reconcileAdded(nodes: readonly AddedNode[]): readonly AddedNode[];
  /**
   * Replaces the configured nodes: new ones join, others leave once their calls have ended, and changed ones are
   * exchanged. Nodes that were added at run time stay. Throws, having changed nothing, for a node that the transport
   * cannot send to.
   */
  reconfigure(networks: Readonly<Record<Network, readonly UpstreamConfig[]>>, slotLagMax: bigint): void;
}

/** Creates the pools of all networks that have nodes. No connection is opened before `start` or the first call. */
export function createUpstreams(options: UpstreamsOptions, dependencies: UpstreamsDependencies): Upstreams {
  return new NetworkPools(options, dependencies);
}

class NetworkPools implements Upstreams {
  readonly #options: UpstreamsOptions;
  readonly #dependencies: UpstreamsDependencies;
  readonly #pools = new Map<Network, UpstreamPool>();
  /** Nodes that were added at run time. */
  readonly #added = new WeakSet<UpstreamConfig>();
  #slotLagMax: bigint;
  #isStarted = false;

  constructor(options: UpstreamsOptions, dependencies: UpstreamsDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#slotLagMax = options.slotLagMax ?? 50n;
    for (const network of networks) {
      const nodes = options.networks[network];
      if (nodes.length > 0) this.#open(network, nodes);
    }
  }

  pool(network: Network): UpstreamPool | null {
    const pool = this.#pools.get(network);
    return pool === undefined || pool.nodeSet.nodes.length === 0 ? null : pool;
  }

  isLive(network: Network, commitment: CommitmentName): boolean {
    return this.pool(network)?.isLive(commitment) ?? false;
  }

  start(): void {
    this.#isStarted = true;
    for (const pool of this.#pools.values()) pool.start();
  }

  nodes(): readonly NodeView[] {
    return [...this.#pools].flatMap(([network, pool]) => {
      const health = pool.health();
      return pool.nodeSet.nodes.flatMap(({ options, order }, index) => {
        const of = health[index];
        return of === undefined ? [] : [{ network, options, order, health: of, isAdded: this.#added.has(options) }];
      });
    });
  }

  reconcileAdded(nodes: readonly AddedNode[]): readonly AddedNode[] {
    const unusable: AddedNode[] = [];
    for (const node of nodes) {
      const { nodeSet } = this.#pools.get(node.network) ?? this.#open(node.network, []);
      const present = nodeSet.find(node.options.label)?.options;
      if (present !== undefined && (!this.#added.has(present) || isSame(present, node.options))) continue;
      const options = { ...node.options };
      try {
        nodeSet.put(nodeSet.create(options));
        this.#added.add(options);
      } catch {
        unusable.push(node);
      }
    }
    for (const [network, { nodeSet }] of this.#pools) {
      for (const { label, options } of nodeSet.nodes) {
        const isListed = nodes.some((node) => node.network === network && node.options.label === label);
        if (!isListed && this.#added.has(options)) nodeSet.retire(label);
      }
    }
    return unusable;
  }

  reconfigure(configured: UpstreamsOptions["networks"], slotLagMax: bigint): void {
    const planned = networks.map((network) => {
      const nodes = configured[network];
      if (nodes.length === 0 && !this.#pools.has(network)) return null;
      const pool = this.#pools.get(network) ?? this.#open(network, []);
      const fresh = nodes.filter((node) => !isSame(pool.nodeSet.find(node.label)?.options, node));
      // An unusable node throws here, before anything has changed.
      return {
        pool,
        labels: new Set(nodes.map(({ label }) => label)),
        created: fresh.map((node) => pool.nodeSet.create(node)),
      };
    });
    this.#slotLagMax = slotLagMax;
    for (const one of planned) {
      if (one === null) continue;
      const { pool, labels, created } = one;
      pool.setSlotLagMax(slotLagMax);
      for (const node of created) pool.nodeSet.put(node);
      for (const { label, options: of } of pool.nodeSet.nodes) {
        if (labels.has(label)) this.#added.delete(of);
        else if (!this.#added.has(of)) pool.nodeSet.retire(label);
      }
    }
  }

  #open(network: Network, nodes: readonly UpstreamConfig[]): UpstreamPool {
    const options = this.#options;
    const { clock, random, onSlot, events = null, tracing = null, connect } = this.#dependencies;
    const pool = new UpstreamPool(
      {
        network,
        nodes,
        limits: {
          deadlineMs: options.deadlineMs ?? limits.gatewayTimeoutMs,
          answerBytesMax: options.answerBytesMax ?? 256 * 1024 * 1024,
          largeBytesMax: options.largeBytesMax ?? 4 * 1024 ** 3,
          inFlightMax: options.inFlightMax ?? 256,
          waitingMax: options.waitingMax ?? 16_384,
        },
        rules: { slotLagMax: this.#slotLagMax, silenceMsMax: options.silenceMsMax ?? 10_000, trials: 3 },
        callBytesMax: options.callBytesMax ?? limits.nodeBodyBytes,
        floorWaitMs: 400,
      },
      {
        clock,
        random,
        events,
        tracing,
        connect,
        chain: this.#chainOf(network),
        onSlot: (commitment, slot) => onSlot(network, commitment, slot),
      },
    );
    this.#pools.set(network, pool);
    if (this.#isStarted) pool.start();
    return pool;
  }

  #chainOf(network: Network): PoolChain | null {
    const { chains } = this.#options;
    if (chains === undefined) return null;
    const { chainStore: store = nothingStored, onNewChain } = this.#dependencies;
    const { genesis, allowUnknown, followsNodes } = chains;
    return {
      options: { genesis: genesis[network], allowUnknown, followsNodes },
      store,
      onNewChain: () => onNewChain?.(network),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool[Symbol.asyncDispose]()));
  }
}

const nothingStored: Pick<ChainStore, "find" | "put"> = { find: async () => null, put: async () => undefined };

/** Whether two configurations of a node are the same in every member. */
function isSame(one: UpstreamConfig | undefined, other: UpstreamConfig): boolean {
  if (one === undefined) return false;
  const shape = ({ headers, ...rest }: UpstreamConfig): string => {
    const { label, url, ws, groups, weight, requestsPerSecond, yellowstone } = rest;
    const listed = Object.entries(headers).toSorted();
    return JSON.stringify([label, url, ws, listed, groups, weight, requestsPerSecond, yellowstone]);
  };
  return shape(one) === shape(other);
}
