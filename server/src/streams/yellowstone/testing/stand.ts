import { compileAddressSet, seededRandom, systemClock } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import { bootFaultyNode, type FaultyNode } from "../../../../../devnet/chain/faults/testing/faulty-node.ts";
import type { AccessDependencies } from "../../../access/access.ts";
import { accessOfTests, grantOfTests } from "../../../access/testing/grants.ts";
import type { PastBlocks } from "../../../history/index.ts";
import { type NodeBlocks, ReadBodies, YellowstoneSource } from "../../../ingest/index.ts";
import type { Grant, KeyRefusal } from "../../../keys/index.ts";
import type { RequestFact } from "../../../ledger/index.ts";
import { createLimits } from "../../../limits/index.ts";
import type { BlockHeader, ChainLog } from "../../../log/index.ts";
import { chain } from "../../../log/testing/chain-model.ts";
import { type MemoryLog, openMemoryLog } from "../../../log/testing/memory-log.ts";
import { type CertificateSource, GrpcServer } from "../../../net/index.ts";
import { createLog, createMetrics } from "../../../observe/index.ts";
import { createStreamsEvents } from "../../events.ts";
import { Flows } from "../../flow/flows.ts";
import { YellowstoneEndpoint } from "../endpoint.ts";
import { createYellowstoneEvents } from "../events.ts";

export const professional: Grant = {
  ...grantOfTests,
  tier: "professional",
  tiers: { ...grantOfTests.tiers, platform: "professional" },
};

/** A node of the development chain, a log that is fed by its stream, and Yellowstone gRPC over that log. */
export interface YellowstoneStand extends AsyncDisposable {
  readonly faulty: FaultyNode;
  readonly url: string;
  readonly port: number;
  readonly endpoint: YellowstoneEndpoint;
  readonly memory: MemoryLog;
  readonly metrics: ReturnType<typeof createMetrics>;
  readonly facts: RequestFact[];
  /** What each key opens; absent ones are unknown. */
  readonly keys: Map<string, Grant>;
  /** Closes slots, and waits until the log has what they settled. */
  closeSlots(count: number): Promise<void>;
  stop(): Promise<void>;
}

export interface StandOptions {
  readonly node?: Parameters<typeof bootFaultyNode>[0];
  /** Credits that the account has. */
  readonly credits?: number;
  /** Whether the endpoint may ask the node for what blocks do not hold. */
  readonly hasSource?: boolean;
  /** What the log no longer holds. */
  readonly past?: PastBlocks | null;
  readonly tls?: CertificateSource | null;
}

export async function openStand({
  node = {},
  credits = Infinity,
  hasSource = false,
  past = null,
  tls = null,
}: StandOptions = {}): Promise<YellowstoneStand> {
  const resources = new AsyncDisposableStack();
  const faulty = resources.use(await bootFaultyNode({ grpcPort: 0, ...node }));
  const memory = await openMemoryLog(chain);
  resources.use(memory.log);
  const feeding = resources.use(feed(memory.log, faulty.node.grpcUrl ?? ""));
  const metrics = createMetrics();
  const observe = { log: createLog({ level: "silent" }), metrics };
  const flows = resources.use(new Flows({ events: createStreamsEvents(observe), past }));
  await flows.follow({
    networks: ["devnet"],
    follow: async (listener) => {
      await listener("devnet", memory.log, chain);
      return { [Symbol.dispose]: () => {}, [Symbol.asyncDispose]: async () => {} };
    },
  });
  const keys = new Map<string, Grant>([["pro", professional]]);
  const facts: RequestFact[] = [];
  const clock = systemClock;
  const endpoint = resources.use(
    new YellowstoneEndpoint(
      {
        networkDefault: "devnet",
        trustedProxies: compileAddressSet([]),
        version: "0.0.0",
        heldBytesMax: 64 * 1024 * 1024,
      },
      {
        clock,
        random: seededRandom(1),
        access: accessOfTests({ keys: keysOf(keys), limits: createLimits({}, { clock }), credits: creditsOf(credits) }),
        flows,
        nodes: () => (hasSource ? [{ url: faulty.node.grpcUrl ?? "", token: null }] : []),
        events: createYellowstoneEvents(observe),
        requestId: () => "r",
        served: (fact) => facts.push(fact),
      },
    ),
  );
  const server = await GrpcServer.open(
    { endpoint: "yellowstone", hostname: "127.0.0.1", port: 0, tls, messageBytesMax: 4 * 1024 * 1024 },
    { clock, services: [endpoint.service], isServing: () => true },
  );
  resources.defer(() => server.stop(500));
  await eventually("the source is up", () => feeding.isUp);
  const firstSlot = faulty.node.chain.at("processed").slot;
  const settled = (): boolean =>
    (["confirmed", "finalized"] as const).every((stage) => {
      const { slot } = faulty.node.chain.at(stage);
      // What was settled before the log began is not in it.
      return slot < firstSlot || (memory.log.latest(stage)?.slot ?? -1n) >= slot;
    });
  return {
    faulty,
    url: `http://127.0.0.1:${server.port}`,
    port: server.port,
    endpoint,
    memory,
    metrics,
    facts,
    keys,
    async closeSlots(count) {
      await faulty.closeSlots(count);
      await eventually("the log has what is settled", settled, 10_000);
    },
    stop: () => server.stop(2_000),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

function keysOf(keys: ReadonlyMap<string, Grant>): AccessDependencies["keys"] {
  const unknown: KeyRefusal = { ok: false, code: "INVALID_API_KEY" };
  return {
    authenticate: (presented) => keys.get(presented ?? "") ?? unknown,
    remembered: () => null,
    checkRestrictions: ({ restrictions }, { network }) =>
      restrictions.networks === null || (network !== null && restrictions.networks.has(network))
        ? null
        : "NETWORK_NOT_ALLOWED",
  };
}

function creditsOf(credits: number): AccessDependencies["credits"] {
  let left = credits;
  return {
    take: (_account, _allowance, cost) => {
      if (left < cost) return false;
      left -= cost;
      return true;
    },
    refund: () => {},
    balance: () => ({ remaining: left, resetsAtMs: 0 }),
  };
}

/** Appends what a node's stream tells, as ingest does with a node that nobody contradicts. */
function feed(log: ChainLog, url: string): AsyncDisposable & { readonly isUp: boolean } {
  let isUp = false;
  const headers = new Map<bigint, BlockHeader>();
  const unasked = (): never => {
    throw new Error("the source asks nothing");
  };
  const source = new YellowstoneSource(
    { node: "node", url, token: null },
    {
      clock: systemClock,
      random: seededRandom(2),
      bodies: new ReadBodies(),
      blocks: { fetchBlock: unasked, fetchDigest: unasked, fetchSlots: unasked } as unknown as NodeBlocks,
    },
  );
  source.start({
    block: (_source, { block: { header, body } }) => {
      headers.set(header.slot, { ...header, chain });
      void log.append({ kind: "block", header: { ...header, chain }, stage: "confirmed", body });
    },
    slot: (_source, { slot, stage }) => {
      const header = headers.get(slot);
      if (stage === "finalized" && header !== undefined) void log.append({ kind: "stage", header, stage });
    },
    up: () => {
      isUp = true;
    },
    down: () => {},
    malformed: unasked,
  });
  return {
    get isUp() {
      return isUp;
    },
    [Symbol.asyncDispose]: () => source[Symbol.asyncDispose](),
  };
}
