import type { Clock, Log } from "@sluice/lib";
import type { Svm } from "@sluice/svm/bank";
import type { Server, ServerWebSocket } from "bun";
import { ResettableListener } from "../listener.ts";
import { Chain, PerformanceSamples } from "./bank/index.ts";
import {
  adminMethods,
  EdgeFaults,
  Faults,
  healthMethod,
  LaggingView,
  methodsOf,
  SlotClock,
  SlotTimer,
  SocketFaults,
} from "./faults/index.ts";
import { createGenesis, loadGenesis } from "./genesis/index.ts";
import { BlockEngineLinks } from "./leader/index.ts";
import type { NodeOptions } from "./options.ts";
import { type ChainEvent, PubSubHub, SocketClient } from "./pubsub/index.ts";
import {
  answerBody,
  answerHttp,
  type Dispatch,
  dispatcher,
  FaucetRequests,
  type Method,
  type RpcNode,
  rpcMethods,
} from "./rpc/index.ts";
import { startTraffic } from "./traffic/index.ts";
import { defaultLimits, serveYellowstone, YellowstoneHub, type YellowstoneServer } from "./yellowstone/index.ts";

/** Longest text that a client may send over a socket. Source: Solana JSON-RPC, limits. */
const socketMessageBytesMax = 4_096;
/** Bytes that may wait for a slow client before its connection is closed. */
const socketBacklogBytesMax = 64 * 1_024 * 1_024;
/** Between a validator's looks at its tokens. Source: jito-solana, the block engine stage's maintenance tick. */
const engineTickMs = 1_000;

interface SocketData {
  client: SocketClient | null;
  dispatch: Dispatch | null;
}

/** A running development chain with its endpoints. */
export interface ChainNode extends AsyncDisposable {
  readonly chain: Chain;
  readonly rpcUrl: string;
  readonly wsUrl: string;
  /** Where nothing but devnet_* is answered, whatever goes wrong elsewhere; null without `admin`. */
  readonly adminUrl: string | null;
  /** Where Yellowstone is served; null without it. */
  readonly grpcUrl: string | null;
  /** Closes the open slot now, beside what the timer does; tests that own the time use it. */
  closeSlot(): Promise<void>;
  /** Answers a body as the HTTP endpoint does, without a socket; null when there is no answer. */
  answer(body: string): Promise<string | null>;
}

function address(hostname: string): string {
  return hostname.includes(":") ? `[${hostname}]` : hostname;
}

function watch(chain: Chain, publish: (event: ChainEvent) => void, performance: PerformanceSamples): void {
  const reached = (commitment: "confirmed" | "finalized") => (bank: ReturnType<Chain["at"]>) => {
    const block = chain.history.block(bank.slot);
    if (block !== null) publish({ kind: "reached", commitment, bank, block });
  };
  chain.watch({
    received: (signature) => publish({ kind: "received", signature }),
    opened: (slot, parent) => publish({ kind: "opened", slot, parent }),
    frozen(bank, block) {
      performance.frozen(bank);
      publish({ kind: "reached", commitment: "processed", bank, block });
    },
    confirmed: reached("confirmed"),
    finalized: reached("finalized"),
    abandoned(parent, slots, reverted) {
      performance.abandoned(parent);
      publish({ kind: "abandoned", slots, reverted });
    },
  });
}

interface Behind {
  readonly rpc: Dispatch;
  readonly hub: PubSubHub;
  readonly node: RpcNode;
  readonly edge: EdgeFaults;
  readonly sockets: SocketFaults;
  readonly isHealthy: () => boolean;
}

function serve(port: number, options: NodeOptions, behind: Behind): Server<SocketData> {
  const { rpc, hub, node, edge, sockets } = behind;
  const text = (path: string): string | null => {
    if (path === "/health") return behind.isHealthy() ? "ok" : "behind";
    if (path !== "/v0/circulating-supply" && path !== "/v0/total-supply") return null;
    const total = node.chain.at("finalized").capitalization;
    return `${total / 1_000_000_000n}.${(total % 1_000_000_000n).toString().padStart(9, "0")}`;
  };
  return Bun.serve<SocketData>({
    port,
    hostname: options.host,
    // Clients keep their connections for as long as they like, up to what Bun allows.
    idleTimeout: 255,
    // Bodies are bounded while they are read, with the node's own words.
    maxRequestBodySize: 16 * 1_024 * 1_024,
    fetch(request, server) {
      const upgrade = request.headers.get("upgrade")?.toLowerCase() === "websocket";
      if (upgrade && server.upgrade(request, { data: { client: null, dispatch: null } })) return undefined;
      return edge.answer(request, (asked) => answerHttp(asked, rpc, text, options));
    },
    error: () => new Response("Internal error", { status: 500 }),
    websocket: {
      maxPayloadLength: socketMessageBytesMax,
      backpressureLimit: socketBacklogBytesMax,
      closeOnBackpressureLimit: true,
      idleTimeout: 0,
      open(socket) {
        const client = new SocketClient((text) => {
          if (!sockets.loses()) socket.send(text);
        });
        sockets.opened(socket);
        socket.data.client = client;
        socket.data.dispatch = hub.dispatchFor(client);
      },
      async message(socket, message) {
        if (!edge.isQuiet && typeof message === "string") await edge.delay(methodsOf(message));
        await answerSocket(socket, message, node.log);
      },
      close(socket) {
        sockets.closed(socket);
        if (socket.data.client !== null) hub.closed(socket.data.client);
      },
    },
  });
}

async function answerSocket(socket: ServerWebSocket<SocketData>, message: string | Buffer, log: Log): Promise<void> {
  const { client, dispatch } = socket.data;
  if (client === null || dispatch === null || typeof message !== "string") return;
  client.hold();
  try {
    const answer = await answerBody(message, dispatch);
    if (answer !== null) socket.send(answer);
  } catch (error) {
    log.error({ error }, "a socket's message is not answered");
    socket.close(1011);
  } finally {
    client.release();
  }
}

/** Answers calls of these methods, which may become more. */
function dispatchTo(methods: ReadonlyMap<string, Method>, node: RpcNode): Dispatch {
  return dispatcher(
    (name) => methods.get(name),
    (method, params) => method.run(params, node),
    node.log,
  );
}

/** An endpoint that answers devnet_* alone and that no fault affects. */
function serveAdmin(options: NodeOptions, methods: ReadonlyMap<string, Method>, node: RpcNode): Server<undefined> {
  const admin = dispatchTo(methods, node);
  const { host: hostname, adminPort: port } = options;
  return Bun.serve({
    port,
    hostname,
    idleTimeout: 255,
    fetch: (asked) => answerHttp(asked, admin, () => null, options),
  });
}

/** Serves Yellowstone where the options have a port for it. */
async function openYellowstone(
  options: NodeOptions,
  hub: YellowstoneHub,
  clock: Clock,
): Promise<YellowstoneServer | null> {
  const { host, grpcPort: port, grpcToken: token } = options;
  return port === null ? null : await serveYellowstone({ host, port, token }, { hub, clock });
}

function engineLinks(
  options: NodeOptions,
  dependencies: ConstructorParameters<typeof BlockEngineLinks>[1],
): BlockEngineLinks {
  const { blockEngineNearest: nearest, blockEngineRetryMs: retryMs } = options;
  return new BlockEngineLinks({ nearest, retryMs, tickMs: engineTickMs }, dependencies);
}

interface NodeDependencies {
  readonly clock: Clock;
  readonly log: Log;
  /** The virtual machine, which is disposed of with the node. */
  readonly svm: Svm;
}

/**
 * Starts a chain at its genesis and opens its endpoints. Ports may be 0: the URLs name those that were taken. Throws
 * GenesisFaults when what it is to begin with is wrong.
 */
export async function startNode(options: NodeOptions, dependencies: NodeDependencies): Promise<ChainNode> {
  const { svm, log } = dependencies;
  const description = await loadGenesis(options, fetch);
  const genesis = await createGenesis(options, svm, description);
  const edge = new EdgeFaults(dependencies);
  const sockets = new SocketFaults();
  const clock = new SlotClock(options, { clock: dependencies.clock, isStopped: () => edge.frozen.isShut });
  const chain = await Chain.start(options, genesis, { svm, log, now: clock.now });
  const performance = new PerformanceSamples(chain.at("processed"));
  const addresses = { rpc: "", pubsub: "" };
  const publish = (event: ChainEvent): void => {
    hub.publish(event);
    if (options.grpcPort !== null) updates.publish(event);
  };
  const view = new LaggingView(chain, publish);
  const node: RpcNode = {
    chain: view,
    performance,
    faucet: new FaucetRequests(),
    endpoints: addresses,
    now: clock.now,
    log,
  };
  const methods = new Map(rpcMethods());
  const rpc = dispatchTo(methods, node);
  const hub = new PubSubHub({ subscriptionsMax: options.subscriptionsMax }, { node });
  const updates = new YellowstoneHub(defaultLimits, { node, gate: edge.frozen });
  watch(chain, (event) => view.publish(event), performance);
  const isHealthy = () => faults.slotsBehind === null;
  const behind = { rpc: edge.failing(rpc), hub, node, edge, sockets, isHealthy };
  const listenAt = (port: number) =>
    new ResettableListener({ hostname: options.host, port }, (taken) => serve(taken, options, behind));
  const listeners = [listenAt(options.rpcPort), listenAt(options.pubsubPort)] as const;
  const engine = engineLinks(options, { chain, clock: dependencies.clock, log });
  const faults = new Faults(options, { chain, clock, edge, sockets, streams: updates.faults, view, listeners, engine });
  addresses.rpc = `${address(options.host)}:${listeners[0].port}`;
  addresses.pubsub = `${address(options.host)}:${listeners[1].port}`;
  const added = options.admin ? adminMethods(faults) : new Map<string, Method>();
  for (const [name, method] of added) methods.set(name, method);
  if (options.admin) methods.set("getHealth", healthMethod(faults));
  const admin = options.admin ? serveAdmin(options, added, node) : null;
  const yellowstone = await openYellowstone(options, updates, dependencies.clock);
  const closeSlot = () => clock.tick(chain);
  const traffic = startTraffic(
    { transactionsPerSecond: options.traffic, seed: options.trafficSeed, slotMs: options.slotMs },
    { chain, clock: dependencies.clock, log },
  );
  await clock.start(chain);
  await engine.connect(options.blockEngine);
  const timer =
    options.slotMs > 0 ? new SlotTimer(options, { clock: dependencies.clock, log, close: closeSlot }) : null;
  return {
    chain,
    rpcUrl: `http://${addresses.rpc}`,
    wsUrl: `ws://${addresses.pubsub}`,
    adminUrl: admin === null ? null : `http://${address(options.host)}:${admin.port}`,
    grpcUrl: yellowstone === null ? null : `http://${address(options.host)}:${yellowstone.port}`,
    closeSlot,
    answer: (body) => answerBody(body, rpc),
    async [Symbol.asyncDispose]() {
      traffic?.[Symbol.dispose]();
      timer?.stop();
      await engine[Symbol.asyncDispose]();
      edge.clear();
      await yellowstone?.[Symbol.asyncDispose]();
      await Promise.all([...listeners.map((listener) => listener.stop()), admin?.stop(true)]);
      await chain[Symbol.asyncDispose]();
    },
  };
}
