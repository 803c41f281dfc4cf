import { type CommitmentName, limits, type Network, networks } from "@sluice/contract";
import type { Clock, Random } from "../lib/index.ts";
import { UpstreamPool } from "./pool.ts";
import type { UpstreamEvents, UpstreamOptions, UpstreamTracing } from "./upstream-call.ts";

export interface UpstreamsOptions {
  readonly networks: Readonly<Record<Network, readonly UpstreamOptions[]>>;
  /** The specification's 30 s unless a test says otherwise. */
  readonly deadlineMs?: number;
  readonly answerBytesMax?: number;
  readonly largeBytesMax?: number;
  readonly inFlightMax?: number;
  readonly waitingMax?: number;
  readonly slotLagMax?: bigint;
  readonly silenceMsMax?: number;
}

export interface UpstreamsDependencies {
  readonly clock: Clock;
  readonly random: Random;
  /** Called when the newest known slot of a commitment has moved; the cache drops what was kept until then. */
  readonly onSlot: (network: Network, commitment: CommitmentName, slot: bigint) => void;
  /** Told of each call to a node; left out, nobody counts. */
  readonly events?: UpstreamEvents;
  /** Null, or absent, where no spans are kept. */
  readonly tracing?: UpstreamTracing | null;
}

export interface Upstreams extends AsyncDisposable {
  /** The pool of a network; null for a network without upstreams. */
  pool(network: Network): UpstreamPool | null;
  /** Begins to follow the slots of every node. */
  start(): void;
}

/** Makes the pools of all networks that have nodes. Nothing connects before `start` or the first call. */
export function createUpstreams(options: UpstreamsOptions, dependencies: UpstreamsDependencies): Upstreams {
  const pools = new Map<Network, UpstreamPool>();
  for (const network of networks) {
    const nodes = options.networks[network];
    if (nodes.length === 0) continue;
    pools.set(
      network,
      new UpstreamPool(
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
          rules: {
            slotLagMax: options.slotLagMax ?? 50n,
            silenceMsMax: options.silenceMsMax ?? 10_000,
            trials: 3,
          },
          floorWaitMs: 400,
        },
        {
          clock: dependencies.clock,
          random: dependencies.random,
          events: dependencies.events ?? null,
          tracing: dependencies.tracing ?? null,
          onSlot: (commitment, slot) => dependencies.onSlot(network, commitment, slot),
        },
      ),
    );
  }
  return {
    pool: (network) => pools.get(network) ?? null,
    start: () => {
      for (const pool of pools.values()) pool.start();
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([...pools.values()].map((pool) => pool[Symbol.asyncDispose]()));
    },
  };
}
