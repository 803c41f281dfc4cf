import { seededRandom, systemClock } from "@sluice/lib";
import { until } from "@sluice/lib/testing";
import type { UpstreamConfig } from "../../config/index.ts";
import { createUpstreams, type UpstreamCall, type UpstreamPool, type Upstreams } from "../index.ts";
import { StubNode } from "./stub-node.ts";

/** The events of calls beyond the clients' own, in order. */
export interface Recorded {
  readonly extras: { readonly upstream: string; readonly reason: string }[];
  readonly rests: { readonly upstream: string; readonly reason: string }[];
  floorsMissed: number;
}

/** Some stub nodes named a, b, c … behind a pool of the network devnet; each has reported a slot. */
export interface Cluster extends AsyncDisposable {
  readonly nodes: readonly StubNode[];
  readonly upstreams: Upstreams;
  readonly pool: UpstreamPool;
  readonly recorded: Recorded;
  /** Every node that is not named announces the slot. */
  announce(slot: number, ...except: readonly StubNode[]): Promise<void>;
  /** Labels of the nodes that get calls. */
  inside(): string[];
  until(holds: () => boolean | Promise<boolean>, timeoutMs?: number): Promise<void>;
}

export const read = (method = "getBalance", minimumSlot: bigint | null = null): UpstreamCall => ({
  method,
  params: "[]",
  kind: "read",
  commitment: "processed",
  minimumSlot,
});

export const answerOf = (result: string) => (call: { readonly id: string }) =>
  `{"jsonrpc":"2.0","result":${result},"id":${call.id}}`;

export const errorOf = (code: number) => (call: { readonly id: string }) =>
  `{"jsonrpc":"2.0","error":{"code":${code},"message":"no"},"id":${call.id}}`;

/** Boots so many nodes. `each` changes what is configured of a node. */
export async function bootCluster(
  count: number,
  each: (index: number, address: { readonly url: string }) => Partial<UpstreamConfig> = () => ({}),
  options: { readonly silenceMsMax?: number; readonly deadlineMs?: number } = {},
): Promise<Cluster> {
  const nodes = Array.from({ length: count }, (_, index) => new StubNode(answerOf(`${index}`)));
  const recorded: Recorded = { extras: [], rests: [], floorsMissed: 0 };
  const upstreams = createUpstreams(
    {
      networks: {
        mainnet: [],
        testnet: [],
        devnet: nodes.map(({ url, ws }, index) => ({
          label: String.fromCharCode(97 + index),
          url,
          ws,
          headers: {},
          groups: ["read", "archive"],
          weight: 1,
          requestsPerSecond: null,
          ...each(index, { url }),
        })),
      },
      ...options,
    },
    {
      clock: systemClock,
      random: seededRandom(4),
      onSlot: () => {},
      events: {
        upstreamCalled: () => {},
        rested: (_network, upstream, reason) => void recorded.rests.push({ upstream, reason }),
        extraCall: (_network, upstream, reason) => void recorded.extras.push({ upstream, reason }),
        internalError: (_where, error) => {
          throw error;
        },
        floorMissed: () => {
          recorded.floorsMissed += 1;
        },
        beliefRestarted: () => {},
        chainChanged: () => {},
        chainUnread: () => {},
        membershipChanged: () => {},
      },
    },
  );
  const pool = upstreams.pool("devnet");
  if (pool === null) throw new Error("there is no pool");
  upstreams.start();
  await until(() => pool.health().every(({ healthy }) => healthy) && nodes.every(({ sockets }) => sockets.size === 1));
  // The answers to the three subscriptions are on their way; the first notice proves that they have arrived.
  await until(() => {
    for (const node of nodes) node.announce(101);
    return pool.health().every(({ slot }) => slot === 101n);
  });
  const slotOf = (index: number) => pool.health()[index]?.slot;
  return {
    nodes,
    upstreams,
    pool,
    recorded,
    async announce(slot, ...except) {
      for (const node of nodes) if (!except.includes(node)) node.announce(slot);
      await until(() => nodes.every((node, index) => except.includes(node) || slotOf(index) === BigInt(slot)));
    },
    inside: () =>
      pool
        .health()
        .filter(({ out }) => out === null)
        .map(({ label }) => label),
    until,
    async [Symbol.asyncDispose]() {
      await upstreams[Symbol.asyncDispose]();
      for (const node of nodes) node[Symbol.dispose]();
    },
  };
}
