/**
 * A node of which nothing is slow: node.ts <NodePlan as JSON>. It makes its blocks before it says where it is (one JSON
 * line), begins at the first line of its standard input, and sends a block of each slot over Yellowstone at its time.
 * Each block has a line `sent <slot> <milliseconds>` once its last byte is handed to the system, by the clock of `now`.
 * Ends with its standard input.
 */
import { createInterface } from "node:readline";
import { Server, ServerCredentials, type ServerDuplexStream } from "@grpc/grpc-js";
import { loadSync, type ServiceDefinition } from "@grpc/proto-loader";
import { protoFiles, protoLoading } from "@sluice/contract/proto";
import { type ConfirmedBlock, encodeBlock, packBlock, unpackBlock } from "@sluice/encode";
import { packSlot, packUpdate, type SlotStatus } from "@sluice/encode/updates";
import { stringifyJsonExact } from "@sluice/wire/json";
import { confirmedBlocksOf, type Workload } from "../chain-ledger/blocks.ts";
import { updateOf } from "../yellowstone/blocks.ts";
import { now } from "./now.ts";

export interface NodePlan {
  readonly workload: Workload;
  readonly slots: number;
  readonly slotMs: number;
  /** Of each block. */
  readonly transactions: number;
}

interface MadeBlock {
  readonly blockhash: string;
  readonly body: Uint8Array;
  /** As a stream sends it. */
  readonly update: Uint8Array;
}

const plan = JSON.parse(process.argv[2] ?? "") as NodePlan;
const finalizedAfter = 31;
const genesisHash = "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG";

function made(block: ConfirmedBlock): MadeBlock {
  return { blockhash: block.blockhash, body: packBlock(block), update: updateOf(block) };
}

const blocks = Array.from(confirmedBlocksOf(plan.workload, { ...plan, seed: 1 }), made);
/** The newest slot that was sent. */
let head = 0;
/** The first block is final from the beginning, by which servers know the chain. */
const rootOf = (slot: number): number => Math.max(1, slot - finalizedAfter);

type Stream = ServerDuplexStream<unknown, Uint8Array>;
const streams = new Set<Stream>();
const sockets = new Map<Bun.ServerWebSocket<undefined>, Set<string>>();

/** Resolves once the system has the bytes. */
const written = (stream: Stream, update: Uint8Array): Promise<void> =>
  new Promise((resolve) => void stream.write(update, () => resolve()));

const statusOf = (slot: number, status: SlotStatus): Uint8Array =>
  packUpdate(["all"], packSlot({ slot: BigInt(slot), parent: BigInt(slot - 1), status }), 0);

async function sendSlot(slot: number): Promise<void> {
  const block = blocks[slot - 1];
  if (block === undefined) return;
  const root = rootOf(slot);
  await Promise.all(
    [...streams].map(async (stream) => {
      void stream.write(statusOf(slot, "processed"));
      void stream.write(statusOf(slot, "confirmed"));
      await written(stream, block.update);
    }),
  );
  head = slot;
  console.log(`sent ${slot} ${now()}`);
  for (const stream of streams) void stream.write(statusOf(root, "finalized"));
  for (const [socket, methods] of sockets) {
    if (methods.has("slotSubscribe")) tell(socket, "slotNotification", 1, { slot, parent: slot - 1, root });
    if (methods.has("rootSubscribe")) tell(socket, "rootNotification", 2, root);
    if (methods.has("slotsUpdatesSubscribe"))
      tell(socket, "slotsUpdatesNotification", 3, { type: "optimisticConfirmation", slot, timestamp: 0 });
  }
}

function tell(socket: Bun.ServerWebSocket<undefined>, method: string, subscription: number, result: unknown): void {
  socket.send(JSON.stringify({ jsonrpc: "2.0", method, params: { subscription, result } }));
}

const subscriptions = { slotSubscribe: 1, rootSubscribe: 2, slotsUpdatesSubscribe: 3 } as const;

interface Call {
  readonly id: unknown;
  readonly method: string;
  readonly params?: readonly unknown[];
}

interface CallConfig {
  readonly commitment?: string;
  readonly transactionDetails?: "full" | "signatures" | "none";
}

/** The JSON text of an answer's result; null for a slot without a block. */
function resultOf({ method, params = [] }: Call): string | null {
  const [first, second] = params;
  const config = ((typeof first === "object" ? first : second) ?? {}) as CallConfig;
  const newest = config.commitment === "processed" || config.commitment === "confirmed" ? head : rootOf(head);
  if (method === "getGenesisHash") return JSON.stringify(genesisHash);
  if (method === "getHealth") return '"ok"';
  if (method === "getVersion") return '{"solana-core":"2.2.0","feature-set":1}';
  if (method === "getFirstAvailableBlock") return "1";
  if (method === "getSlot" || method === "getBlockHeight") return String(newest);
  if (method === "getBlocks") return JSON.stringify(range(Number(first), Math.min(Number(second), newest)));
  if (method === "getBlocksWithLimit")
    return JSON.stringify(range(Number(first), Math.min(Number(first) + Number(second) - 1, newest)));
  if (method === "getBlock") return blockText(Number(first), config);
  if (method === "getTransaction") return transactionText;
  return "null";
}

const range = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);

/** Of about 500 bytes, as the bench of the gateway's hit path has it. */
const transactionText = `{"slot":1,"blockTime":1700000000,"meta":{"err":null,"fee":5000,"logMessages":["${"x".repeat(380)}"]},"version":0}`;

function blockText(slot: number, { transactionDetails = "full" }: CallConfig): string | null {
  const block = slot <= head ? blocks[slot - 1] : undefined;
  if (block === undefined) return null;
  const options = { transactionDetails, rewards: false, maxSupportedTransactionVersion: 0 } as const;
  const encoded = encodeBlock(unpackBlock(block.body), { encoding: "base64", ...options });
  return encoded.ok ? stringifyJsonExact(encoded.value) : null;
}

function answerTo(text: string): string {
  const call = JSON.parse(text) as Call;
  const id = JSON.stringify(call.id);
  const result = resultOf(call);
  if (result !== null) return `{"jsonrpc":"2.0","result":${result},"id":${id}}`;
  return `{"jsonrpc":"2.0","error":{"code":-32004,"message":"Block not available"},"id":${id}}`;
}

const http = Bun.serve<undefined>({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request, server) {
    if (server.upgrade(request)) return undefined;
    return new Response(answerTo(await request.text()), { headers: { "content-type": "application/json" } });
  },
  websocket: {
    open: (socket) => void sockets.set(socket, new Set()),
    close: (socket) => void sockets.delete(socket),
    message(socket, text) {
      const { id, method } = JSON.parse(String(text)) as Call;
      const known = Object.entries(subscriptions).find(([name]) => name === method);
      if (known === undefined) {
        socket.send(JSON.stringify({ jsonrpc: "2.0", error: { code: -32_601, message: "Method not found" }, id }));
        return;
      }
      sockets.get(socket)?.add(method);
      socket.send(JSON.stringify({ jsonrpc: "2.0", result: known[1], id }));
    },
  },
});

const loaded = loadSync(protoFiles.geyser, protoLoading)["geyser.Geyser"] as ServiceDefinition;
const raw = { ...loaded["Subscribe"], responseSerialize: (bytes: Uint8Array) => Buffer.from(bytes) };
const server = new Server();
server.addService({ Subscribe: raw } as unknown as ServiceDefinition, {
  Subscribe(call: Stream) {
    call.once("data", () => streams.add(call));
    for (const name of ["close", "cancelled", "error"]) call.on(name, () => streams.delete(call));
  },
});
const grpcPort = await new Promise<number>((resolve) =>
  server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (_, port) => resolve(port)),
);
const address = `127.0.0.1:${http.port}`;
console.log(JSON.stringify({ rpc: `http://${address}`, ws: `ws://${address}`, grpc: `http://127.0.0.1:${grpcPort}` }));

const lines = createInterface({ input: process.stdin });
lines.once("line", async () => {
  const beganMs = performance.now();
  for (let slot = head + 1; slot <= plan.slots; slot += 1) {
    await Bun.sleep(Math.max(0, beganMs + slot * plan.slotMs - performance.now()));
    await sendSlot(slot);
  }
  console.log("over");
});
lines.once("close", () => process.exit(0));
await sendSlot(1);
