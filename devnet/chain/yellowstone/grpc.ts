import {
  Metadata,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type StatusObject,
  type sendUnaryData,
  status,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { loadSync, type ServiceDefinition } from "@grpc/proto-loader";
import { ReflectionService } from "@grpc/reflection";
import { protoFiles, protoLoading } from "@sluice/contract/proto";
import { completeRequest } from "@sluice/encode/updates";
import { commitmentOf, FilterFault, type SubscribeRequest } from "@sluice/geyser";
import type { Timers } from "@sluice/lib";
import { decodeAddress } from "@sluice/wire/base58";
import { HealthImplementation } from "grpc-health-check";
import type { YellowstoneHub } from "./hub.ts";

/** Bytes of one request. Source: yellowstone-grpc, max_decoding_message_size. */
const requestBytesMax = 4 * 1_024 * 1_024;
const pingMs = 10_000;
/**
 * Blocks for which a blockhash is said to be valid. The plugin adds MAX_RECENT_BLOCKHASHES, and so promises twice what
 * JSON-RPC does.
 */
const blockhashLifeBlocks = 300n;

const version = JSON.stringify({
  version: {
    package: "yellowstone-grpc-geyser",
    version: "devnet",
    proto: "12",
    solana: "4.0.0",
    git: "none",
    rustc: "none",
    buildts: "none",
  },
  extra: { hostname: null },
});

export interface YellowstoneOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** What clients send as `x-token`; null asks for none. */
  readonly token: string | null;
}

/** The running endpoint. */
export interface YellowstoneServer extends AsyncDisposable {
  readonly port: number;
}

type Failure = Pick<StatusObject, "code" | "details">;

function refusal(call: { readonly metadata: Metadata }, token: string | null, hub: YellowstoneHub): Failure | null {
  if (hub.faults.refuses) return { code: status.UNAVAILABLE, details: "server is shutting down" };
  if (token === null || call.metadata.get("x-token")[0] === token) return null;
  return { code: status.UNAUTHENTICATED, details: "No valid auth token" };
}

const unaryAnswers: { readonly [method: string]: (request: never, hub: YellowstoneHub) => object } = {
  SubscribeReplayInfo: (_: object, { firstAvailable }) =>
    firstAvailable === null ? {} : { first_available: `${firstAvailable}` },
  Ping: ({ count }: { count: number }) => ({ count }),
  GetLatestBlockhash({ commitment }: { commitment?: string }, hub) {
    const { slot, blockhash, blockHeight } = hub.at(commitmentOf(commitment));
    return { slot: `${slot}`, blockhash, last_valid_block_height: `${blockHeight + blockhashLifeBlocks}` };
  },
  GetBlockHeight: ({ commitment }: { commitment?: string }, hub) => ({
    block_height: `${hub.at(commitmentOf(commitment)).blockHeight}`,
  }),
  GetSlot: ({ commitment }: { commitment?: string }, hub) => ({ slot: `${hub.at(commitmentOf(commitment)).slot}` }),
  IsBlockhashValid({ blockhash, commitment }: { blockhash: string; commitment?: string }, hub) {
    const bank = hub.at(commitmentOf(commitment));
    const valid = decodeAddress(blockhash) !== null && hub.isBlockhashValid(blockhash, bank);
    return { slot: `${bank.slot}`, valid };
  },
  GetVersion: () => ({ version }),
};

async function answerUnary(
  method: string,
  call: ServerUnaryCall<object, object>,
  { hub, token }: { readonly hub: YellowstoneHub; readonly token: string | null },
): Promise<object | Failure> {
  const refused = refusal(call, token, hub);
  if (refused !== null) return refused;
  await hub.pass();
  try {
    return unaryAnswers[method]?.(call.request as never, hub) ?? { code: status.UNIMPLEMENTED, details: "" };
  } catch (error) {
    if (!(error instanceof FilterFault)) throw error;
    // The unary calls know no filters: the reason alone is their text.
    return { code: status.UNKNOWN, details: error.message.replace("failed to create filter: ", "") };
  }
}

type SubscribeCall = ServerDuplexStream<SubscribeRequest, Uint8Array>;

function subscribe(call: SubscribeCall, hub: YellowstoneHub, token: string | null): void {
  const fail = (failure: Failure): void => void call.emit("error", { ...failure, metadata: new Metadata() });
  const refused = refusal(call, token, hub);
  if (refused !== null) {
    fail(refused);
    return;
  }
  const peer = call.getPeer().replace(/:\d+$/, "");
  const subscriber = String(call.metadata.get("x-subscription-id")[0] ?? peer);
  const stream = hub.open(subscriber, {
    write: (update) => call.write(update),
    end: (end) => fail({ code: status[end.status], details: end.details }),
  });
  if (stream === null) {
    fail({ code: status.RESOURCE_EXHAUSTED, details: "max subscription limit exceeded" });
    return;
  }
  const left = () => hub.left(subscriber, stream);
  call.on("data", (request: SubscribeRequest) => stream.request(request));
  call.on("drain", () => stream.drained());
  // A client that closes its own side goes on receiving.
  call.on("cancelled", left);
  call.on("close", left);
  call.on("error", left);
}

/** Opens the endpoint, with the standard services of health and reflection. Rejects when its port cannot be had. */
export async function serveYellowstone(
  options: YellowstoneOptions,
  { hub, clock }: { readonly hub: YellowstoneHub; readonly clock: Pick<Timers, "every"> },
): Promise<YellowstoneServer> {
  const server = new Server({ "grpc.max_receive_message_length": requestBytesMax, "grpc.enable_channelz": 0 });
  const files = loadSync(protoFiles.geyser, protoLoading);
  const loaded = files["geyser.Geyser"] as ServiceDefinition;
  // Updates are packed when they are made.
  const subscription = loaded["Subscribe"];
  const packed = {
    ...subscription,
    requestDeserialize: (bytes: Buffer) => subscription?.requestDeserialize(Buffer.from(completeRequest(bytes))),
    responseSerialize: (update: Uint8Array) => Buffer.from(update.buffer, update.byteOffset, update.byteLength),
  };
  const definition = { ...loaded, Subscribe: packed } as ServiceDefinition;
  const { token } = options;
  const unimplemented = { code: status.UNIMPLEMENTED, details: "not implemented" };
  const implementation: UntypedServiceImplementation = {
    Subscribe: (call: SubscribeCall) => subscribe(call, hub, token),
    SubscribeDeshred: (call: SubscribeCall) => void call.emit("error", unimplemented),
  };
  for (const method of Object.keys(unaryAnswers)) {
    implementation[method] = (call: ServerUnaryCall<object, object>, callback: sendUnaryData<object>) => {
      answerUnary(method, call, { hub, token }).then(
        (answer) => ("code" in answer ? callback(answer) : callback(null, answer)),
        () => callback({ code: status.INTERNAL, details: "failed to build response" }),
      );
    };
  }
  server.addService(definition, implementation);
  new HealthImplementation({ "": "SERVING", "geyser.Geyser": "SERVING" }).addToServer(server);
  new ReflectionService(files, { services: ["geyser.Geyser"] }).addToServer(server);
  const host = options.host.includes(":") ? `[${options.host}]` : options.host;
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  server.bindAsync(`${host}:${options.port}`, ServerCredentials.createInsecure(), (error, taken) => {
    if (error === null) resolve(taken);
    else reject(error);
  });
  const port = await promise;
  const timer = clock.every(pingMs, () => hub.ping());
  return {
    port,
    async [Symbol.asyncDispose]() {
      timer.cancel();
      hub.end();
      server.forceShutdown();
    },
  };
}
