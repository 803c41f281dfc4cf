import { expect, test } from "bun:test";
import { ProblemError } from "../problem-error.ts";
import { createWebhooks } from "./webhooks.ts";

const json = (value: unknown, status = 200): Response => new Response(JSON.stringify(value), { status });

/** A client of a gateway that gives these answers in turn, and what it was asked. */
function gateway(...answers: Response[]) {
  const asked: string[] = [];
  const headers: Headers[] = [];
  const webhooks = createWebhooks({
    url: "http://gateway:8899/",
    key: "k",
    fetch: async (url, init) => {
      headers.push(new Headers(init.headers));
      asked.push(`${init.method} ${url.replace("http://gateway:8899", "")} ${init.body ?? ""}`.trim());
      const answer = answers.shift();
      if (answer === undefined) throw new Error(`nothing is left to answer ${url}`);
      return answer;
    },
  });
  return { asked, headers, webhooks };
}

test("each call is the request that the API documents, with the key", async () => {
  const record = { webhook_id: "wh_1" };
  const { asked, headers, webhooks } = gateway(
    ...Array.from({ length: 6 }, () => json(record)),
    new Response(null, { status: 204 }),
    ...Array.from({ length: 6 }, () => json(record)),
  );
  await webhooks.create({ url: "https://a", events: ["block.confirmed"], filters: { include_rewards: false } });
  await webhooks.get("wh/1");
  await webhooks.update("wh_1", { description: "b" });
  await webhooks.pause("wh_1");
  await webhooks.resume("wh_1");
  await webhooks.rotateSecret("wh_1");
  await webhooks.delete("wh_1");
  await webhooks.test("wh_1", { event: "block.confirmed", test_data: { slot: 1 } });
  await webhooks.recover("wh_1", new Date(0));
  await webhooks.deliveries("wh_1", { limit: 5, pending: true, status: "failed" });
  await webhooks.delivery("dlv_1");
  await webhooks.retry("dlv_1");
  await webhooks.endOverlap("wh_1");
  expect(asked).toEqual([
    'POST /api/v1/webhooks {"url":"https://a","events":["block.confirmed"],"filters":{"include_rewards":false}}',
    "GET /api/v1/webhooks/wh%2F1",
    'PATCH /api/v1/webhooks/wh_1 {"description":"b"}',
    "POST /api/v1/webhooks/wh_1/pause",
    "POST /api/v1/webhooks/wh_1/resume",
    "POST /api/v1/webhooks/wh_1/rotate-secret",
    "DELETE /api/v1/webhooks/wh_1",
    'POST /api/v1/webhooks/wh_1/test {"event":"block.confirmed","test_data":{"slot":1}}',
    'POST /api/v1/webhooks/wh_1/recover {"since":"1970-01-01T00:00:00.000Z"}',
    "GET /api/v1/webhooks/wh_1/deliveries?limit=5&status=failed&include=pending",
    "GET /api/v1/webhooks/deliveries/dlv_1",
    "POST /api/v1/webhooks/deliveries/dlv_1/retry",
    "POST /api/v1/webhooks/wh_1/end-overlap",
  ]);
  expect(headers.every((each) => each.get("x-api-key") === "k")).toBe(true);
  expect(headers[0]?.get("content-type")).toBe("application/json");
});

test("the list is followed page by page to the end", async () => {
  const page = (ids: readonly string[], next_cursor: string | null): Response =>
    json({ webhooks: ids.map((webhook_id) => ({ webhook_id })), next_cursor });
  const { asked, webhooks } = gateway(page(["a"], "c1"), page([], "c2"), page(["b"], null));
  const ids: string[] = [];
  for await (const { webhook_id } of webhooks.list({ network: "devnet" })) ids.push(webhook_id);
  expect([ids, asked]).toEqual([
    ["a", "b"],
    [
      "GET /api/v1/webhooks?network=devnet",
      "GET /api/v1/webhooks?network=devnet&cursor=c1",
      "GET /api/v1/webhooks?network=devnet&cursor=c2",
    ],
  ]);
});

test("a refusal is a ProblemError with its code and the fields that were wrong", async () => {
  const errors = [{ path: "url", message: "must begin with https://" }];
  const { webhooks } = gateway(json({ code: "INVALID_INPUT", instance: "req_1", errors }, 400));
  const error = await webhooks.create({ url: "http://a", events: ["block.confirmed"] }).catch((each: unknown) => each);
  expect(error).toBeInstanceOf(ProblemError);
  expect(error).toMatchObject({ code: "INVALID_INPUT", status: 400, requestId: "req_1", errors });
});
