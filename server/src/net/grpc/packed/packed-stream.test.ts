import { expect, test } from "bun:test";
import { connect } from "node:http2";
import { protoFiles } from "@sluice/contract/proto";
import { packUpdate } from "@sluice/encode/updates";
import { compileAddressSet, seededRandom, systemClock } from "@sluice/lib";
import { loadService, packedMethod } from "../../index.ts";
import { type GrpcContext, GrpcServer } from "../grpc.ts";
import { GrpcStatusError } from "../status.ts";
import { PlainClient } from "../testing/grpc-client.ts";
import { type PackedOptions, type PackedResponses, packedDuplex } from "./grpc.ts";
import { PackedMessage, PieceCutter } from "./packed-message.ts";

const host: GrpcContext = {
  requestId: () => "r",
  trustedProxies: compileAddressSet([]),
  events: { callEnded: () => {}, streamOpened: () => {}, streamClosed: () => {}, internalError: () => {} },
};
const geyser = { file: protoFiles.geyser, service: "geyser.Geyser" };

/** An update whose only filter has this name, in two parts. */
function named(name: string): PackedMessage {
  const bytes = packUpdate([name], new Uint8Array(0), 0);
  return PackedMessage.of([bytes.subarray(0, 2), bytes.subarray(2)]);
}

/** Writes messages in pieces of a size. */
function write(responses: PackedResponses, messages: PackedMessage[], { size = 65_536, taken = () => {} } = {}): void {
  const cutter = new PieceCutter();
  for (;;) {
    const cut = cutter.cut(() => messages.shift() ?? null, size);
    if (cut === null) return;
    responses.write(cut.piece, taken);
  }
}

/** A server whose Subscribe is what `open` makes of it. */
async function served(
  open: (responses: PackedResponses) => { take(request: object): void },
  { clock, endMsMax }: PackedOptions = { clock: systemClock, endMsMax: 60_000 },
) {
  const definition = packedMethod(loadService(geyser.file, geyser.service), "Subscribe", (bytes, decode) =>
    decode(bytes),
  );
  const implementation = {
    Subscribe: packedDuplex<object>(host, (_context, responses) => open(responses), { clock, endMsMax }),
    SubscribeDeshred: () => {},
  };
  return GrpcServer.open(
    { endpoint: "yellowstone", hostname: "127.0.0.1", port: 0, tls: null },
    { clock: systemClock, services: [{ definition, implementation }], isServing: () => true },
  );
}

test("messages arrive one by one however their bytes are cut, compressed ones among them", async () => {
  const names = ["one", "two".repeat(500), "", "four"];
  for (const size of [5, 65_536]) {
    await using server = await served((responses) => {
      expect(responses.takesGzip).toBe(true);
      const [first, second, ...rest] = names.map(named);
      if (first === undefined || second === undefined) throw new Error("two messages");
      expect(second.compressed.length).toBeLessThan(second.length / 4);
      expect(first.compressed).toBe(first);
      write(responses, [first, second.compressed, second, ...rest], { size });
      return { take: () => {} };
    });
    using client = new PlainClient(server.port, geyser);
    const stream = client.duplex("Subscribe");
    const messages = await stream.first(names.length + 1);
    expect(messages.map(({ filters }) => filters)).toEqual([
      [names[0]],
      [names[1]],
      ...names.slice(1).map((each) => [each]),
    ]);
    stream.cancel();
  }
});

test("pieces hold all bytes in order, none is smaller than a prefix, and few are larger than asked for", () => {
  const random = seededRandom(3);
  const below = (max: number): number => Math.floor(random.next() * max);
  for (let round = 0; round < 300; round += 1) {
    const messages = Array.from({ length: 1 + below(6) }, () =>
      PackedMessage.of(Array.from({ length: below(4) }, () => random.bytes(below(30)))),
    );
    const whole = Buffer.concat(messages.flatMap(({ parts }) => parts));
    const size = 5 + below(40);
    const cutter = new PieceCutter();
    const pieces: Buffer[] = [];
    for (;;) {
      const cut = cutter.cut(() => messages.shift() ?? null, size);
      if (cut === null) break;
      expect([cut.piece.byteLength, cut.bytes <= size + 4]).toEqual([cut.bytes - 5, true]);
      expect(cut.bytes).toBeGreaterThanOrEqual(5);
      const bytes = Buffer.alloc(cut.bytes);
      cut.piece.copy(bytes);
      pieces.push(bytes);
    }
    expect(cutter.left).toBe(0);
    expect(Buffer.concat(pieces).equals(whole)).toBe(true);
  }
});

test("what a client does not read is not taken, and the stream's owner is told nothing until it is", async () => {
  const state = { taken: 0 };
  await using server = await served((responses) => {
    const many = Array.from({ length: 200 }, () => named("x".repeat(64 * 1024)));
    const taken = (): void => {
      state.taken += 1;
    };
    write(responses, many, { taken });
    return { take: () => {} };
  });
  using client = new PlainClient(server.port, geyser);
  const stream = client.duplex("Subscribe");
  stream.pause();
  await Bun.sleep(50);
  expect(state.taken).toBeLessThan(50);
  stream.resume();
  await stream.first(200);
  expect(state.taken).toBeGreaterThan(190);
  stream.cancel();
});

test("a fault of a request ends the stream behind what was written, and one that cannot be read is told as that", async () => {
  await using server = await served((responses) => ({
    take: () => {
      write(responses, [named("last")]);
      throw new GrpcStatusError("OUT_OF_RANGE", "too far");
    },
  }));
  using client = new PlainClient(server.port, geyser);
  const stream = client.duplex("Subscribe");
  stream.say({});
  expect(await stream.ended).toMatchObject({ status: "OUT_OF_RANGE", details: "too far" });
  expect(stream.messages).toHaveLength(1);
  const garbage = client.duplexRaw("Subscribe");
  garbage.say(Buffer.from([0xff, 0xff]));
  expect(await garbage.ended).toMatchObject({ status: "INVALID_ARGUMENT", details: "The message cannot be decoded" });
});

test("a client that takes nothing cannot put off the end of its stream, whether its last message was whole or not", async () => {
  const fault = new GrpcStatusError("INTERNAL", "lagged to send an update");
  for (const way of ["end", "leave"] as const) {
    const closed = Promise.withResolvers<string>();
    await using server = await served(
      (responses) => {
        responses.onClose(() => closed.resolve(`closed, ${responses.isOpen ? "open" : "not open"}`));
        write(responses, [named("x".repeat(64 * 1024))], { size: 32 * 1024 });
        responses[way](fault);
        return { take: () => {} };
      },
      { clock: systemClock, endMsMax: 50 },
    );
    const session = connect(`http://127.0.0.1:${server.port}`, { settings: { initialWindowSize: 0 } });
    try {
      const stream = session.request({
        ":method": "POST",
        ":path": "/geyser.Geyser/Subscribe",
        "content-type": "application/grpc",
        te: "trailers",
      });
      const ended = Promise.withResolvers<number>();
      stream.on("error", () => {});
      stream.on("close", () => ended.resolve(stream.rstCode));
      // ENHANCE_YOUR_CALM: RESOURCE_EXHAUSTED to clients of gRPC.
      expect(await ended.promise).toBe(11);
      expect(await closed.promise).toBe("closed, not open");
    } finally {
      session.destroy();
    }
  }
});
