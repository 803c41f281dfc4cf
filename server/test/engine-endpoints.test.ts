import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { credentials } from "@grpc/grpc-js";
import { bundleReasonTexts } from "@sluice/contract/engine";
import { protoFiles } from "@sluice/contract/proto";
import { eventually } from "@sluice/lib/testing";
import { type Ended, PlainClient } from "../src/net/grpc/testing/grpc-client.ts";
import { type BrokenBundle, brokenBundles } from "./testing/broken-bundles.ts";
import { memo, signed, textOf, tip } from "./testing/bundles.ts";
import { ChainReader } from "./testing/chain-reader.ts";
import { type EngineNetwork, startEngineNetwork } from "./testing/engine-network.ts";

import { type RestAnswer, RestSearcher } from "./testing/searcher.ts";
import { healthService, reflectionService } from "./testing/standard-services.ts";

setDefaultTimeout(30_000);

const ours = { file: protoFiles.blockEngine, service: "blockengine.v1.BlockEngine" };

let world: EngineNetwork;
let chain: ChainReader;
let searcher: RestSearcher;
let client: PlainClient;
let broken: readonly BrokenBundle[];
/** May read and nothing else. */
let reader: string;

beforeAll(async () => {
  world = await startEngineNetwork();
  chain = new ChainReader(world.chain.rpc);
  searcher = new RestSearcher(world.rest, world.network.dev.key);
  client = world.client();
  broken = await brokenBundles(chain);
  reader = await world.account("reader", "read");
}, 60_000);
afterAll(async () => {
  client?.[Symbol.dispose]();
  await world?.[Symbol.asyncDispose]();
}, 30_000);

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");

/** The whole of a refusal in the form of RFC 9457. */
function expectProblem({ status, headers, body }: RestAnswer, expected: { status: number; code: string }): void {
  expect({ status, code: body.code, header: headers.get("x-error-code") }).toEqual({
    ...expected,
    header: expected.code,
  });
  expect(headers.get("content-type")).toBe("application/problem+json");
  const type = `/docs/errors#${expected.code.toLowerCase().replaceAll("_", "-")}`;
  expect(body).toMatchObject({ type, status });
  expect([typeof body.title, typeof body.detail]).toEqual(["string", "string"]);
  expect(body.instance).toBe(headers.get("x-request-id"));
  const waits = Number(headers.get("retry-after") ?? 0);
  if (status === 429 || status === 503) expect(waits).toBeGreaterThanOrEqual(1);
  else expect(waits).toBe(0);
}

describe("a bundle that is wrong", () => {
  test("is refused by REST with its reason as the code of a 400", async () => {
    for (const { reason, transactions, tip: lamports = 10_000, targetSlot, sealed } of broken) {
      const answer = await searcher.post({
        transactions: transactions.map((each) => ({ data: base64(each) })),
        tip: lamports,
        ...(targetSlot === undefined ? {} : { targetSlot }),
        ...(sealed === undefined ? {} : { encryptedPayload: base64(sealed) }),
      });
      expectProblem(answer, { status: 400, code: reason });
      expect(answer.body.title).toBe(bundleReasonTexts[reason]);
    }
    expectProblem(await searcher.post({ transactions: [{ data: "AQ=" }], tip: 1_000 }), {
      status: 400,
      code: "bad_base64",
    });
    // What is base64 and stands for no transaction is no fault of its encoding, even where it is text itself.
    for (const content of ["hello", "no transaction!", "AQ=="]) {
      const transactions = [{ data: base64(Buffer.from(content)) }];
      expectProblem(await searcher.post({ transactions, tip: 1_000 }), { status: 400, code: "malformed_transaction" });
    }
  });

  test("is an answer of gRPC, rejected with its reason, the floor beside it", async () => {
    const keys = Object.values(world.network.dev.keys);
    const badText: BrokenBundle = { reason: "bad_base64", transactions: [Buffer.from("AQA")] };
    const whole = [...broken, badText];
    for (const [index, { reason, transactions, tip: lamports = 10_000, targetSlot, sealed }] of whole.entries()) {
      const message = {
        transactions,
        tip: String(lamports),
        ...(targetSlot === undefined ? {} : { target_slot: String(targetSlot) }),
        ...(sealed === undefined ? {} : { encrypted_payload: sealed }),
      };
      const headers = { "x-api-key": keys[index % keys.length] ?? "" };
      const answer = await client.call("SubmitBundle", message, headers);
      expect(answer).toMatchObject({ status: "OK", message: { status: "rejected", tip_floor: "1000" } });
      const reported = "message" in answer ? String(answer.message["reason"]) : "";
      if (reason === "simulation_failed") {
        expect(reported).toMatch(
          /^simulation_failed: transaction 0: (\{"InstructionError"|AddressLookupTableNotFound$)/,
        );
      } else expect(reported).toBe(reason);
    }
  });
});

describe("a request that is wrong", () => {
  test("names a page that opens from the endpoint that named it, and is the gateway's", async () => {
    const { type } = (await searcher.ask("/nothing")).body;
    const pubsub = `${world.network.dev.doors["pubsub"]}`.replace("ws:", "http:");
    for (const endpoint of [world.rest, pubsub]) {
      const page = await fetch(new URL(type, endpoint));
      expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
      expect(new URL(page.url).origin).toBe(new URL(world.network.rpcUrl).origin);
    }
  });

  test("is refused by REST with its status, its code and the whole of a problem", async () => {
    const stranger = new RestSearcher(world.rest, "sk_dev_nobody");
    const readOnly = new RestSearcher(world.rest, reader);
    const bundle = { transactions: [{ data: "AQ==" }], tip: 1_000 };
    const unsigned = await fetch(`${world.rest}/api/v1/bundles/x`);
    expectProblem(
      { status: unsigned.status, headers: unsigned.headers, body: await unsigned.json() },
      { status: 401, code: "MISSING_API_KEY" },
    );
    expectProblem(await stranger.post(bundle), { status: 403, code: "INVALID_API_KEY" });
    expectProblem(await readOnly.post(bundle), { status: 403, code: "PERMISSION_DENIED" });
    expectProblem(await readOnly.ask("/bundles/00"), { status: 404, code: "BUNDLE_NOT_FOUND" });
    expectProblem(await searcher.ask("/nothing"), { status: 404, code: "NOT_FOUND" });
    const put = await searcher.ask("/bundles", { method: "PUT", body: "{}" });
    expectProblem(put, { status: 405, code: "METHOD_NOT_ALLOWED" });
    expect(put.headers.get("allow")).toContain("POST");
    const text = { method: "POST", headers: { "content-type": "text/plain" }, body: "{}" };
    expectProblem(await searcher.ask("/bundles", text), { status: 415, code: "UNSUPPORTED_MEDIA_TYPE" });
    const large = { ...bundle, more: "x".repeat(70_000) };
    expectProblem(await searcher.post(large), { status: 413, code: "BODY_TOO_LARGE" });
    for (const body of ["{", "[]", { tip: -1 }, { tip: 1.5 }, { tip: 1_000, mevType: "theft" }, { transactions: 1 }]) {
      const init = { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) };
      const { status } = await searcher.ask("/bundles", init);
      expect([body, status]).toEqual([body, 400]);
    }
  });

  test("is a status of gRPC", async () => {
    const submit = (headers: Record<string, string>, message: object = {}) =>
      client.call("SubmitBundle", message, headers);
    const key = { "x-api-key": world.network.dev.keys.business };
    expect(await submit({})).toMatchObject({ status: "UNAUTHENTICATED" });
    expect(await submit({ "x-api-key": "sk_dev_nobody" })).toMatchObject({ status: "PERMISSION_DENIED" });
    expect(await submit({ "x-api-key": reader })).toMatchObject({ status: "PERMISSION_DENIED" });
    expect(await client.call("GetTipFloor", {}, { "x-api-key": reader })).toMatchObject({ status: "OK" });
    expect(await submit(key, { mev_type: "theft" })).toMatchObject({ status: "INVALID_ARGUMENT" });
    const both = { transactions: [Buffer.of(1)], encrypted_payload: Buffer.of(1) };
    expect(await submit(key, both)).toMatchObject({ status: "INVALID_ARGUMENT" });
    const oversized = { transactions: [Buffer.alloc(300_000)] };
    expect(await submit(key, oversized)).toMatchObject({ status: "RESOURCE_EXHAUSTED" });
    const garbled = await client.callRaw("SubmitBundle", Buffer.from([0x0a, 0x7f, 1]), key);
    expect(garbled).toMatchObject({ status: "INVALID_ARGUMENT" });
  });
});

describe("a key", () => {
  /** One of an account of its own, with what the command received beside. */
  async function keyWith(name: string, ...options: readonly string[]): Promise<string> {
    const { id = "" } = await world.sluice("accounts", "create", "--name", name);
    const rights = ["--permission", "read", "--permission", "bundles:write"];
    const created = await world.sluice(
      "keys",
      "create",
      "--account",
      id,
      "--environment",
      "dev",
      ...rights,
      ...options,
    );
    return created["key"] ?? "";
  }

  test("of another network may nothing here, at any endpoint", async () => {
    const key = await keyWith("elsewhere", "--network", "mainnet");
    const answer = await new RestSearcher(world.rest, key).ask("/bundles/tip_floor");
    expectProblem(answer, { status: 403, code: "PERMISSION_DENIED" });
    expect(await client.call("GetTipFloor", {}, { "x-api-key": key })).toMatchObject({ status: "PERMISSION_DENIED" });
    const here = await keyWith("here", "--network", "devnet");
    expect((await new RestSearcher(world.rest, here).ask("/bundles/tip_floor")).status).toBe(200);
  });
});

describe("one who asks too often", () => {
  test("is informed by REST when to come again, and is served then", async () => {
    const answers = await Promise.all(Array.from({ length: 70 }, () => searcher.post({ tip: 1_000 })));
    const refused = answers.filter(({ status }) => status === 429);
    expect(answers.filter(({ status }) => status === 400).length + refused.length).toBe(70);
    for (const each of refused) expectProblem(each, { status: 429, code: "RATE_LIMIT_EXCEEDED" });
    expect(refused.length).toBeGreaterThan(0);
    await eventually("a token again", async () => (await searcher.post({ tip: 1_000 })).status === 400);
  });

  test("finds no way round the sends of its account: 60 at once pass as over the gateway, and are paid for", async () => {
    const key = await world.account("sender", "read", "transactions:write", "bundles:write");
    const [payer] = await chain.wallets(1);
    const blockhash = await chain.blockhash();
    const sender = new RestSearcher(world.rest, key);
    const send = (at: number): Promise<RestAnswer> => {
      const params = [textOf(signed(payer, blockhash, memo(`send ${at}`))), { encoding: "base64" }];
      const body = JSON.stringify({ jsonrpc: "2.0", id: at, method: "sendTransaction", params });
      return sender.ask("/transactions", { method: "POST", body });
    };
    const answers = await Promise.all(Array.from({ length: 60 }, (_, at) => send(at)));
    const passed = answers.filter(({ status }) => status === 200).length;
    expect(answers.filter(({ status }) => status === 429).length).toBe(60 - passed);
    // The burst of a Free account, and what flows in while 60 are answered on a busy machine.
    expect(passed).toBeGreaterThanOrEqual(10);
    expect(passed).toBeLessThan(30);
    const usage = new URL("/api/v1/usage?group_by=method", `${world.network.dev.doors["rpc"]}`);
    const report = await (await fetch(usage, { headers: { "x-api-key": key } })).json();
    expect(Number(report.month.used)).toBe(10 * passed);
    const item = report.items.find(({ group }: { readonly group: string }) => group === "sendTransaction");
    expect([Number(item.credits), item.requests >= passed]).toEqual([10 * passed, true]);
  });

  test("is informed by gRPC with a RetryInfo, a searcher of bronze after ten at once", async () => {
    const key = await world.account("hasty", "read", "bundles:write");
    const calls = Array.from({ length: 30 }, () => client.call("SubmitBundle", {}, { "x-api-key": key }));
    const answers: readonly Ended[] = await Promise.all(calls);
    const taken = answers.filter(({ status }) => status === "OK").length;
    expect(taken).toBeGreaterThanOrEqual(10);
    const refused = answers.filter((each) => each.status === "RESOURCE_EXHAUSTED");
    expect(taken + refused.length).toBe(30);
    expect(refused.length).toBeGreaterThan(0);
    for (const each of refused) {
      const details = "metadata" in each ? String(each.metadata.get("grpc-status-details-bin")[0]) : "";
      expect(details).toContain("type.googleapis.com/google.rpc.RetryInfo");
    }
  });
});

describe("generic clients", () => {
  test("find by reflection what is served, and by health that it serves", async () => {
    using reflecting = new PlainClient(world.grpcPort, reflectionService);
    const talk = reflecting.duplex("ServerReflectionInfo");
    talk.say({ list_services: "*" });
    const [listed] = await talk.first(1);
    const names = ["blockengine.v1.BlockEngine", "searcher.SearcherService", "block_engine.BlockEngineValidator"];
    const service = expect.arrayContaining([...names, "auth.AuthService"].map((name) => ({ name })));
    expect(listed).toMatchObject({ list_services_response: { service } });
    talk.halfClose();
    using watching = new PlainClient(world.grpcPort, healthService);
    for (const name of ["", ...names]) {
      expect(await watching.call("Check", { service: name })).toMatchObject({ message: { status: "SERVING" } });
    }
  });

  test("are served over TLS under the authority that the directory holds, and by no other", async () => {
    const { port } = new URL(`${world.network.dev.doors["engineGrpcTls"]}`);
    const authority = readFileSync(`${world.network.directory}/dev-ca.pem`);
    using trusting = new PlainClient(Number(port), { ...ours, tls: credentials.createSsl(authority) });
    const [payer] = await chain.wallets(1);
    const transactions = [signed(payer, await chain.blockhash(), tip(payer)).serialize()];
    const key = { "x-api-key": world.network.dev.keys.professional };
    const answer = await trusting.call("SubmitBundle", { transactions, tip: "10000" }, key);
    expect(answer).toMatchObject({ status: "OK", message: { status: "accepted" } });
    await searcher.until("message" in answer ? String(answer.message["bundle_id"]) : "", "included");
    using doubting = new PlainClient(Number(port), { ...ours, tls: credentials.createSsl() });
    expect(await doubting.call("GetTipFloor", {}, key)).toMatchObject({ status: "UNAVAILABLE" });
  });
});
