import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { SluiceError } from "@sluice/contract/errors";
import { protoFiles } from "@sluice/contract/proto";
import type { Slot } from "@sluice/wire/identifiers";
import { type Headers, PlainClient, type Talking } from "../../net/grpc/testing/grpc-client.ts";
import { keysOfTests, type ServedEngine, serveEngine } from "../testing/served-engine.ts";
import { SlowReader } from "../testing/slow-reader.ts";

let served: ServedEngine;
let client: PlainClient;
beforeEach(async () => {
  served = await serveEngine();
  client = new PlainClient(served.port, { file: protoFiles.blockEngine, service: "blockengine.v1.BlockEngine" });
});
afterEach(async () => {
  client[Symbol.dispose]();
  await served[Symbol.asyncDispose]();
});

const method = "/blockengine.v1.BlockEngine/SubmitBundleStream";
const whole = { "x-api-key": keysOfTests.whole };
const other = { "x-api-key": keysOfTests.other };
const open = (headers: Headers = whole): Talking => client.duplex("SubmitBundleStream", headers);
const request = (tag: number) => ({
  transactions: [Uint8Array.of(tag % 256, Math.floor(tag / 256))],
  tip: "5",
  mev_type: "jit",
});
const included = { to: "included", slot: 123n as Slot, blockhash: "hash", index: 0, tip: 5n } as const;

/** What a stream reported, in short. */
const short = (stream: Talking): string[] =>
  stream.messages.map(({ bundle_id, status, slot, reason }) =>
    [String(bundle_id).slice(0, 6), status, slot, reason].filter((each) => each !== undefined && each !== "").join(" "),
  );

/** Sends one bundle and answers its id once it is accepted. */
async function accepted(stream: Talking, tag: number): Promise<string> {
  const before = stream.messages.length;
  stream.say(request(tag));
  const messages = await stream.first(before + 1);
  return String(messages[before]?.["bundle_id"]);
}

describe("a stream", () => {
  test("goes on where nothing can be said of one bundle now", async () => {
    const stream = open();
    served.engine.error = new SluiceError("OVERLOADED");
    stream.say(request(1));
    await stream.first(1);
    served.engine.error = null;
    await accepted(stream, 2);
    expect(short(stream)[0]).toMatch(/^[0-9a-f]{6} dropped engine_overloaded$/);
    expect(served.faults).toEqual([]);
    stream.cancel();
  });

  test("follows a bundle that another searcher has sent before to its end, as the other's does", async () => {
    const stranger = open(other);
    const id = await accepted(stranger, 7);
    const stream = open();
    stream.say(request(7));
    stream.halfClose();
    await stream.first(1);
    served.engine.change(id, included);
    served.engine.change(id, { to: "finalized" });
    expect(await stream.ended).toMatchObject({ status: "OK" });
    const told = ["accepted", "included 123"].map((each) => `${id.slice(0, 6)} ${each}`);
    expect([short(stream), short(stranger)]).toEqual([told, told]);
    stranger.cancel();
  });

  test("goes on after a field that has no meaning, which drops that bundle and nothing else", async () => {
    const stream = open();
    const wrong = [{ mev_type: "Arb" }, { encrypted_payload: Uint8Array.of(1) }];
    for (const [index, fault] of wrong.entries()) {
      stream.say(request(10 * index));
      stream.say({ ...request(10 * index + 1), ...fault });
    }
    stream.say(request(30));
    await stream.first(5);
    expect(stream.messages.map(({ status }) => status)).toEqual([
      "accepted",
      "dropped",
      "accepted",
      "dropped",
      "accepted",
    ]);
    expect(stream.messages[1]?.["reason"]).toStartWith("invalid_field: mev_type is one of sandwich");
    expect(stream.messages[3]?.["reason"]).toStartWith("invalid_field: encrypted_payload");
    expect(stream.messages.map(({ bundle_id }) => String(bundle_id).length)).toEqual([64, 64, 64, 64, 64]);
    expect(served.engine.tokensTaken).toBe(5);
    stream.cancel();
  });

  test("shows what a transaction logged that failed in simulation", async () => {
    const stream = open();
    served.engine.refusal = { reason: "simulation_failed", detail: "transaction 0: Custom", logs: ["Program log: no"] };
    stream.say(request(1));
    const [message] = await stream.first(1);
    expect(message).toMatchObject({ reason: "simulation_failed: transaction 0: Custom", logs: ["Program log: no"] });
    stream.cancel();
  });

  test("confirms each change of a bundle once, with slot and signatures while it is in a block", async () => {
    const stream = open();
    const id = await accepted(stream, 1);
    served.engine.change(id, included);
    served.engine.change(id, { to: "finalized" });
    await stream.first(2);
    const second = await accepted(stream, 2);
    served.engine.change(second, included);
    served.engine.change(second, { to: "dropped", reason: "fork" });
    await stream.first(5);
    const third = await accepted(stream, 3);
    served.engine.change(third, { to: "expired", reason: "blockhash_expired" });
    await stream.first(7);
    const [a, b, c] = [id, second, third].map((each) => each.slice(0, 6));
    expect(short(stream)).toEqual([
      `${a} accepted`,
      `${a} included 123`,
      `${b} accepted`,
      `${b} included 123`,
      `${b} dropped fork`,
      `${c} accepted`,
      `${c} expired blockhash_expired`,
    ]);
    expect(stream.messages.map(({ signatures }) => Array.isArray(signatures) && signatures.length)).toEqual([
      0, 1, 0, 1, 0, 0, 0,
    ]);
    stream.cancel();
  });

  test("reports the block that a bundle is in now, where the branch that won holds it in another, and the same one once", async () => {
    const stream = open();
    const id = await accepted(stream, 1);
    served.engine.change(id, included);
    served.engine.change(id, { ...included, slot: 130n as Slot });
    served.engine.change(id, { ...included, slot: 130n as Slot, blockhash: "of the same slot" });
    served.engine.change(id, { to: "finalized" });
    stream.say(request(1));
    await stream.first(4);
    // The last one is the answer to the bundle that came again.
    expect(short(stream)).toEqual(
      ["accepted", "included 123", "included 130", "included 130"].map((each) => `${id.slice(0, 6)} ${each}`),
    );
    stream.cancel();
  });

  test("answers rejected bundles as dropped with their reason, those over the rate and those in maintenance too", async () => {
    const stream = open();
    served.engine.refusal = { reason: "tip_not_paid", detail: "no tip" };
    stream.say(request(1));
    await stream.first(1);
    served.engine.rate = { allowed: false, retryAfterSeconds: 1 };
    stream.say(request(2));
    await stream.first(2);
    served.engine.isInMaintenance = true;
    stream.say(request(3));
    await stream.first(3);
    expect(stream.messages.map(({ status, reason }) => `${status} ${reason}`)).toEqual([
      "dropped tip_not_paid",
      "dropped rate_limited",
      "dropped maintenance",
    ]);
    expect(stream.messages.every(({ bundle_id }) => /^[0-9a-f]{64}$/.test(String(bundle_id)))).toBe(true);
    expect(served.engine.submissions).toHaveLength(1);
    expect(served.engine.tokensTaken).toBe(2);
    stream.cancel();
  });

  test("answers its own submissions in their order, whatever else is received meanwhile", async () => {
    const elsewhere = open();
    const foreign = await accepted(elsewhere, 99);
    const stream = open();
    await stream.first(1);
    const gate = Promise.withResolvers<void>();
    served.engine.gate = gate.promise;
    const refusal = { reason: "tip_not_paid", detail: null } as const;
    for (const [index, refused] of [null, refusal, null].entries()) {
      served.engine.refusal = refused;
      stream.say(request(index));
      await submissions(index + 2);
    }
    served.engine.change(foreign, included);
    // A bundle that is known is reported at once; of others nothing is reported before those in progress are answered.
    await stream.first(2);
    gate.resolve();
    await stream.first(5);
    const statuses = stream.messages.map(({ status }) => status);
    expect(statuses).toEqual(["accepted", "included", "accepted", "dropped", "accepted"]);
    const accepts = [...served.engine.records.keys()].filter((id) => id !== foreign);
    expect([stream.messages[2]?.["bundle_id"], stream.messages[4]?.["bundle_id"]]).toEqual(accepts);
    stream.cancel();
    elsewhere.cancel();
  });

  test("reports to a searcher's other streams, and to no other searcher", async () => {
    const stream = open();
    const twin = open();
    const stranger = open(other);
    await served.reported.until(`open ${method}`, 3);
    const strangers = await accepted(stranger, 50);
    const id = await accepted(stream, 1);
    served.engine.change(id, included);
    await twin.first(2);
    await stream.first(2);
    expect(short(twin)).toEqual([`${id.slice(0, 6)} accepted`, `${id.slice(0, 6)} included 123`]);
    expect(short(stranger)).toEqual([`${strangers.slice(0, 6)} accepted`]);
    for (const each of [stream, twin, stranger]) each.cancel();
  });

  test("begins with how the searcher's bundles in flight stand", async () => {
    const before = open();
    const waiting = await accepted(before, 1);
    const landed = await accepted(before, 2);
    const over = await accepted(before, 3);
    served.engine.change(landed, included);
    served.engine.change(over, { to: "dropped", reason: "fork" });
    before.cancel();
    await served.reported.until(`close ${method}`);
    const after = open();
    await after.first(2);
    served.engine.change(waiting, included);
    await after.first(3);
    expect(short(after)).toEqual([
      `${waiting.slice(0, 6)} accepted`,
      `${landed.slice(0, 6)} included 123`,
      `${waiting.slice(0, 6)} included 123`,
    ]);
    after.cancel();
  });

  test("answers the same bundle again with how it stands", async () => {
    const stream = open();
    const id = await accepted(stream, 1);
    served.engine.change(id, included);
    await stream.first(2);
    stream.say(request(1));
    await stream.first(3);
    served.engine.change(id, { to: "finalized" });
    stream.say(request(1));
    await stream.first(4);
    expect(short(stream)).toEqual(
      ["accepted", "included 123", "included 123", "included 123"].map((each) => `${id.slice(0, 6)} ${each}`),
    );
    stream.cancel();
  });

  test("that was closed by the client for sending ends when its last bundle has ended", async () => {
    const stream = open();
    const id = await accepted(stream, 1);
    stream.halfClose();
    served.engine.change(id, included);
    await stream.first(2);
    served.engine.change(id, { to: "dropped", reason: "fork" });
    expect(await stream.ended).toMatchObject({ status: "OK" });
    expect(stream.messages).toHaveLength(3);
    expect(served.engine.followers).toBe(0);
  });
});

/** Waits until the service has seen so many submissions. */
async function submissions(count: number): Promise<void> {
  while (served.engine.submissions.length < count) await new Promise((resolve) => setImmediate(resolve));
}

describe("a stream ends", () => {
  test("before it begins, without a key, with a wrong one and with one that may only read", async () => {
    for (const [headers, status] of [
      [{}, "UNAUTHENTICATED"],
      [{ "x-api-key": "sk_dev_nobody" }, "PERMISSION_DENIED"],
      [{ "x-api-key": keysOfTests.reader }, "PERMISSION_DENIED"],
    ] as const) {
      const stream = client.duplex("SubmitBundleStream", headers);
      stream.say(request(1));
      expect(await stream.ended).toMatchObject({ status });
    }
    expect(served.engine.submissions).toEqual([]);
  });

  test("with a message that cannot be decoded, after what came before it was answered", async () => {
    const gate = Promise.withResolvers<void>();
    served.engine.gate = gate.promise;
    const broken = client.duplexRaw("SubmitBundleStream", whole);
    broken.say(Buffer.from("0a0101", "hex"));
    broken.say(Buffer.from("0affffffff0f", "hex"));
    broken.say(Buffer.from("0a0102", "hex"));
    broken.halfClose();
    await submissions(1);
    gate.resolve();
    expect(await broken.ended).toMatchObject({ status: "INVALID_ARGUMENT" });
    expect(broken.messages.map(({ status }) => status)).toEqual(["accepted"]);
    expect(served.engine.submissions).toHaveLength(1);
    expect(served.engine.followers).toBe(0);
    expect(served.faults).toEqual([]);
  });

  test("when its key is revoked, and others go on", async () => {
    const stream = open();
    const stays = open(other);
    await accepted(stream, 1);
    await accepted(stays, 2);
    served.keys.revoked.add(keysOfTests.whole);
    await served.recheck();
    expect(await stream.ended).toMatchObject({ status: "PERMISSION_DENIED" });
    await accepted(stays, 3);
    stays.cancel();
  });

  test("with an internal error, reported by the request's id", async () => {
    const stream = open();
    served.engine.error = new Error("the pool is closed");
    stream.say(request(1));
    expect(await stream.ended).toMatchObject({ status: "INTERNAL", details: "Internal error, request req_1" });
    expect(served.faults).toEqual([served.engine.error]);
  });

  test("when the client has gone, and nothing of it stays", async () => {
    const stream = open();
    await accepted(stream, 1);
    expect(served.engine.followers).toBe(1);
    stream.cancel();
    await served.reported.until(`call ${method} CANCELLED`);
    expect(served.engine.followers).toBe(0);
  });

  test("when the server ends, with a status that says so", async () => {
    const stream = open();
    await accepted(stream, 1);
    const stopped = served.endpoint.stop(5_000);
    expect(await stream.ended).toMatchObject({ status: "UNAVAILABLE" });
    client[Symbol.dispose]();
    await stopped;
  });
});

describe("bounds", () => {
  test("one searcher has sixteen streams and others theirs; a closed one makes room", async () => {
    const streams = Array.from({ length: 16 }, () => open());
    await served.reported.until(`open ${method}`, 16);
    for (const [index, stream] of streams.entries()) await accepted(stream, index);
    expect(await open().ended).toMatchObject({ status: "RESOURCE_EXHAUSTED" });
    const stranger = open(other);
    await accepted(stranger, 100);
    streams[0]?.cancel();
    await served.reported.until(`close ${method}`, 2);
    const again = open();
    await again.first(16);
    for (const each of [...streams, stranger, again]) each.cancel();
  });

  test("hundreds of streams of one key are refused but for sixteen", async () => {
    const streams = Array.from({ length: 200 }, () => open());
    await served.reported.until(`call ${method} RESOURCE_EXHAUSTED`, 184);
    expect(served.engine.followers).toBe(16);
    for (const each of streams) each.cancel();
  });

  test("the engine works on so many submissions of a stream at once, and does not read on meanwhile", async () => {
    const stream = open();
    const gate = Promise.withResolvers<void>();
    served.engine.gate = gate.promise;
    const large = (tag: number) => ({
      ...request(tag),
      transactions: [Uint8Array.of(tag, tag >> 8), new Uint8Array(8_192)],
    });
    for (let tag = 0; tag < 300; tag += 1) stream.say(large(tag));
    await submissions(32);
    const stranger = open(other);
    stranger.say(request(7));
    await submissions(33);
    expect(served.engine.submissions.filter(({ searcher }) => searcher.id.endsWith("whole"))).toHaveLength(32);
    gate.resolve();
    await stream.first(300);
    expect(served.engine.records.size).toBe(301);
    stream.cancel();
    stranger.cancel();
  });

  test("a searcher that does not read is ended at a bound, and others receive everything", async () => {
    using hung = new SlowReader(served.port, method, whole, { message: new Uint8Array(), isHalfClosed: false });
    await submissions(1);
    const twin = open();
    await twin.first(1);
    const searcher = { id: "account of sk_dev_whole", accountId: null, pubkey: null };
    let rounds = 0;
    while (served.engine.followers === 2 && rounds < 5_000) {
      const submission = { tip: 1n, mevType: "jit", targetSlot: null, sealed: null, ingress: "rest" } as const;
      const transactions = [Uint8Array.of(rounds % 256, rounds >> 8, 1)];
      const outcome = await served.engine.submit({ ...submission, transactions }, searcher);
      const detail = "x".repeat(500);
      if (outcome.ok) served.engine.change(outcome.record.id, { to: "dropped", reason: "simulation_failed", detail });
      rounds += 1;
      await twin.first(1 + 2 * rounds);
    }
    expect(served.engine.followers).toBe(1);
    expect(rounds).toBeGreaterThan(512);
    await hung.answered;
    twin.cancel();
  });
});
