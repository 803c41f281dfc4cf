import { type Clock, compileAddressSet, type Random, seededRandom } from "@sluice/lib";
import type { PastBlocks } from "../../../history/index.ts";
import type { ChainIdentity, ChainLog, ChainLogListener } from "../../../log/index.ts";
import { createLog, createMetrics } from "../../../observe/index.ts";
import {
  ConnectionCounts,
  createStreamsEvents,
  createYellowstoneEvents,
  Flows,
  MessagePacer,
  PubSubEndpoint,
  StreamEndpoint,
  YellowstoneEndpoint,
} from "../../index.ts";
import type { PubSubDependencies } from "../../pubsub/session-dependencies.ts";
import { accountsAccess, type PlayedAccounts } from "./played-accounts.ts";
import { PlayedCall } from "./played-call.ts";
import { PlayedSocket } from "./played-socket.ts";

const observe = { log: createLog({ level: "silent" }), metrics: createMetrics() };
const counted = createStreamsEvents(observe);
const yellowstoneEvents = createYellowstoneEvents(observe);

/** A log as one process has it; `kill` ends it without a word. */
export interface OpenedLog {
  readonly log: ChainLog;
  readonly kill: () => void;
}

export interface HostDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly accounts: PlayedAccounts;
  readonly past: PastBlocks | null;
  readonly failed: (what: string) => void;
}

/** One process with streams: flows, `/ws`, PubSub and Yellowstone gRPC over its own view of the log. */
export class StreamsHost {
  readonly #flows: Flows;
  readonly #ws: StreamEndpoint;
  readonly #pubsub: PubSubEndpoint;
  readonly #yellowstone: YellowstoneEndpoint;
  readonly sockets = new Set<PlayedSocket>();
  readonly #calls = new Set<PlayedCall>();
  #tell: ChainLogListener = () => undefined;
  #opened: OpenedLog | null = null;

  constructor(dependencies: HostDependencies) {
    const { clock, accounts, past, failed } = dependencies;
    const random = seededRandom(Math.floor(dependencies.random.next() * 2 ** 32));
    const events = {
      ...counted,
      flowFailed: (_network: string, error: unknown) => failed(`the flow failed: ${error}`),
      internalError: (where: string, error: unknown) => failed(`${where}: ${error}`),
      blockUnreadable: (_network: string, slot: bigint) => failed(`${slot} cannot be read`),
    };
    this.#flows = new Flows({ events, past });
    const access = accountsAccess(accounts, clock);
    let requests = 0;
    const shared = {
      clock,
      random,
      access,
      requestId: () => `req_${++requests}`,
      served: () => undefined,
      places: new ConnectionCounts(),
    };
    this.#ws = new StreamEndpoint(
      { networkDefault: "devnet" },
      {
        ...shared,
        events,
        refused: () => undefined,
        flows: this.#flows,
        slots: { subscribe: () => ({ [Symbol.dispose]: () => undefined }) },
        pacer: new MessagePacer({ clock, access }),
      },
    );
    this.#pubsub = new PubSubEndpoint(
      { networkDefault: "devnet" },
      {
        ...shared,
        events: { ...pubsubEvents, internalError: events.internalError },
        pool: () => nodes,
        flow: (network) => this.#flows.network(network),
      },
    );
    this.#yellowstone = new YellowstoneEndpoint(
      { networkDefault: "devnet", trustedProxies: compileAddressSet([]), version: "0", heldBytesMax: 0 },
      {
        ...shared,
        events: { ...yellowstoneEvents, internalError: events.internalError },
        flows: this.#flows,
        nodes: () => [],
      },
    );
  }

  get log(): ChainLog | null {
    return this.#opened?.log ?? null;
  }

  async open(opened: OpenedLog, chain: ChainIdentity): Promise<void> {
    this.#opened = opened;
    await this.#flows.follow({
      networks: ["devnet"],
      follow: async (listener) => {
        this.#tell = listener;
        return { [Symbol.dispose]: () => undefined };
      },
    });
    await this.#tell("devnet", opened.log, chain);
  }

  /** The network's chain is another one. */
  async replace(opened: OpenedLog, chain: ChainIdentity): Promise<void> {
    const before = this.#opened;
    await this.#tell("devnet", null, chain);
    this.#opened = opened;
    before?.kill();
    void before?.log[Symbol.asyncDispose]();
    await this.#tell("devnet", opened.log, chain);
  }

  async connect(key: string, door: "ws" | "pubsub"): Promise<PlayedSocket> {
    const endpoint = door === "ws" ? this.#ws : this.#pubsub;
    const request = new Request(`http://streams.test/${door === "ws" ? "ws" : "rpc"}?api-key=${key}`);
    const socket = new PlayedSocket(await endpoint.begin(request, { requestIP: () => ({ address: "127.0.0.1" }) }));
    this.sockets.add(socket);
    return socket;
  }

  connectGeyser(metadata: Readonly<Record<string, string>>): PlayedCall {
    const call = new PlayedCall(metadata, this.#yellowstone.service);
    this.#calls.add(call);
    return call;
  }

  recheck(): void {
    void this.#yellowstone.recheck();
    this.#ws.recheck();
    this.#pubsub.recheck();
  }

  tick(): void {
    for (const socket of this.sockets) {
      if (socket.isOver) this.sockets.delete(socket);
      else socket.tick();
    }
    for (const call of this.#calls) if (call.isOver) this.#calls.delete(call);
  }

  drain(): void {
    for (const socket of this.sockets) socket.drain();
    this.#yellowstone.service.drain?.();
  }

  /** The process is gone, with all that has not arrived where it was killed. */
  end(how: "killed" | "drained"): void {
    if (how === "drained") this.drain();
    else for (const each of [...this.sockets, ...this.#calls]) each.cut();
    this.#opened?.kill();
    this.#flows[Symbol.dispose]();
    this.#ws[Symbol.dispose]();
    this.#pubsub[Symbol.dispose]();
    this.#yellowstone[Symbol.dispose]();
    void this.#opened?.log[Symbol.asyncDispose]();
    this.#opened = null;
  }
}

const pubsubEvents: PubSubDependencies["events"] = {
  internalError: () => undefined,
  requestRefused: () => undefined,
  pubsubOpened: () => undefined,
  pubsubClosed: () => undefined,
  pubsubWaited: () => undefined,
  pubsubMoved: () => undefined,
  pubsubShared: () => undefined,
  pubsubPlaced: () => undefined,
  pubsubUpstreams: () => undefined,
  pubsubBridged: () => undefined,
};

/** Nodes that a client may be admitted for, and that take no subscription and answer nothing. */
const nodes: NonNullable<ReturnType<PubSubDependencies["pool"]>> = {
  network: "devnet",
  pubsubNode: (lost) => (lost === undefined ? { label: "n", ws: "ws://nodes.test", headers: {} } : null),
  mayNotify: () => true,
  call: () => ({ ok: false }) as never,
  slotOf: () => null,
};
