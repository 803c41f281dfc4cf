import { afterEach, describe, expect, test } from "bun:test";
import { Server, ServerCredentials, type ServerDuplexStream } from "@grpc/grpc-js";
import { loadSync, type ServiceDefinition } from "@grpc/proto-loader";
import { protoFiles, protoLoading } from "@sluice/contract/proto";
import { bootFaultyNode } from "@sluice/devnet/chain/faults/testing/faulty-node.ts";
import { post } from "@sluice/devnet/chain/testing/boot.ts";
import { type ConfirmedBlock, encodeBlock, packBlock, unpackOnce } from "@sluice/encode";
import { packBlocksRequest, packSlot, packUpdate, type SlotUpdate } from "@sluice/encode/updates";
import { ManualClock, seededRandom, systemClock } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import { encodeBase58 } from "@sluice/wire/base58";
import { MalformedBytes } from "@sluice/wire/bytes";
import { stringifyJsonExact } from "@sluice/wire/json";
import type { BlockSource, GivenBlock, SlotNotice, SourceBlock, SourceSink } from "../../source.ts";
import { NodeBlocks } from "../node-blocks.ts";
import type { GeyserEnd, GeyserHandlers, openGeyserStream } from "./grpc.ts";
import { ReadBodies } from "./read-bodies.ts";
import { YellowstoneSource } from "./yellowstone-source.ts";

const blocks = new NodeBlocks(async () => ({ kind: "failed", reason: "not asked" }));

/** What a source tells, in its order. */
class Told implements SourceSink {
  readonly notices: SlotNotice[] = [];
  readonly blocks: SourceBlock[] = [];
  readonly arrivedMs: number[] = [];
  readonly changes: string[] = [];
  faults = 0;
  slot(_: BlockSource, notice: SlotNotice): void {
    this.notices.push(notice);
  }
  block(_: BlockSource, { block, arrivedMs }: GivenBlock): void {
    this.blocks.push(block);
    this.arrivedMs.push(arrivedMs);
  }
  malformed(): void {
    this.faults += 1;
  }
  up(): void {
    this.changes.push("up");
  }
  down(_: BlockSource, reason: string): void {
    this.changes.push(`down ${reason}`);
  }
}

const opened: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each[Symbol.asyncDispose]();
});

/** A source at a server, on the system's clock. */
function startAt(url: string, options: { token?: string; updateBytesMax?: number } = {}): Told {
  const told = new Told();
  const { token = null, ...bounds } = options;
  const source = new YellowstoneSource(
    { node: "one", url, token, ...bounds },
    { clock: systemClock, random: seededRandom(1), blocks, bodies: new ReadBodies() },
  );
  opened.push(source);
  source.start(told);
  return told;
}

describe("at the development chain's Yellowstone", () => {
  test("every confirmed block arrives as what getBlock answers, through skipped slots and a lost stream", async () => {
    const faulty = await bootFaultyNode({ grpcPort: 0, grpcToken: "secret", votes: true, validators: 2 });
    opened.push(faulty);
    const told = startAt(faulty.node.grpcUrl ?? "", { token: "secret" });
    await eventually("the stream is up", () => told.changes.includes("up"));
    await faulty.closeSlots(2);
    await faulty.admin("devnet_skipSlots", 2);
    await faulty.closeSlots(3);
    await faulty.admin("devnet_closeGrpc");
    await faulty.closeSlots(2);
    const { chain } = faulty.node;
    const confirmed = chain.at("confirmed").slot;
    const expected = chain.history.slots(1n, confirmed, 100);
    const heard = () => new Set(told.blocks.map(({ header }) => BigInt(header.slot)));
    await eventually("the blocks of all slots have come", () => expected.every((slot) => heard().has(slot)));
    expect(told.changes.slice(0, 3)).toEqual(["up", "down UNAVAILABLE", "up"]);
    for (const { header, body } of told.blocks) {
      const options = { transactionDetails: "full", rewards: true, maxSupportedTransactionVersion: 0 } as const;
      const encoded = encodeBlock(unpackOnce(body), { encoding: "base64", ...options });
      const config = { encoding: "base64", rewards: true, maxSupportedTransactionVersion: 0, commitment: "confirmed" };
      const params = [Number(header.slot), config];
      const asked = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "getBlock", params });
      const answer = await (await post(faulty.node.rpcUrl, asked)).text();
      const text = encoded.ok ? stringifyJsonExact(encoded.value) : "";
      expect(answer.trim()).toBe(`{"jsonrpc":"2.0","result":${text},"id":1}`);
    }
    const stages = (stage: string) => told.notices.filter((notice) => notice.stage === stage).map(({ slot }) => slot);
    expect(new Set(stages("confirmed"))).toEqual(new Set(expected as never[]));
    expect(told.faults).toBe(0);
  });

  test("a wrong token keeps the source down", async () => {
    const faulty = await bootFaultyNode({ grpcPort: 0, grpcToken: "secret" });
    opened.push(faulty);
    const told = startAt(faulty.node.grpcUrl ?? "", { token: "other" });
    const right = startAt(faulty.node.grpcUrl ?? "", { token: "secret" });
    await eventually("the other one is up", () => right.changes.includes("up"));
    expect(told.changes).toEqual([]);
  });
});

const hash = (seed: bigint): string => encodeBase58(new Uint8Array(32).fill(Number(seed % 250n) + 1));

const blockAt = (slot: bigint): ConfirmedBlock => ({
  slot,
  parentSlot: slot - 1n,
  blockhash: hash(slot),
  previousBlockhash: hash(slot - 1n),
  blockTime: 1_700_000_000n,
  blockHeight: slot,
  transactions: [],
  rewards: [],
});

const reward = { pubkey: hash(3n), lamports: 5n, postBalance: 9n, rewardType: "Fee", commission: null } as const;

/** A field of bytes, its length in one or two bytes. */
function field(number: number, bytes: Uint8Array): Uint8Array {
  const { length } = bytes;
  const size = length < 128 ? [length] : [(length & 0x7f) | 0x80, length >> 7];
  return Uint8Array.of(number * 8 + 2, ...size, ...bytes);
}
const blockUpdate = (body: Uint8Array): Uint8Array => packUpdate(["all"], field(5, body), 0);
const slotUpdate = (update: SlotUpdate): Uint8Array => packUpdate(["all"], packSlot(update), 0);
const confirmed = (slot: bigint): Uint8Array => slotUpdate({ slot, parent: slot - 1n, status: "confirmed" });

/** A source whose streams are opened by the test, on a clock of the test, in which each body takes time to read. */
function simulated(readMs = 0) {
  const clock = new ManualClock();
  const reader = new ReadBodies();
  const bodies = {
    read: (view: Uint8Array) => {
      clock.advance(readMs);
      return reader.read(view);
    },
  };
  const streams: { handlers: GeyserHandlers; requests: Uint8Array[]; closed: boolean }[] = [];
  const openStream: typeof openGeyserStream = (_, handlers) => {
    const stream = { handlers, requests: [] as Uint8Array[], closed: false };
    streams.push(stream);
    return {
      request: (bytes) => void stream.requests.push(bytes),
      close() {
        stream.closed = true;
      },
    };
  };
  const told = new Told();
  const source = new YellowstoneSource(
    { node: "one", url: "http://unused:1", token: null },
    { clock, random: seededRandom(1), blocks, bodies, openStream },
  );
  opened.push(source);
  source.start(told);
  const last = () => {
    const stream = streams.at(-1);
    if (stream === undefined) throw new Error("no stream");
    return stream;
  };
  return {
    clock,
    streams,
    told,
    source,
    last,
    send: (...updates: readonly Uint8Array[]) => {
      for (const update of updates) last().handlers.update(update);
    },
    end: (end: Partial<GeyserEnd> = {}) =>
      last().handlers.ended({ status: "UNAVAILABLE", cannotRepeat: false, ...end }),
  };
}

test("a body is the bytes of its update, and its header what they say", () => {
  const { send, told } = simulated();
  const body = packBlock(blockAt(7n));
  send(blockUpdate(body), confirmed(7n));
  expect(told.blocks).toHaveLength(1);
  expect(told.blocks[0]?.body).toEqual(body);
  expect(told.blocks[0]?.header).toEqual({
    slot: 7n as never,
    parentSlot: 6n as never,
    blockhash: hash(7n),
    parentBlockhash: hash(6n),
    blockTime: 1_700_000_000n,
    height: 7n,
    transactions: 0,
  });
  expect(told.notices).toEqual([{ slot: 7n as never, parent: 6n as never, stage: "confirmed" }]);
});

test("a block has arrived before it is read, however long that takes", () => {
  const { clock, send, told } = simulated(70);
  clock.advance(1_000);
  const before = clock.monotonic();
  send(blockUpdate(packBlock(blockAt(7n))));
  expect(told.arrivedMs).toEqual([before]);
  expect(clock.monotonic() - before).toBe(70);
});

test("the same bytes from another node give the same block, and other bytes are read whole", () => {
  const bodies = new ReadBodies();
  const body = packBlock({ ...blockAt(7n), rewards: [reward] });
  const first = bodies.read(body);
  expect(bodies.read(body.slice())).toEqual(first);
  // A type of reward that there is none of: the head can be read, the body cannot.
  const altered = body.slice();
  const type = altered.lastIndexOf(0x20);
  altered[type + 1] = 0x7f;
  expect(() => bodies.read(altered)).toThrow(MalformedBytes);
  expect(() => bodies.read(altered.slice())).toThrow(MalformedBytes);
});

test("a stream that ended is opened again from the last slot that was whole, after growing waits", () => {
  const { clock, send, end, streams, last } = simulated();
  expect(last().requests).toEqual([packBlocksRequest(null)]);
  send(blockUpdate(packBlock(blockAt(7n))), confirmed(7n), slotUpdate({ slot: 9n, parent: 7n, status: "processed" }));
  end();
  expect(streams).toHaveLength(1);
  clock.advance(100);
  expect(streams).toHaveLength(2);
  expect(last().requests).toEqual([packBlocksRequest(7n)]);
  for (const wait of [200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000]) {
    const before = streams.length;
    end();
    clock.advance(wait / 2 - 1);
    expect(streams).toHaveLength(before);
    clock.advance(wait / 2 + 1);
    expect(streams).toHaveLength(before + 1);
  }
  send(confirmed(8n));
  end();
  clock.advance(100);
  expect(last().requests).toEqual([packBlocksRequest(8n)]);
  // A chain that was started anew has lower slots.
  send(confirmed(3n));
  end();
  clock.advance(100);
  expect(last().requests).toEqual([packBlocksRequest(3n)]);
});

test("a server that cannot repeat, or has sent too large an update, is not asked to repeat it", () => {
  const { clock, send, end, last } = simulated();
  send(confirmed(7n));
  end({ status: "RESOURCE_EXHAUSTED", cannotRepeat: true });
  clock.advance(100);
  expect(last().requests).toEqual([packBlocksRequest(null)]);
  end();
  clock.advance(200);
  expect(last().requests).toEqual([packBlocksRequest(null)]);
  send(confirmed(9n));
  end();
  clock.advance(100);
  expect(last().requests).toEqual([packBlocksRequest(9n)]);
});

test("a silent stream is left, one that only pings is not, and each is sent signs of life", () => {
  const { clock, send, told, streams, last } = simulated();
  for (let round = 0; round < 12; round += 1) {
    send(packUpdate([], field(6, new Uint8Array(0)), 0));
    clock.advance(10_000);
  }
  expect(streams).toHaveLength(1);
  expect(last().requests).toHaveLength(13);
  clock.advance(50_000);
  expect(streams[0]?.closed).toBe(true);
  expect(told.changes).toEqual(["up", "down silent"]);
});

test("what cannot be read is counted and passed over, and a stream of nothing else is left", () => {
  const { clock, send, told, streams } = simulated();
  const torn = packBlock(blockAt(7n)).subarray(0, 20);
  const partial = new Uint8Array(Buffer.concat([packBlock(blockAt(8n)), Uint8Array.of(9 * 8, 3)]));
  const twice = new Uint8Array(Buffer.concat([confirmed(9n), confirmed(10n)]));
  send(blockUpdate(torn), blockUpdate(partial), twice, Uint8Array.of(0xff), confirmed(11n));
  send(slotUpdate({ slot: 2n ** 64n - 1n, parent: null, status: "confirmed" }));
  expect(told.faults).toBe(5);
  expect(told.blocks).toEqual([]);
  expect(told.notices.map(({ slot }) => BigInt(slot))).toEqual([11n]);
  send(...Array.from({ length: 15 }, () => Uint8Array.of(0xff)));
  expect(streams[0]?.closed).toBe(true);
  expect(told.changes).toEqual(["up", "down malformed updates"]);
  clock.advance(100);
  expect(streams).toHaveLength(2);
});

test("a source that was closed says nothing and opens nothing", async () => {
  const { clock, send, end, source, streams, told } = simulated();
  await source[Symbol.asyncDispose]();
  send(confirmed(7n));
  end();
  clock.advance(60_000);
  expect(streams).toHaveLength(1);
  expect(told.changes).toEqual([]);
});

test("an update larger than the bound ends the stream and not the process, and the next stream goes on", async () => {
  const loaded = loadSync(protoFiles.geyser, protoLoading)["geyser.Geyser"] as ServiceDefinition;
  const raw = { ...loaded["Subscribe"], responseSerialize: (bytes: Uint8Array) => Buffer.from(bytes) };
  const server = new Server();
  const requests: { from_slot?: string }[] = [];
  server.addService({ Subscribe: raw } as unknown as ServiceDefinition, {
    Subscribe(call: ServerDuplexStream<{ from_slot?: string }, Uint8Array>) {
      call.on("data", (request) => {
        requests.push(request);
        call.write(confirmed(BigInt(requests.length)));
        if (requests.length === 1) call.write(blockUpdate(new Uint8Array(10_000)));
      });
    },
  });
  const { promise, resolve } = Promise.withResolvers<number>();
  server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (_, port) => resolve(port));
  opened.push({ [Symbol.asyncDispose]: async () => server.forceShutdown() });
  const told = startAt(`http://127.0.0.1:${await promise}`, { updateBytesMax: 4_096 });
  await eventually("the second stream is up", () => told.changes.length >= 3);
  expect(told.changes.slice(0, 3)).toEqual(["up", "down RESOURCE_EXHAUSTED", "up"]);
  expect(requests.map(({ from_slot }) => from_slot)).toEqual([undefined, undefined]);
});
