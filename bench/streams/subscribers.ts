import { Client, credentials, Metadata } from "@grpc/grpc-js";
import { loadSync, type ServiceDefinition } from "@grpc/proto-loader";
import { protoFiles, protoLoading } from "@sluice/contract/proto";

/** What a subscriber was told of a slot: how many transactions, and when the first and the last of them arrived. */
export interface ToldSlot {
  count: number;
  readonly firstMs: number;
  lastMs: number;
}

/** A client that is told every transaction at confirmed but votes. */
export interface Subscriber {
  readonly slots: ReadonlyMap<number, ToldSlot>;
  close(): void;
}

/** Slots as they are told, by the clock of this process, which is that of all subscribers. */
class ToldSlots {
  readonly slots = new Map<number, ToldSlot>();

  add(slot: number): void {
    const nowMs = performance.now();
    const known = this.slots.get(slot);
    if (known === undefined) this.slots.set(slot, { count: 1, firstMs: nowMs, lastMs: nowMs });
    else {
      known.count += 1;
      known.lastMs = nowMs;
    }
  }
}

/** Opens a WebSocket, says what is given, and resolves with the answer that `isTaken` finds. */
function overWebSocket(
  url: string,
  subscribe: object,
  read: (message: never) => number | "taken" | null,
): Promise<Subscriber> {
  const told = new ToldSlots();
  const { promise, resolve, reject } = Promise.withResolvers<Subscriber>();
  const socket = new WebSocket(url);
  socket.onopen = () => socket.send(JSON.stringify(subscribe));
  socket.onmessage = ({ data }) => {
    const found = read(JSON.parse(String(data)) as never);
    if (found === "taken") resolve({ slots: told.slots, close: () => socket.close() });
    else if (found !== null) told.add(found);
  };
  socket.onclose = ({ code, reason }) => reject(new Error(`the connection ended with ${code}: ${reason}`));
  return promise;
}

export function overWs(url: string, key: string): Promise<Subscriber> {
  const subscribe = { action: "subscribe", channel: "transactions" };
  return overWebSocket(`${url}?api-key=${key}`, subscribe, (message: { type: string; slot: number }) => {
    if (message.type === "subscribed") return "taken";
    return message.type === "transaction" ? message.slot : null;
  });
}

interface LogsNotification {
  readonly id?: number;
  readonly params?: { readonly result: { readonly context: { readonly slot: number } } };
}

export function overPubSub(url: string, key: string): Promise<Subscriber> {
  const params = ["all", { commitment: "confirmed" }];
  const subscribe = { jsonrpc: "2.0", id: 1, method: "logsSubscribe", params };
  return overWebSocket(`${url}?api-key=${key}`, subscribe, ({ id, params: told }: LogsNotification) =>
    id === undefined ? (told?.result.context.slot ?? null) : "taken",
  );
}

const subscribeMethod = (loadSync(protoFiles.geyser, protoLoading)["geyser.Geyser"] as ServiceDefinition)["Subscribe"];

interface GeyserUpdate {
  readonly update_oneof: string;
  readonly transaction_status?: { readonly slot: string };
}

/** Over Yellowstone gRPC of the server with a key, or of the node itself without one. */
export function overYellowstone(url: string, key: string | null): Promise<Subscriber> {
  if (subscribeMethod === undefined) throw new Error("the service has no method Subscribe");
  const told = new ToldSlots();
  const { promise, resolve, reject } = Promise.withResolvers<Subscriber>();
  const metadata = new Metadata();
  if (key !== null) metadata.set("x-token", key);
  // A connection of its own, as each client has.
  const client = new Client(new URL(url).host, credentials.createInsecure(), { "grpc.use_local_subchannel_pool": 1 });
  const { path, requestSerialize, responseDeserialize } = subscribeMethod;
  const stream = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadata);
  stream.on("data", (update: GeyserUpdate) => {
    if (update.update_oneof === "pong") resolve({ slots: told.slots, close: () => client.close() });
    else if (update.transaction_status !== undefined && update.update_oneof === "transaction_status") {
      told.add(Number(update.transaction_status.slot));
    }
  });
  stream.on("error", reject);
  stream.write({ commitment: "CONFIRMED", transactions_status: { t: { vote: false } } });
  stream.write({ ping: { id: 1 } });
  return promise;
}
