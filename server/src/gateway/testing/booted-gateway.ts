import { SluiceError } from "@sluice/contract/errors";
import type { CommitmentName } from "@sluice/contract/rpc";
import type { Network } from "@sluice/contract/tiers";
import { compileAddressSet, seededRandom, systemClock } from "@sluice/lib";
import { accessOfTests, grantOfTests } from "../../access/testing/grants.ts";
import { AnswerCache } from "../../cache/index.ts";
import { resultAnswer } from "../../history/index.ts";
import { createRequestIds } from "../../http/index.ts";
import { fixedProbes } from "../../http/testing/fixed-probes.ts";
import type { Grant, Keys, RestrictedRequest, RestrictionCode } from "../../keys/index.ts";
import type { RequestFact } from "../../ledger/index.ts";
import type { LimitDecision } from "../../limits/index.ts";
import type { Tracing } from "../../observe/index.ts";
import { type AssetAnswers, Rpc } from "../../rpc/index.ts";
import { PubSubEndpoint, type PubSubFlow } from "../../streams/index.ts";
import { createUpstreams, type NodeAnswer, type UpstreamOutcome } from "../../upstreams/index.ts";
import { type GatewayDependencies, GatewayServer } from "../gateway.ts";

export const testKey = "sk_dev_test";

export const testGrant = grantOfTests;

/** Rooms below the gateway as a test wants them: everything is allowed unless it says otherwise. */
export interface Fakes {
  /** Codes by presented key; `testKey` is good, others are unknown. */
  authenticate: Keys["authenticate"];
  restriction: (request: RestrictedRequest) => RestrictionCode | null;
  take: (bucket: string, cost: number) => Partial<LimitDecision>;
  /** Credits left; what was taken and refunded moves it. */
  creditsLeft: number;
  creditsAsync: boolean;
  /** No credits can be leased. */
  creditsAway: boolean;
  health: "ok" | "down";
  /** Answers the methods over digital assets. */
  answerAsset: AssetAnswers["answer"];
  /** Messages over PubSub that could not be sent at once. */
  messagesWaited: number;
}

export interface BootedGateway extends AsyncDisposable {
  readonly url: string;
  readonly ws: string;
  readonly pubsubWs: string;
  readonly port: number;
  readonly gateway: GatewayServer;
  readonly pubsub: PubSubEndpoint;
  readonly fakes: Fakes;
  readonly facts: RequestFact[];
  readonly faults: unknown[];
  /** The newest slot that the gateway knows on devnet. */
  slotOf(commitment: CommitmentName): bigint | null;
  /** Posts a body to /rpc with the good key. */
  post(
    body: string | Uint8Array<ArrayBuffer>,
    init?: { path?: string; headers?: Record<string, string> },
  ): Promise<Response>;
}

interface StubAddress {
  readonly url: string;
  readonly ws: string;
}

export interface BootOptions {
  readonly upstreams?: Partial<Record<Network, StubAddress | readonly StubAddress[]>>;
  readonly allowUnknownMethods?: boolean;
  readonly deadlineMs?: number;
  readonly bodyTimeoutMs?: number;
  readonly inFlightMax?: number;
  readonly apps?: GatewayDependencies["apps"];
  readonly tracing?: Pick<Tracing, "span">;
  readonly reportEveryMs?: number;
  /** The blocks of devnet, for PubSub. */
  readonly flow?: () => PubSubFlow | null;
}

function makeFakes(): Fakes {
  return {
    authenticate: (presented) => (presented === testKey ? testGrant : { ok: false, code: "INVALID_API_KEY" }),
    restriction: () => null,
    take: () => ({}),
    creditsLeft: 1_000_000,
    creditsAsync: false,
    creditsAway: false,
    health: "ok",
    answerAsset: async ({ method }) => ({ ok: true, answer: resultAnswer(JSON.stringify(method)) }),
    messagesWaited: 0,
  };
}

function dependenciesOf(fakes: Fakes, facts: RequestFact[], faults: unknown[]) {
  return {
    clock: systemClock,
    access: accessOfTests({
      keys: {
        authenticate: (presented: string | null) => fakes.authenticate(presented),
        checkRestrictions: (_grant: Grant, request: RestrictedRequest) => fakes.restriction(request),
      },
      limits: {
        take: (bucket: string, rate: number, burst: number, cost = 1) => ({
          allowed: true,
          limit: rate,
          burst,
          remaining: burst - cost,
          resetAt: 1_800_000_000,
          retryAfterSeconds: 0,
          ...fakes.take(bucket, cost),
        }),
      },
      credits: {
        take: (_account: string, _allowance: bigint | null, cost: number) => {
          if (fakes.creditsAway) return Promise.reject(new SluiceError("STORE_UNAVAILABLE"));
          const isPaid = fakes.creditsLeft >= cost;
          if (isPaid) fakes.creditsLeft -= cost;
          return fakes.creditsAsync ? Promise.resolve(isPaid) : isPaid;
        },
        refund: (_account: string, cost: number) => {
          fakes.creditsLeft += cost;
        },
        balance: () => ({ remaining: fakes.creditsLeft, resetsAtMs: Date.UTC(2026, 11, 1) }),
      },
    }),
    requestId: createRequestIds({ random: seededRandom(1) }),
    served: (fact: RequestFact) => void facts.push(fact),
    events: {
      requestRefused: () => {},
      internalError: (_where: string, error: unknown) => void faults.push(error),
      largeAnswerEnded: () => {},
      pubsubOpened: () => {},
      pubsubClosed: () => {},
      pubsubMoved: () => {},
      pubsubShared: () => {},
      pubsubPlaced: () => {},
      pubsubUpstreams: () => {},
      pubsubBridged: () => {},
      pubsubWaited: (_endpoint: string, _network: string, messages: number) => {
        fakes.messagesWaited += messages;
      },
    },
  };
}

/** A node of every group without a limit of its own. */
const plainNode = (address: { url: string; ws: string; label: string }) => ({
  ...address,
  headers: {},
  groups: ["read", "archive", "send"] as const,
  weight: 1,
  requestsPerSecond: null,
});

/** A whole gateway in this process on free ports: real gateway, rpc, cache and upstreams, fakes for the rest. */
export async function bootGateway(options: BootOptions): Promise<BootedGateway> {
  const fakes = makeFakes();
  const facts: RequestFact[] = [];
  const faults: unknown[] = [];
  const node = (network: Network) =>
    [options.upstreams?.[network] ?? []]
      .flat()
      .map(({ url, ws }, index) => plainNode({ url, ws, label: `${network}-${index + 1}` }));
  const upstreams = createUpstreams(
    {
      networks: { mainnet: node("mainnet"), devnet: node("devnet"), testnet: node("testnet") },
      ...(options.deadlineMs === undefined ? {} : { deadlineMs: options.deadlineMs }),
    },
    {
      clock: systemClock,
      random: seededRandom(2),
      tracing: options.tracing ?? null,
      onSlot: (network, commitment) => cache.slotMoved(network, commitment),
    },
  );
  const cache = new AnswerCache<NodeAnswer, UpstreamOutcome>(
    {},
    { clock: systemClock, isLive: (network, commitment) => upstreams.pool(network)?.isLive(commitment) ?? false },
  );
  const rpc = new Rpc(
    { allowUnknownMethods: options.allowUnknownMethods ?? false },
    { clock: systemClock, cache, pool: (network) => upstreams.pool(network), sent: null },
  );
  const shared = dependenciesOf(fakes, facts, faults);
  const trustedProxies = compileAddressSet([]);
  const pubsub = new PubSubEndpoint(
    {
      networkDefault: "devnet",
      allowUnknownMethods: options.allowUnknownMethods ?? false,
      ...(options.reportEveryMs === undefined ? {} : { reportEveryMs: options.reportEveryMs }),
    },
    {
      ...shared,
      random: seededRandom(3),
      pool: (network) => upstreams.pool(network),
      flow: (network) => (network === "devnet" ? (options.flow?.() ?? null) : null),
    },
  );
  rpc.serveAssets({ answer: (call) => fakes.answerAsset(call) });
  const gateway = new GatewayServer(
    {
      hostname: "127.0.0.1",
      port: 0,
      pubsubPort: 0,
      networkDefault: "devnet",
      trustedProxies,
      ...(options.bodyTimeoutMs === undefined ? {} : { bodyTimeoutMs: options.bodyTimeoutMs }),
      ...(options.inFlightMax === undefined ? {} : { inFlightMax: options.inFlightMax }),
    },
    {
      ...shared,
      rpc,
      pubsub,
      sockets: [pubsub],
      apps: options.apps ?? [],
      tracing: options.tracing ?? null,
      probes: fixedProbes(() => fakes.health),
    },
  );
  upstreams.start();
  await untilLive(() => {
    const live = (Object.keys(options.upstreams ?? {}) as Network[]).map((network) => upstreams.pool(network));
    return live.every((pool) => pool === null || pool.health().every((health) => health.slot !== null));
  });
  const url = `http://127.0.0.1:${gateway.port}`;
  return {
    url,
    ws: `ws://127.0.0.1:${gateway.port}`,
    pubsubWs: `ws://127.0.0.1:${gateway.pubsubPort}`,
    port: gateway.port,
    gateway,
    pubsub,
    fakes,
    facts,
    faults,
    slotOf: (commitment) => upstreams.pool("devnet")?.slotOf(commitment) ?? null,
    post: (body, init = {}) =>
      fetch(`${url}${init.path ?? "/rpc"}`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-api-key": testKey, ...init.headers },
        body,
      }),
    [Symbol.asyncDispose]: async () => {
      await gateway.stop(0);
      pubsub[Symbol.dispose]();
      await upstreams[Symbol.asyncDispose]();
    },
  };
}

/** Waits for the first slots, or half a second: a node that is meant to be dead never reports any. */
async function untilLive(isLive: () => boolean): Promise<void> {
  for (let turn = 0; turn < 100 && !isLive(); turn += 1) await Bun.sleep(5);
}
