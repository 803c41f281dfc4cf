import type { Server, ServerWebSocket } from "bun";
import { Chain } from "./bank/chain.ts";
import { createGenesis } from "./bank/genesis.ts";
import { PerformanceSamples } from "./bank/performance.ts";
import type { NodeOptions } from "./options.ts";
import { PubSubHub } from "./pubsub/hub.ts";
import { SocketClient } from "./pubsub/socket-client.ts";
import type { ChainEvent } from "./pubsub/subscription.ts";
import { answerHttp } from "./rpc/http.ts";
import { answerBody, type Dispatch, dispatcher } from "./rpc/json-rpc.ts";
import type { RpcNode } from "./rpc/method.ts";
import { rpcMethods } from "./rpc/table.ts";
import { SlotTimer } from "./slot-timer.ts";
import { LiteSvmMachine } from "./svm/litesvm.ts";
import { startTraffic } from "./traffic/traffic.ts";

/** Longest text that a client may send over a socket. Source: Solana JSON-RPC, limits. */
const SOCKET_MESSAGE_BYTES_MAX = 4_096;
/** Bytes that may wait for a slow client before its connection is closed. */
const SOCKET_BACKLOG_BYTES_MAX = 64 * 1_024 * 1_024;

interface SocketData {
  client: SocketClient | null;
  dispatch: Dispatch | null;
}

/** A running development chain with its two doors. */
export interface ChainNode extends AsyncDisposable {
  readonly chain: Chain;
  readonly rpcUrl: string;
  readonly wsUrl: string;
  /** Closes the open slot now, beside what the timer does; tests that own the time use it. */
  closeSlot(): Promise<void>;
}

function address(hostname: string): string {
  return hostname.includes(":") ? `[${hostname}]` : hostname;
}

function watch(chain: Chain, hub: PubSubHub, performance: PerformanceSamples): void {
  const publish = (event: ChainEvent) => {
    try {
      hub.publish(event);
    } catch (error) {
      // A subscriber's faulty encoding must not stop the chain for everybody.
      console.error(error);
    }
  };
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
  });
}

function serve(port: number, options: NodeOptions, rpc: Dispatch, hub: PubSubHub, node: RpcNode): Server<SocketData> {
  const text = (path: string): string | null => {
    if (path === "/health") return "ok";
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
      return answerHttp(request, rpc, text, options);
    },
    error: () => new Response("Internal error", { status: 500 }),
    websocket: {
      maxPayloadLength: SOCKET_MESSAGE_BYTES_MAX,
      backpressureLimit: SOCKET_BACKLOG_BYTES_MAX,
      closeOnBackpressureLimit: true,
      idleTimeout: 0,
      open(socket) {
        const client = new SocketClient((text) => void socket.send(text));
        socket.data.client = client;
        socket.data.dispatch = hub.dispatchFor(client);
      },
      message: answerSocket,
      close(socket) {
        if (socket.data.client !== null) hub.closed(socket.data.client);
      },
    },
  });
}

async function answerSocket(socket: ServerWebSocket<SocketData>, message: string | Buffer): Promise<void> {
  const { client, dispatch } = socket.data;
  if (client === null || dispatch === null || typeof message !== "string") return;
  client.hold();
  try {
    const answer = await answerBody(message, dispatch);
    if (answer !== null) socket.send(answer);
  } catch (error) {
    console.error(error);
    socket.close(1011);
  } finally {
    client.release();
  }
}

/** Starts a chain at its genesis and opens its doors. Ports may be 0: the URLs tell which were taken. */
export async function startNode(options: NodeOptions, deps: { readonly now: () => number }): Promise<ChainNode> {
  const svm = new LiteSvmMachine();
  const genesis = await createGenesis(options, svm);
  const chain = await Chain.start(options, genesis, { svm, now: deps.now });
  const performance = new PerformanceSamples(chain.at("processed"));
  const doors = { rpc: "", pubsub: "" };
  let airdrops = 0;
  const faucet = {
    next() {
      airdrops = (airdrops + 1) % 1_000_000;
      return airdrops;
    },
  };
  const node: RpcNode = { chain, performance, faucet, doors, now: deps.now };
  const methods = rpcMethods();
  const rpc = dispatcher(
    (name) => methods.get(name),
    (method, params) => method.run(params, node),
  );
  const hub = new PubSubHub({ subscriptionsMax: options.subscriptionsMax }, { node });
  watch(chain, hub, performance);
  const rpcServer = serve(options.rpcPort, options, rpc, hub, node);
  const pubsubServer = serve(options.pubsubPort, options, rpc, hub, node);
  doors.rpc = `${address(options.host)}:${rpcServer.port}`;
  doors.pubsub = `${address(options.host)}:${pubsubServer.port}`;
  const traffic = startTraffic(
    { transactionsPerSecond: options.traffic, seed: options.trafficSeed, slotMs: options.slotMs },
    { chain },
  );
  const timer = options.slotMs > 0 ? new SlotTimer(options.slotMs, () => chain.closeSlot()) : null;
  return {
    chain,
    rpcUrl: `http://${doors.rpc}`,
    wsUrl: `ws://${doors.pubsub}`,
    closeSlot: () => chain.closeSlot(),
    async [Symbol.asyncDispose]() {
      traffic?.[Symbol.dispose]();
      timer?.stop();
      await Promise.all([rpcServer.stop(true), pubsubServer.stop(true)]);
      await chain[Symbol.asyncDispose]();
    },
  };
}
