import { expect, test } from "bun:test";
import { StubNode } from "../upstreams/testing/stub-node.ts";
import { type BootedGateway, bootGateway } from "./testing/booted-gateway.ts";

interface Refusal {
  readonly id: unknown;
  readonly error: { readonly code: number; readonly message: string; readonly data: Record<string, unknown> };
}

const callOf = (method: string, params: unknown[] = [], id: unknown = 1): string =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params });
const answerFive = (call: { readonly id: string }): string => `{"jsonrpc":"2.0","result":5,"id":${call.id}}`;
const secret = "the provider's words about key 1234";

async function withGateway(
  answer: StubNode["answer"],
  use: (booted: BootedGateway, node: StubNode) => Promise<void>,
): Promise<void> {
  using node = new StubNode(answer);
  await using booted = await bootGateway({ upstreams: { devnet: node } });
  await use(booted, node);
  expect(booted.faults).toEqual([]);
}

test.each([
  ["429", 429, `{"jsonrpc":"2.0","error":{"code":429,"message":"${secret}"},"id":null}`],
  ["401", 401, `{"jsonrpc":"2.0","error":{"code":-32052,"message":"${secret}"},"id":null}`],
  ["403 in plain text", 403, secret],
])("a node's refusal by %s is told in our words, with Retry-After, and costs nothing", async (_name, status, body) => {
  const refuse = () => new Response(body, { status, headers: { "Retry-After": "20" } });
  await withGateway(refuse, async (booted) => {
    const credits = booted.fakes.creditsLeft;
    for (let index = 0; index < 3; index += 1) {
      const response = await booted.post(callOf("getSlot"));
      const text = await response.text();
      expect([response.status, response.headers.get("x-error-code")]).toEqual([503, "UPSTREAM_LIMITED"]);
      const wait = Number(response.headers.get("retry-after"));
      expect(wait).toBeGreaterThanOrEqual(status === 429 ? 18 : 1);
      expect(wait).toBeLessThanOrEqual(20);
      const refusal = JSON.parse(text) as Refusal;
      expect([refusal.error.code, refusal.error.data["retry_after"]]).toEqual([-33523, wait]);
      expect(text).not.toContain("provider");
    }
    const batch = (await (
      await booted.post(`[${callOf("getSlot")},${callOf("getBlockHeight", [], 2)}]`)
    ).json()) as Refusal[];
    expect(batch.map(({ id, error }) => [id, error.data["code"]])).toEqual([
      [1, "UPSTREAM_LIMITED"],
      [2, "UPSTREAM_LIMITED"],
    ]);
    expect(booted.fakes.creditsLeft).toBe(credits);
  });
});

const large = "x".repeat(60_000);

test("a call that is larger than nodes take is refused with the limit and asks no node; in a batch in its place", () =>
  withGateway(answerFive, async (booted, node) => {
    const credits = booted.fakes.creditsLeft;
    const response = await booted.post(callOf("getSlot", [{ x: large }]));
    const { error } = (await response.json()) as Refusal;
    expect([response.status, response.headers.get("x-error-code"), error.code]).toEqual([
      413,
      "BODY_TOO_LARGE",
      -33414,
    ]);
    expect(error.message).toContain("51200 bytes");
    expect([node.calls.length, booted.fakes.creditsLeft]).toEqual([0, credits]);
    const batch = await booted.post(`[${callOf("getSlot", [{ x: large }], "a")},${callOf("getBlockHeight", [], "b")}]`);
    expect(batch.status).toBe(200);
    expect(await batch.json()).toMatchObject([
      { id: "a", error: { data: { code: "BODY_TOO_LARGE" } } },
      { id: "b", result: 5 },
    ]);
    expect(node.calls.map(({ method }) => method)).toEqual(["getBlockHeight"]);
  }));

test.each([
  [413, 413, "BODY_TOO_LARGE"],
  [400, 200, "INVALID_PARAMS"],
])(
  "a %d in plain text from before the node is our own error %d %s, not garbage of the node",
  (status, expected, code) =>
    withGateway(
      (call) => (call.method === "getBlockHeight" ? new Response(secret, { status }) : answerFive(call)),
      async (booted, node) => {
        const credits = booted.fakes.creditsLeft;
        for (let index = 0; index < 40; index += 1) {
          const response = await booted.post(callOf("getBlockHeight", [{ commitment: "processed", x: index }]));
          expect([response.status, response.headers.get("x-error-code")]).toEqual([expected, code]);
          expect(await response.text()).not.toContain("provider");
        }
        expect(node.calls.filter(({ method }) => method === "getBlockHeight").length).toBe(40);
        expect(booted.fakes.creditsLeft).toBe(credits);
      },
    ),
);

test("a node's own -32600 and -32602 are passed on as they are", () =>
  withGateway(
    (call) => `{"jsonrpc":"2.0","error":{"code":-32602,"message":"of the node","data":[1]},"id":${call.id}}`,
    async (booted) => {
      expect(await (await booted.post(callOf("getSlot"))).text()).toBe(
        '{"jsonrpc":"2.0","error":{"code":-32602,"message":"of the node","data":[1]},"id":1}',
      );
    },
  ));

test('an answer with "error": null beside its result reaches the client as a result alone', () =>
  withGateway(
    (call) => `{"jsonrpc":"2.0","error":null,"result":18446744073709551615,"id":${call.id}}`,
    async (booted) => {
      const response = await booted.post(callOf("getSlot"));
      expect([response.status, await response.text()]).toEqual([
        200,
        '{"jsonrpc":"2.0","result":18446744073709551615,"id":1}',
      ]);
    },
  ));
