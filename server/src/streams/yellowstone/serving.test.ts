/** The port of Yellowstone gRPC as clients meet it: what they look up, TLS, many at once, and what the log has lost. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { credentials } from "@grpc/grpc-js";
import { protoFiles } from "@sluice/contract/proto";
import { unpackBlock } from "@sluice/encode";
import { eventually } from "@sluice/lib/testing";
import type { PastBlocks } from "../../history/index.ts";
import { slotOf } from "../../log/testing/chain-model.ts";
import { PlainClient } from "../../net/grpc/testing/grpc-client.ts";
import { fixedCertificate } from "../../net/index.ts";
import { certifyAuthority, certifyServer } from "../../net/tls/certificate.ts";
import { openStand, professional, type YellowstoneStand } from "./testing/stand.ts";

const geyser = { file: protoFiles.geyser, service: "geyser.Geyser" };
const pro = { "x-token": "pro" };
const protoOf = (module: string, path: string): string =>
  fileURLToPath(new URL(path, import.meta.resolve(`${module}/package.json`)));
const health = { file: protoOf("grpc-health-check", "proto/health/v1/health.proto"), service: "grpc.health.v1.Health" };
const reflection = {
  file: protoOf("@grpc/reflection", "build/proto/grpc/reflection/v1/reflection.proto"),
  service: "grpc.reflection.v1.ServerReflection",
};

/** The blocks that a log holds, for as long as the test lives. */
class KeptBlocks implements PastBlocks {
  readonly #blocks: Awaited<ReturnType<PastBlocks["first"]>>[] = [];
  isAway = false;

  async keep({ memory: { log } }: YellowstoneStand): Promise<void> {
    const last = log.latest("confirmed");
    for (let at = last === null ? null : log.find(last); at !== null; ) {
      const { header } = at;
      const body = await log.read(header);
      if (body !== null) this.#blocks.unshift({ header, block: unpackBlock(body) });
      at = log.find({ slot: header.parentSlot, blockhash: header.parentBlockhash });
    }
  }
  get #firstSlot() {
    return this.#blocks[0]?.header.slot ?? null;
  }
  first: PastBlocks["first"] = async (_, from) => {
    this.#mustBeThere();
    const isHeld = this.#firstSlot !== null && from >= this.#firstSlot;
    return isHeld ? (this.#blocks.find((each) => (each?.header.slot ?? 0n) >= from) ?? null) : null;
  };
  last: PastBlocks["last"] = async (_, until) =>
    this.#blocks.findLast((each) => (each?.header.slot ?? 0n) <= until)?.header ?? null;
  firstSlot: PastBlocks["firstSlot"] = async () => {
    this.#mustBeThere();
    return this.#firstSlot;
  };

  #mustBeThere(): void {
    if (this.isAway) throw new Error("away");
  }
}

const past = new KeptBlocks();
let stand: YellowstoneStand;
let client: PlainClient;
beforeAll(async () => {
  stand = await openStand({ node: { votes: true }, past });
  client = new PlainClient(stand.port, geyser);
  await stand.closeSlots(40);
  await past.keep(stand);
}, 60_000);
afterAll(async () => {
  client[Symbol.dispose]();
  await stand[Symbol.asyncDispose]();
});

test("health and reflection are answered without a key, over TLS as in the clear", async () => {
  const day = 86_400_000;
  const terms = {
    name: "y",
    notBefore: Date.now() - day,
    notAfter: Date.now() + day,
    serial: new Uint8Array(16).fill(7),
  };
  const authority = await certifyAuthority(terms);
  const { certificate, privateKey } = await certifyServer(terms, ["localhost"], authority);
  const source = fixedCertificate({ certificateChain: certificate, privateKey });
  const trust = credentials.createSsl(Buffer.from(authority.certificate));
  await using secured = await openStand({ tls: source });
  for (const [port, tls] of [
    [stand.port, null],
    [secured.port, trust],
  ] as const) {
    using looking = new PlainClient(port, { ...reflection, tls });
    const talk = looking.duplex("ServerReflectionInfo");
    talk.say({ list_services: "*" });
    talk.say({ file_containing_symbol: "geyser.SubscribeRequest" });
    const [list, described] = await talk.first(2);
    expect(list).toMatchObject({
      list_services_response: { service: [{ name: "geyser.Geyser" }, { name: "grpc.health.v1.Health" }] },
    });
    // Messages of the blocks are described in a file of their own, which comes along.
    const files = JSON.stringify(described?.["file_descriptor_response"]);
    const texts = JSON.parse(files).file_descriptor_proto.map(({ data }: { data: number[] }) =>
      Buffer.from(data).toString("latin1"),
    );
    expect(texts.join()).toContain("SubscribeUpdateTransaction");
    expect(texts.join()).toContain("solana.storage.ConfirmedBlock");
    talk.halfClose();
    using asking = new PlainClient(port, { ...health, tls });
    for (const service of ["", "geyser.Geyser"]) {
      expect(await asking.call("Check", { service })).toMatchObject({ message: { status: "SERVING" } });
    }
    using calling = new PlainClient(port, { ...geyser, tls });
    expect(await calling.call("Ping", { count: 3 }, pro)).toMatchObject({ message: { count: 3 } });
    expect(await calling.call("Ping", { count: 3 })).toMatchObject({ status: "UNAUTHENTICATED" });
  }
}, 30_000);

test("a thousand streams at once are each told every slot once", async () => {
  const clients = Array.from({ length: 8 }, () => new PlainClient(stand.port, geyser));
  const streams = clients.flatMap((client, index) =>
    Array.from({ length: 125 }, (_, at) => {
      const key = `many-${index}-${at % 5}`;
      stand.keys.set(key, { ...professional, accountId: `acc_${key}` });
      const stream = client.duplex("Subscribe", { "x-token": key });
      // Ten requests, which ten plans serve.
      stream.say({ commitment: "CONFIRMED", blocks_meta: { [`m${at % 10}`]: {} }, ping: null });
      return stream;
    }),
  );
  await eventually("all streams", () => stand.endpoint.size === 1_000, 20_000);
  for (const stream of streams) stream.say({ ping: { id: 1 } });
  await Promise.all(streams.map((stream) => stream.first(2)));
  const first = stand.faulty.node.chain.at("confirmed").slot + 1n;
  await stand.closeSlots(3);
  const toldOf = ({ messages }: (typeof streams)[number]): string[] =>
    messages.flatMap(({ block_meta: meta }) => (meta as { slot: string } | null)?.slot ?? []);
  await eventually("three slots", () => streams.every((stream) => toldOf(stream).length >= 3), 60_000);
  for (const stream of streams) {
    const told = toldOf(stream);
    expect(told).toEqual([0n, 1n, 2n].map((more) => `${first + more}`));
  }
  for (const stream of streams) stream.cancel();
  await eventually("the end of all", () => stand.endpoint.size === 0, 20_000);
  for (const client of clients) client[Symbol.dispose]();
}, 60_000);

test("from a slot that the log no longer holds a stream is told the past, and goes on in the log and live", async () => {
  const { log } = stand.memory;
  const first = log.earliest()?.slot ?? slotOf(0);
  const from = first + 2n;
  stand.memory.trimBelow(slotOf(Number(first + 6n)));
  expect(await client.call("SubscribeReplayInfo", {}, pro)).toMatchObject({ message: { first_available: `${first}` } });
  const stream = client.duplex("Subscribe", pro);
  stream.say({ commitment: "CONFIRMED", blocks_meta: { m: {} }, transactions: { t: {} }, from_slot: `${from}` });
  const metas = (): { slot: string; executed_transaction_count: string }[] =>
    stream.messages.flatMap(({ block_meta: meta }) => (meta as never) ?? []);
  const head = log.latest("confirmed")?.slot ?? 0n;
  await eventually("the past", () => metas().length === Number(head - from) + 1);
  await stand.closeSlots(2);
  await eventually("live", () => metas().length === Number(head - from) + 3);
  expect(metas().map(({ slot }) => BigInt(slot))).toEqual(
    Array.from({ length: Number(head - from) + 3 }, (_, index) => from + BigInt(index)),
  );
  const transactions = stream.messages.filter(({ transaction }) => transaction !== null && transaction !== undefined);
  expect(transactions.length).toBe(metas().reduce((sum, meta) => sum + Number(meta.executed_transaction_count), 0));
  stream.cancel();
  const early = client.duplex("Subscribe", pro);
  early.say({ commitment: "CONFIRMED", slots: { s: {} }, from_slot: "0" });
  expect(await early.ended).toMatchObject({
    status: "OUT_OF_RANGE",
    details: `broadcast from 0 is not available, last available: ${first}`,
  });
  // What the past is asked for is a request of the key; another one in its place goes on from where that asked.
  const replaced = client.duplex("Subscribe", pro);
  replaced.say({ commitment: "CONFIRMED", slots: { s: {} }, from_slot: `${from}` });
  replaced.say({ commitment: "CONFIRMED", blocks_meta: { n: {} } });
  replaced.say({ ping: { id: 2 } });
  await replaced.first(2);
  await stand.closeSlots(1);
  await eventually("the second request", () => replaced.messages.some((each) => each["block_meta"] != null));
  // What the first one had told before is told by its statuses; from there on nothing is missing.
  const slotsOf = (kind: "slot" | "block_meta"): string[] =>
    replaced.messages.flatMap((each) => (each[kind] as { slot: string } | null | undefined)?.slot ?? []);
  const newest = stand.faulty.node.chain.at("confirmed").slot;
  await eventually("the rest", () => slotsOf("block_meta").includes(`${newest}`));
  const told = new Set([...slotsOf("slot"), ...slotsOf("block_meta")].map(BigInt));
  expect(told).toEqual(new Set(Array.from({ length: Number(newest - from) + 1 }, (_, index) => from + BigInt(index))));
  const pong = replaced.messages.findIndex((each) => each["pong"] != null);
  expect(replaced.messages.slice(pong).filter(({ slot }) => slot != null)).toEqual([]);
  replaced.cancel();
}, 30_000);

test("a stream that asks the past is refused while nothing can be read, and beyond the key's requests", async () => {
  past.isAway = true;
  const first = stand.memory.log.earliest()?.slot;
  expect(await client.call("SubscribeReplayInfo", {}, pro)).toMatchObject({ message: { first_available: `${first}` } });
  const ended = async (key: string) => {
    const stream = client.duplex("Subscribe", { "x-token": key });
    stream.say({ commitment: "CONFIRMED", slots: { s: {} }, from_slot: "0" });
    return await stream.ended;
  };
  expect(await ended("pro")).toMatchObject({ status: "UNAVAILABLE" });
  const requests = [{ bucket: "r", requestsPerSecond: 1, burst: 1 }] as const;
  stand.keys.set("few", { ...professional, buckets: { ...professional.buckets, requests } });
  expect(await ended("few")).toMatchObject({ status: "RESOURCE_EXHAUSTED" });
}, 30_000);
