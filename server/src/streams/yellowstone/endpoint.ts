import { errorTable } from "@sluice/contract/errors";
import { protoFiles } from "@sluice/contract/proto";
import { type Network, platformTierLimits } from "@sluice/contract/tiers";
import { yellowstoneBounds, yellowstoneLimits } from "@sluice/contract/yellowstone";
import { completeRequest, requestIdentity } from "@sluice/encode/updates";
import type { SubscribeRequest } from "@sluice/geyser";
import { type AddressSet, type Clock, invariant, type Random, type Timer } from "@sluice/lib";
import type { Access } from "../../access/index.ts";
import type { UpstreamConfig } from "../../config/index.ts";
import { openGeyserStream } from "../../ingest/index.ts";
import {
  type CallContext,
  type FrontedPeers,
  type GrpcContext,
  type GrpcService,
  GrpcStatusError,
  loadService,
  type PackedResponses,
  packedDuplex,
  packedMethod,
  unary,
} from "../../net/index.ts";
import { ConnectionMeter, type ConnectionMeterDependencies } from "../delivery/connection-meter.ts";
import { ConnectionCounts, type ConnectionPlaces, HeldPlace } from "../delivery/connection-places.ts";
import type { Flows, NetworkFlow } from "../flow/flows.ts";
import { admitCaller, type GeyserCaller } from "./caller.ts";
import { chainAnswers } from "./chain-answers.ts";
import { ClientStream, type ReadRequest } from "./client-stream.ts";
import type { YellowstoneEvents } from "./events.ts";
import { filterLimitsOf } from "./filter-limits.ts";
import { shuttingDown } from "./flow-subscription.ts";
import { NetworkStreams } from "./network-streams.ts";
import { NodeFeed } from "./node-feed.ts";

export interface YellowstoneEndpointOptions {
  readonly networkDefault: Network;
  readonly trustedProxies: AddressSet;
  /** The version of Sluice, as GetVersion tells it. */
  readonly version: string;
  /** Of the front that the server is behind, if it is. */
  readonly peers?: FrontedPeers | undefined;
  readonly reportEveryMs?: number;
  /** Bytes of accounts and entries of one network that wait for their commitment. */
  readonly heldBytesMax: number;
}

export interface YellowstoneEndpointDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly access: Access;
  readonly flows: Flows;
  readonly events: YellowstoneEvents;
  readonly requestId: () => string;
  readonly openStream?: typeof openGeyserStream;
  readonly served: ConnectionMeterDependencies["served"];
  /** The Yellowstone streams of a network's nodes, the best first. */
  readonly nodes: (network: Network) => readonly NonNullable<UpstreamConfig["yellowstone"]>[];
  /** Shared with `/ws` and PubSub; the endpoint's own when absent. */
  readonly places?: ConnectionPlaces;
}

const reportEveryMsDefault = 50_000;
const service = "geyser.Geyser";
/** What the last fact of a stream has as its status. */
const closedStatus = 200;

interface OpenStream {
  readonly place: HeldPlace;
  readonly stream: ClientStream;
  readonly caller: GeyserCaller;
  readonly meter: ConnectionMeter;
}

/** Yellowstone gRPC (geyser.Geyser) over the flow of blocks. */
export class YellowstoneEndpoint implements Disposable {
  readonly service: GrpcService;
  readonly #options: YellowstoneEndpointOptions;
  readonly #dependencies: YellowstoneEndpointDependencies;
  readonly #places: ConnectionPlaces;
  readonly #networks = new WeakMap<NetworkFlow, NetworkStreams>();
  readonly #feeds = new Map<Network, NodeFeed>();
  readonly #streams = new Set<OpenStream>();
  #rechecks = 0;
  readonly #timer: Timer;

  constructor(options: YellowstoneEndpointOptions, dependencies: YellowstoneEndpointDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#places = dependencies.places ?? new ConnectionCounts();
    const { requestId, events, clock } = dependencies;
    const host: GrpcContext = {
      requestId,
      trustedProxies: options.trustedProxies,
      peers: options.peers,
      events,
    };
    this.service = {
      definition: packedMethod(loadService(protoFiles.geyser, service), "Subscribe", readRequest),
      implementation: this.#implementation(host),
      drain: () => {
        for (const { stream } of this.#streams) stream.end(shuttingDown());
      },
    };
    this.#timer = clock.every(yellowstoneBounds.pingMs, () => {
      for (const { stream, meter } of this.#streams) {
        stream.ping();
        meter.reportWhenDue("");
      }
    });
  }

  /** Streams that are open. */
  get size(): number {
    return this.#streams.size;
  }

  /** Ends the streams of those whose key no longer opens the endpoint; the newest first where a tier allows fewer. */
  async recheck(): Promise<void> {
    this.#rechecks += 1;
    await Promise.all([...this.#streams].toReversed().map((open) => this.#recheckOne(open)));
  }

  [Symbol.dispose](): void {
    this.#timer.cancel();
    for (const feed of this.#feeds.values()) feed[Symbol.dispose]();
  }

  async #recheckOne({ stream, caller, place }: OpenStream): Promise<void> {
    const again = await caller.recheck();
    if (again instanceof GrpcStatusError) {
      // While keys cannot be looked up, the answer before stands.
      if (again.code !== "UNAVAILABLE") stream.end(again);
      return;
    }
    stream.grant = again;
    const { webSocketConnections } = platformTierLimits[again.tier];
    if (await place.leaveBeyond(webSocketConnections)) stream.end(tooMany());
  }

  #implementation(host: GrpcContext): GrpcService["implementation"] {
    const answered = <Q extends object>(
      answer: (request: Q, network: Network) => object | Promise<object>,
      credits: number,
    ) =>
      unary(host, async (request: Q, context) => {
        const { grant, network } = await this.#admit(context);
        if (!(await this.#dependencies.access.charge(grant, credits))) {
          const { message } = this.#dependencies.access.shortage(grant, credits);
          throw new GrpcStatusError("RESOURCE_EXHAUSTED", message, { publicCode: "INSUFFICIENT_CREDITS" });
        }
        return answer(request, network);
      });
    const ofChain = Object.entries(chainAnswers).map(([method, answer]) => {
      const of = answer as (request: object, log: NetworkFlow["log"]) => object;
      return [method, answered((request: object, network) => of(request, this.#flowOf(network).log), 1)] as const;
    });
    const packing = { clock: this.#dependencies.clock, endMsMax: yellowstoneBounds.endMs };
    return {
      ...Object.fromEntries(ofChain),
      Subscribe: packedDuplex<ReadRequest>(host, (context, responses) => this.#open(context, responses), packing),
      SubscribeDeshred: packedDuplex<object>(
        host,
        () => {
          throw new GrpcStatusError("UNIMPLEMENTED", "transactions before their execution are not served");
        },
        packing,
      ),
      SubscribeReplayInfo: answered((_: object, network) => this.#replayInfo(network), 1),
      Ping: answered(({ count }: { count: number }) => ({ count }), 0),
      GetVersion: answered(() => ({ version: versionText(this.#options.version) }), 0),
    };
  }

  /** The first slot that `from_slot` can ask for, in the log or before it. */
  async #replayInfo(network: Network): Promise<object> {
    const flow = this.#flowOf(network);
    // While what holds the past is away the log alone can be had.
    const first = await flow.firstSlot("confirmed").catch(() => flow.log.earliest()?.slot ?? null);
    return first === null ? {} : { first_available: `${first}` };
  }

  #admit(context: CallContext): Promise<GeyserCaller> {
    return admitCaller(this.#options, this.#dependencies.access, context);
  }

  async #open(context: CallContext, responses: PackedResponses): Promise<ClientStream> {
    const { clock, access, served, events } = this.#dependencies;
    const startedMs = clock.monotonic();
    const rechecks = this.#rechecks;
    const caller = await this.#admit(context);
    const { grant, network } = caller;
    const { webSocketConnections } = platformTierLimits[grant.tier];
    if (!(await this.#places.enter(grant.accountId, webSocketConnections))) throw tooMany();
    const place = new HeldPlace(this.#places, grant.accountId);
    const { requestId } = context;
    const { accountId, keyId } = grant;
    const meter = new ConnectionMeter(
      { requestId, accountId, keyId, network, door: "yellowstone", startedMs },
      { clock, access, served, reportEveryMs: this.#options.reportEveryMs ?? reportEveryMsDefault },
    );
    const stream = new ClientStream(grant, {
      clock,
      responses,
      meter,
      take: ({ buckets }, messages) => {
        const decision = access.meter(buckets.messages, messages);
        return decision instanceof Promise ? decision.then(({ allowed }) => allowed) : decision.allowed;
      },
      mayRead: async ({ buckets }) => (await access.meter(buckets.requests)).allowed,
      streams: () => this.#streamsOf(network),
      limits: ({ tier }) => filterLimitsOf(yellowstoneLimits[tier]),
      sent: (messages) => events.messagesSent(messages),
      lagged: () => events.lagged(),
    });
    const open = { stream, caller, meter, place };
    this.#streams.add(open);
    responses.onClose(() => {
      this.#streams.delete(open);
      place.leave();
      void meter.end(closedStatus, "");
    });
    // What was revoked while it was being admitted was not told to it.
    if (rechecks !== this.#rechecks) void this.#recheckOne(open);
    return stream;
  }

  /** One for a network, as long as the endpoint lives. */
  #feedOf(network: Network): NodeFeed | null {
    const known = this.#feeds.get(network);
    const addresses = this.#dependencies.nodes(network);
    if (known !== undefined || addresses.length === 0) return known ?? null;
    const { clock, random, flows, openStream = openGeyserStream } = this.#dependencies;
    const feed = new NodeFeed(
      { addresses, heldBytesMax: this.#options.heldBytesMax },
      { clock, random, reader: flows.reader, openStream, packRequest: packerOf(this.service.definition) },
    );
    this.#feeds.set(network, feed);
    return feed;
  }

  #flowOf(network: Network): NetworkFlow {
    const flow = this.#dependencies.flows.network(network);
    if (flow === null) throw new GrpcStatusError("UNAVAILABLE", errorTable.NETWORK_UNAVAILABLE.text);
    return flow;
  }

  #streamsOf(network: Network): NetworkStreams | null {
    const flow = this.#dependencies.flows.network(network);
    if (flow === null) return null;
    const known = this.#networks.get(flow);
    if (known !== undefined) return known;
    const { reader } = this.#dependencies.flows;
    const streams = new NetworkStreams(flow, this.#feedOf(network), { ...this.#dependencies, reader });
    this.#networks.set(flow, streams);
    return streams;
  }
}

function packerOf(definition: GrpcService["definition"]): (request: SubscribeRequest) => Uint8Array {
  const serialize = definition["Subscribe"]?.requestSerialize;
  invariant(serialize !== undefined, "the service has the method Subscribe");
  return (request) => serialize(request);
}

function readRequest(bytes: Buffer, decode: (bytes: Buffer) => object): ReadRequest {
  const complete = completeRequest(bytes);
  const request = decode(Buffer.from(complete.buffer, complete.byteOffset, complete.byteLength));
  // The loader's types say no more of a message than that it is one.
  return { request: request as SubscribeRequest, identity: requestIdentity(bytes), bytes: bytes.length };
}

const tooMany = (): GrpcStatusError =>
  new GrpcStatusError("RESOURCE_EXHAUSTED", "max subscription limit exceeded", { publicCode: "RATE_LIMIT_EXCEEDED" });

/** In the form of yellowstone-grpc. */
function versionText(version: string): string {
  const parts = { package: "sluice", version, proto: "12", solana: "", git: "", rustc: "", buildts: "" };
  return JSON.stringify({ version: parts, extra: { hostname: null } });
}
