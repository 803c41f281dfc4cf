/** Webhooks as a whole: a development network, receivers on this machine, and what they are sent. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { createHmac } from "node:crypto";
import type { WebhookFilters } from "@sluice/contract/schemas";
import * as schemas from "@sluice/contract/schemas";
import { eventually } from "@sluice/lib/testing";
import { createWebhooks, verifyWebhook, type Webhooks } from "@sluice/sdk";
import { Webhook } from "standardwebhooks";
import { type Network, post, startNetwork } from "./testing/network.ts";

setDefaultTimeout(240_000);

/** A busy machine is slow; nothing here is decided by time. */
const slowMs = 120_000;

const environment = { WEBHOOK_ALLOW_HTTP: "1", WEBHOOK_ALLOW_PRIVATE_CIDRS: "127.0.0.0/8" };

let network: Network;
let webhooks: Webhooks;
beforeAll(async () => {
  network = await startNetwork({ args: ["--traffic", "20"], env: environment });
  webhooks = createWebhooks({ url: new URL(network.rpcUrl).origin, key: network.dev.key });
  const ready = new URL("/ready?role=webhooks", network.rpcUrl);
  await eventually("the log of the chain", async () => (await fetch(ready)).ok, slowMs);
}, 180_000);
afterAll(async () => {
  await network?.[Symbol.asyncDispose]();
}, 60_000);

interface Got {
  readonly headers: Headers;
  readonly text: string;
  readonly body: { readonly event_id: string; readonly event: string; readonly data: Record<string, unknown> };
}

/** What the reference library of Standard Webhooks reads of a delivery. @throws {WebhookVerificationError} */
const judged = (secret: string, headers: Headers, text: string): unknown =>
  new Webhook(secret).verify(text, Object.fromEntries(headers));

/** A receiver that keeps what it is sent, and answers as it is told. */
class Receiver implements Disposable {
  readonly got: Got[] = [];
  status = 204;
  readonly #server: ReturnType<typeof Bun.serve>;

  constructor() {
    this.#server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: async (request) => {
        const text = await request.text();
        this.got.push({ headers: request.headers, text, body: JSON.parse(text) });
        return new Response(this.status === 204 ? null : "as told", { status: this.status });
      },
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}/events`;
  }

  of(event: string): Got[] {
    return this.got.filter(({ body }) => body.event === event);
  }

  [Symbol.dispose](): void {
    void this.#server.stop(true);
  }
}

const admin = async (method: string, ...params: unknown[]) => {
  const { body } = await post(network.dev.chainAdmin ?? "", { jsonrpc: "2.0", id: 1, method, params });
  if (body.error !== undefined) throw new Error(`${method}: ${body.error.message}`);
  return body.result;
};

const call = async (method: string, ...params: unknown[]) =>
  (await post(network.rpcUrl, { jsonrpc: "2.0", id: 1, method, params })).body.result;

/** Without the exact integers of the SDK: what zod reads. */
const dataSchemas: Readonly<Record<string, { parse(value: unknown): unknown }>> = {
  "transaction.confirmed": schemas.transactionEventData,
  "transaction.finalized": schemas.transactionEventData,
  "transaction.failed": schemas.failedEventData,
  "account.updated": schemas.accountUpdatedData,
  "block.confirmed": schemas.blockEventData,
  "block.finalized": schemas.blockEventData,
};

test("events of every kind arrive, each verified by both schemes, in the documented form, once each", async () => {
  using receiver = new Receiver();
  const { webhook_id: id, secret } = await webhooks.create({
    url: receiver.url,
    events: [
      "transaction.confirmed",
      "transaction.finalized",
      "transaction.failed",
      "account.updated",
      "block.confirmed",
      "block.finalized",
    ],
    filters: { include_data: false, include_transactions: true },
  });
  for (const event of ["transaction.confirmed", "transaction.finalized", "account.updated", "block.finalized"]) {
    await eventually(`${event} arrives`, () => receiver.of(event).length > 20, slowMs);
  }
  await webhooks.pause(id);
  const { got } = receiver;
  for (const { headers, text, body } of got) {
    const event = await verifyWebhook({ secret, headers, body: text, toleranceSeconds: 3_600 });
    expect(event.event_id).toBe(body.event_id);
    expect(judged(secret, headers, text)).toEqual(body);
    expect(() => judged(secret, headers, `${text} `)).toThrow("No matching signature found");
    const hmac = createHmac("sha256", secret).update(text).digest("hex");
    expect(headers.get("x-service-signature")).toBe(`sha256=${hmac}`);
    expect(headers.get("content-type")).toBe("application/json");
    expect([headers.get("x-service-event"), headers.get("x-service-event-id")]).toEqual([body.event, body.event_id]);
    expect(headers.get("x-service-attempt")).toMatch(/^\d+$/);
    expect(headers.get("x-service-timestamp")).toMatch(/^\d{10}$/);
    schemas.webhookEnvelope.parse(body);
    dataSchemas[body.event]?.parse(body.data);
  }
  const ids = got.map(({ body }) => body.event_id);
  expect(new Set(ids).size).toBe(ids.length);
});

/** What the enhanced API says that a transaction was. */
async function typeOf(signature: string): Promise<string> {
  const response = await fetch(new URL("/v0/transactions", network.rpcUrl), {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": network.dev.key },
    body: JSON.stringify({ transactions: [signature] }),
  });
  const [record]: readonly { readonly type?: string }[] = JSON.parse(await response.text());
  return record?.type ?? `none (${response.status})`;
}

test("trades arrive where they are what is asked for, by their kind and by their value at the oracle's prices", async () => {
  const receivers = { nft: new Receiver(), swap: new Receiver(), dear: new Receiver() };
  const made: string[] = [];
  const asked: readonly (readonly [Receiver, WebhookFilters])[] = [
    [receivers.nft, { nft: { event_types: ["sale", "listing"] } }],
    [receivers.swap, { defi: { event_types: ["swap"], min_usd_value: 0.000_001 } }],
    [receivers.dear, { defi: { event_types: ["swap"], min_usd_value: 1e15 } }],
  ];
  for (const [receiver, filters] of asked) {
    const { webhook_id: id } = await webhooks.create({ url: receiver.url, events: ["transaction.confirmed"], filters });
    made.push(id);
  }
  for (const receiver of [receivers.nft, receivers.swap]) {
    await eventually("trades", () => receiver.got.length > 2, slowMs);
  }
  const expected: readonly (readonly [Receiver, readonly string[]])[] = [
    [receivers.nft, ["NFT_SALE", "NFT_LISTING"]],
    [receivers.swap, ["SWAP"]],
  ];
  for (const [receiver, types] of expected) {
    for (const { body } of receiver.got.slice(0, 3)) {
      expect(body.data["success"]).toBe(true);
      expect(types).toContain(await typeOf(String(body.data["signature"])));
    }
  }
  expect(receivers.dear.got).toEqual([]);
  for (const id of made) await webhooks.delete(id);
  for (const receiver of Object.values(receivers)) receiver[Symbol.dispose]();
});

test("each block is told once, and says what the node says of it", async () => {
  using receiver = new Receiver();
  const { webhook_id: id } = await webhooks.create({
    url: receiver.url,
    events: ["block.finalized", "transaction.finalized"],
    filters: { include_transactions: true, include_logs: false },
  });
  await eventually("blocks", () => receiver.of("block.finalized").length > 12, slowMs);
  const slots = receiver.of("block.finalized").map(({ body }) => Number(body.data["slot"]));
  const last = Math.max(...slots.slice(0, 12));
  await eventually(
    "their transactions",
    () => receiver.of("transaction.finalized").some(({ body }) => Number(body.data["slot"]) > last + 1),
    slowMs,
  );
  await webhooks.delete(id);
  const first = Math.min(...slots);
  const blocks: number[] = await call("getBlocks", first, last, { commitment: "finalized" });
  const told = receiver.of("block.finalized").filter(({ body }) => Number(body.data["slot"]) <= last);
  expect(told.map(({ body }) => Number(body.data["slot"])).toSorted((one, other) => one - other)).toEqual(blocks);
  for (const { body } of told) {
    const slot = Number(body.data["slot"]);
    const block = await call("getBlock", slot, {
      ...{
        commitment: "finalized",
        maxSupportedTransactionVersion: 1,
        transactionDetails: "signatures",
        rewards: false,
      },
    });
    expect([body.data["blockhash"], body.data["transactions"]]).toEqual([block.blockhash, block.signatures]);
    // Votes are left out of events of transactions, and are in the list of the block.
    const signatures = receiver
      .of("transaction.finalized")
      .filter((each) => Number(each.body.data["slot"]) === slot)
      .map((each) => String(each.body.data["signature"]));
    expect(new Set(signatures).size).toBe(signatures.length);
    expect(signatures.every((signature) => block.signatures.includes(signature))).toBe(true);
    expect(signatures.length).toBe(Number(body.data["transaction_count"]) - Number(body.data["vote_transactions"]));
  }
});

test("of a fork nothing is told as finalized that is not on the chain, and confirmed events follow what happened", async () => {
  using receiver = new Receiver();
  const { webhook_id: id } = await webhooks.create({
    url: receiver.url,
    events: ["block.confirmed", "block.finalized"],
    filters: { include_rewards: false },
  });
  await eventually("blocks", () => receiver.of("block.confirmed").length > 5, slowMs);
  const { openSlot } = await admin("devnet_fork", { depth: 8, landAgain: true, confirmed: true });
  const newest = (event: string): number =>
    Math.max(0, ...receiver.of(event).map(({ body }) => Number(body.data["slot"])));
  await eventually("finality after the fork", () => newest("block.finalized") > openSlot + 2, slowMs);
  await webhooks.delete(id);
  const finalized = receiver.of("block.finalized").map(({ body }) => body.data);
  const hashes = new Map(receiver.of("block.confirmed").map(({ body }) => [String(body.data["blockhash"]), body.data]));
  for (const data of finalized) {
    const config = { commitment: "finalized", transactionDetails: "none", rewards: false };
    const block = await call("getBlock", Number(data["slot"]), { ...config, maxSupportedTransactionVersion: 1 });
    expect(data["blockhash"]).toBe(block.blockhash);
  }
  // Whatever became final was told as confirmed too, from the first block on that was told.
  const firstConfirmed = Math.min(...[...hashes.values()].map((data) => Number(data["slot"])));
  const missing = finalized.filter(
    (data) => Number(data["slot"]) >= firstConfirmed && !hashes.has(String(data["blockhash"])),
  );
  expect(missing).toEqual([]);
});

test("a test is delivered, retried with the same event, and told with its attempts", async () => {
  using receiver = new Receiver();
  receiver.status = 500;
  const { webhook_id: id, secret } = await webhooks.create({ url: receiver.url, events: ["webhook.disabled"] });
  const { delivery_id, event_id } = await webhooks.test(id, { test_data: { note: "☃" } });
  await eventually("the test", () => receiver.got.length === 1, slowMs);
  expect(receiver.got[0]?.body).toMatchObject({ event_id, event: "test.webhook", data: { note: "☃" } });
  expect(receiver.got[0]?.headers.get("x-service-delivery-id")).toBe(delivery_id);
  receiver.status = 204;
  await webhooks.retry(delivery_id);
  await eventually("the retry", () => receiver.got.length === 2, slowMs);
  expect(receiver.got[1]?.text).toBe(receiver.got[0]?.text ?? "");
  expect(receiver.got[1]?.headers.get("x-service-attempt")).toBe("2");
  const detail = await eventually(
    "its attempts",
    async () => {
      const found = await webhooks.delivery(delivery_id);
      return found.attempt_log.length === 2 ? found : null;
    },
    slowMs,
  );
  expect(detail.attempt_log.map(({ attempt, status_code }) => [attempt, status_code])).toEqual([
    [1, 500],
    [2, 204],
  ]);
  expect(detail.attempt_log[0]?.answer).toBe("as told");
  const [ended] = (await webhooks.deliveries(id)).deliveries;
  expect(ended).toMatchObject({ id: delivery_id, event_id, status: "success", status_code: 204, attempts: 2 });
  expect(detail.attempt_log[0]?.request_headers["webhook-id"]).toBe(event_id);
  // One that has succeeded is sent once more, byte for byte, though no chain has it.
  await webhooks.retry(delivery_id);
  await eventually("one more attempt", () => receiver.got.length === 3, slowMs);
  expect(receiver.got[2]?.text).toBe(receiver.got[0]?.text ?? "");
  expect(receiver.got[2]?.headers.get("x-service-attempt")).toBe("3");
  const { secret: next } = await webhooks.rotateSecret(id);
  await webhooks.test(id);
  await eventually("a test by both secrets", () => receiver.got.length === 4, slowMs);
  const third = receiver.got.at(-1);
  if (third === undefined) throw new Error("it came");
  for (const held of [secret, next]) {
    await verifyWebhook({ secret: held, headers: third.headers, body: third.text });
    expect(judged(held, third.headers, third.text)).toEqual(third.body);
  }
  await webhooks.delete(id);
});

test("a receiver that fails gets every event once it is well, from what was given up as from what waits", async () => {
  using receiver = new Receiver();
  receiver.status = 500;
  const { webhook_id: id } = await webhooks.create({
    url: receiver.url,
    events: ["block.finalized"],
    retry_policy: { max_attempts: 1 },
  });
  await eventually("attempts", () => receiver.got.length > 3, slowMs);
  await eventually("it is told", async () => (await webhooks.get(id)).failing_since !== null, slowMs);
  receiver.status = 204;
  const before = new Set(receiver.got.map(({ body }) => body.event_id));
  // What is asked for again is what has been given up: an attempt whose answer is on its way has not.
  const failed = await eventually(
    "what was given up",
    async () => {
      const { deliveries } = await webhooks.deliveries(id, { status: "failed" });
      const givenUp = new Set(deliveries.map(({ event_id }) => event_id));
      return [...before].every((each) => givenUp.has(each)) && deliveries;
    },
    slowMs,
  );
  expect(failed[0]).toMatchObject({ status: "failed", status_code: 500, attempts: 1 });
  const after = receiver.got.length;
  expect((await webhooks.recover(id, new Date(Date.now() - 3_600_000))).recovered).toBeGreaterThan(0);
  await eventually(
    "all of them again",
    () => {
      const again = new Set(receiver.got.slice(after).map(({ body }) => body.event_id));
      return [...before].every((each) => again.has(each));
    },
    slowMs,
  );
  await eventually("a success", async () => (await webhooks.get(id)).failing_since === null, slowMs);
  await webhooks.delete(id);
});

test("a webhook whose receiver is gone is disabled, says why, tells the account's other webhooks, and can be resumed", async () => {
  using gone = new Receiver();
  using told = new Receiver();
  gone.status = 410;
  const { webhook_id: id } = await webhooks.create({ url: gone.url, events: ["block.confirmed"] });
  const { webhook_id: watching } = await webhooks.create({ url: told.url, events: ["webhook.disabled"] });
  await eventually("it is disabled", async () => (await webhooks.get(id)).status === "disabled", slowMs);
  const record = await webhooks.get(id);
  expect(record.status_reason).not.toBeNull();
  expect(record.notices.map(({ code }) => code)).toContain("disabled");
  await eventually("the other is told", () => told.of("webhook.disabled").length > 0, slowMs);
  expect(told.of("webhook.disabled")[0]?.body.data).toMatchObject({ webhook_id: id });
  gone.status = 204;
  expect((await webhooks.resume(id)).status).toBe("active");
  const before = gone.got.length;
  await eventually("it delivers again", () => gone.got.length > before + 2, slowMs);
  for (const each of [id, watching]) await webhooks.delete(each);
});

test("an address that is not allowed is refused as it is set", async () => {
  for (const url of ["http://10.0.0.1/", "http://169.254.169.254/latest", "ftp://127.0.0.1/", "http://[::1]/"]) {
    const refused = await webhooks.create({ url, events: ["block.confirmed"] }).catch((error: unknown) => error);
    expect([url, Reflect.get(Object(refused), "code")]).toEqual([url, "INVALID_INPUT"]);
  }
});
