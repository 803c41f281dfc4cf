import { describe, expect, test } from "bun:test";
import { SluiceError } from "@sluice/contract/errors";
import type { Permission } from "@sluice/contract/tiers";
import { StubNode } from "../upstreams/testing/stub-node.ts";
import { type BootedGateway, bootGateway, testGrant, testKey } from "./testing/booted-gateway.ts";
import { type FailureBody, slotCall, withGateway } from "./testing/with-gateway.ts";

/** What each check breaks, in the order in which they are made; the last entries break everything before them too. */
const checks: readonly {
  readonly code: string;
  readonly status: number;
  readonly rpcCode: number;
  readonly breakIt: (booted: BootedGateway) => void;
}[] = [
  {
    code: "INSUFFICIENT_CREDITS",
    status: 402,
    rpcCode: -33402,
    breakIt: ({ fakes }) => {
      fakes.creditsLeft = 0;
    },
  },
  {
    code: "RATE_LIMIT_EXCEEDED",
    status: 429,
    rpcCode: -33429,
    breakIt: ({ fakes }) => {
      fakes.take = () => ({ allowed: false, remaining: 0, retryAfterSeconds: 3 });
    },
  },
  {
    code: "METHOD_NOT_PERMITTED",
    status: 403,
    rpcCode: -33443,
    breakIt: ({ fakes }) => {
      fakes.authenticate = () => ({ ...testGrant, methods: { exact: new Set(["getBalance"]), prefixes: [] } });
    },
  },
  {
    code: "PERMISSION_DENIED",
    status: 403,
    rpcCode: -33433,
    breakIt: ({ fakes }) => {
      fakes.authenticate = () => ({
        ...testGrant,
        methods: { exact: new Set(["getBalance"]), prefixes: [] },
        permissions: ["keys:write"],
      });
    },
  },
  ...(["IP_NOT_ALLOWED", "DOMAIN_NOT_ALLOWED", "NETWORK_NOT_ALLOWED"] as const).map((code, index) => ({
    code,
    status: 403,
    rpcCode: [-33423, -33413, -33403][index] ?? 0,
    breakIt: ({ fakes }: BootedGateway) => {
      fakes.restriction = () => code;
    },
  })),
  ...(["KEY_INACTIVE", "INVALID_API_KEY"] as const).map((code, index) => ({
    code,
    status: 401,
    rpcCode: [-33411, -33401][index] ?? 0,
    breakIt: ({ fakes }: BootedGateway) => {
      fakes.authenticate = async () => ({ ok: false, code });
    },
  })),
];

describe("the checks", () => {
  test("come in the specified order, each with its status, code, header and body, and none of them costs credits", () =>
    withGateway(async (booted, node) => {
      for (const check of checks) {
        check.breakIt(booted);
        const credits = booted.fakes.creditsLeft;
        const response = await booted.post(slotCall);
        const body = (await response.json()) as FailureBody;
        expect([check.code, response.status, body.error.code]).toEqual([check.code, check.status, check.rpcCode]);
        expect(body.error.data["code"]).toBe(check.code);
        expect(body.error.data["request_id"]).toBe(response.headers.get("x-request-id"));
        expect(response.headers.get("x-error-code")).toBe(check.code);
        expect(booted.fakes.creditsLeft).toBe(credits);
      }
      expect(node.calls.length).toBe(0);
    }));

  test("each method needs the permission of what it does", () =>
    withGateway(async (booted) => {
      const codeOf = async (permissions: readonly Permission[], method: string): Promise<string | null> => {
        booted.fakes.authenticate = () => ({ ...testGrant, permissions });
        const response = await booted.post(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: [] }));
        return response.headers.get("x-error-code");
      };
      const reads = ["getSlot", "simulateTransaction", "getHealth", "getMoon"];
      const writes = ["sendTransaction", "requestAirdrop", "sendMoon"];
      for (const method of reads) {
        expect([method, await codeOf(["transactions:write"], method)]).toEqual([method, "PERMISSION_DENIED"]);
        expect([method, await codeOf(["read"], method)]).not.toEqual([method, "PERMISSION_DENIED"]);
      }
      for (const method of writes) {
        expect([method, await codeOf(["read", "bundles:write"], method)]).toEqual([method, "PERMISSION_DENIED"]);
        expect([method, await codeOf(["transactions:write"], method)]).not.toEqual([method, "PERMISSION_DENIED"]);
      }
      expect(await codeOf(["read", "transactions:write"], "sendBundle")).toBe("PERMISSION_DENIED");
    }));

  test("in a batch each call that the key may not make is answered in its place, costs nothing and reaches no node", () =>
    withGateway(async (booted, node) => {
      booted.fakes.authenticate = () => ({
        ...testGrant,
        permissions: ["read"],
        methods: { exact: new Set(["getSlot"]), prefixes: ["send"] },
      });
      const credits = booted.fakes.creditsLeft;
      const calls = ["getSlot", "getBlockHeight", "sendTransaction"];
      const batch = calls.map((method, id) => ({ jsonrpc: "2.0", id, method, params: [] }));
      const response = await booted.post(JSON.stringify(batch));
      const answers = (await response.json()) as (FailureBody & { readonly result?: number })[];
      expect([response.status, answers.map(({ id }) => id)]).toEqual([200, [0, 1, 2]]);
      expect(answers[0]?.result).toBe(5);
      expect(answers.slice(1).map(({ error }) => [error.code, error.message])).toEqual([
        [-33443, "The API key may not call getBlockHeight"],
        [-33433, "The API key needs the permission transactions:write to call sendTransaction"],
      ]);
      expect(booted.fakes.creditsLeft).toBe(credits - 1);
      expect(node.calls.filter(({ method }) => method !== "getSlot")).toEqual([]);
      expect(booted.facts.map(({ method, rpcCode, credits }) => [method, rpcCode, credits])).toEqual([
        ["getSlot", null, 1],
        ["getBlockHeight", -33443, 0],
        ["sendTransaction", -33433, 0],
      ]);
    }));

  test("a batch of which the key may make no call is refused as the single call is, before its rate, each call in its place", () =>
    withGateway(async (booted, node) => {
      const methods = { exact: new Set(["getSlot"]), prefixes: [] };
      booted.fakes.authenticate = () => ({ ...testGrant, methods, permissions: ["read"] });
      booted.fakes.take = () => ({ allowed: false });
      const call = (method: string, id: number) => ({ jsonrpc: "2.0", id, method, params: [] });
      const batch = JSON.stringify([call("getBlockHeight", 7), call("sendTransaction", 8)]);
      const response = await booted.post(batch);
      const text = await response.text();
      const answers = JSON.parse(text) as FailureBody[];
      expect([response.status, response.headers.get("x-error-code")]).toEqual([403, "METHOD_NOT_PERMITTED"]);
      expect(answers.map(({ id, error }) => [id, error.data["code"]])).toEqual([
        [7, "METHOD_NOT_PERMITTED"],
        [8, "PERMISSION_DENIED"],
      ]);
      expect(node.calls).toEqual([]);
      expect(booted.facts.map(({ status, code, rpcCode }) => [status, code, rpcCode])).toEqual([
        [403, "METHOD_NOT_PERMITTED", -33443],
        [403, "PERMISSION_DENIED", -33433],
      ]);
      // A malformed call beside it pays for its garbage, and the rate is what refuses then.
      expect((await booted.post(`[${JSON.stringify(call("getBlockHeight", 1))},5]`)).status).toBe(429);
    }));

  test("the record of a refusal has the bytes that were sent, of one call and in a batch", () =>
    withGateway(async (booted) => {
      booted.fakes.authenticate = () => ({ ...testGrant, permissions: [] });
      const single = await (await booted.post(slotCall)).text();
      const batch = await (await booted.post(`[${slotCall},${slotCall}]`)).text();
      booted.fakes.authenticate = () => testGrant;
      booted.fakes.take = () => ({ allowed: false });
      const limited = await (await booted.post(slotCall)).text();
      const sizes = booted.facts.map(({ bytesOut }) => bytesOut);
      const [first = 0, second = 0, third = 0, last] = sizes;
      expect(booted.facts.at(-1)?.code).toBe("RATE_LIMIT_EXCEEDED");
      expect([first, last]).toEqual([Buffer.byteLength(single), Buffer.byteLength(limited)]);
      // Two brackets and a comma are the batch's own.
      expect(second + third + 3).toBe(Buffer.byteLength(batch));
    }));

  test("a 429 says when to come back in its header and its body, and shows the bucket", () =>
    withGateway(async (booted) => {
      booted.fakes.take = () => ({ allowed: false, remaining: 0, retryAfterSeconds: 3 });
      const response = await booted.post(slotCall);
      expect(response.headers.get("retry-after")).toBe("3");
      expect(response.headers.get("x-ratelimit-limit")).toBe("1000");
      expect(response.headers.get("x-ratelimit-remaining")).toBe("0");
      expect(response.headers.get("x-ratelimit-burst")).toBe("2000");
      const body = (await response.json()) as FailureBody;
      expect(body.id).toBe("x");
      expect(body.error.data["retry_after"]).toBe(3);
    }));

  test("a call that cannot be counted is refused as such, asks no node, and has its record; one without a known key has none", () =>
    withGateway(async (booted, node) => {
      booted.fakes.take = () => {
        throw new SluiceError("STORE_UNAVAILABLE");
      };
      const response = await booted.post(slotCall);
      const { error } = (await response.json()) as FailureBody;
      expect([response.status, error.code, error.data["code"]]).toEqual([503, -33533, "STORE_UNAVAILABLE"]);
      expect(response.headers.get("retry-after")).toBe("1");
      expect(booted.facts).toEqual([
        expect.objectContaining({
          requestId: response.headers.get("x-request-id"),
          method: "getSlot",
          status: 503,
          rpcCode: -33533,
          credits: 0,
        }),
      ]);
      booted.fakes.authenticate = () => ({ ok: false, code: "INVALID_API_KEY" });
      expect((await booted.post(slotCall)).status).toBe(401);
      expect([booted.facts.length, node.calls.length]).toEqual([1, 0]);
    }));

  test("a 402 names the price, what is left and the end of the month, and is not to be tried again", () =>
    withGateway(async (booted) => {
      booted.fakes.creditsLeft = 3;
      const supply = '{"jsonrpc":"2.0","id":1,"method":"getSupply"}';
      const reset = "2026-12-01T00:00:00.000Z";
      for (const [body, price] of [[supply, 5] as const, [`[${supply},${slotCall}]`, 6] as const]) {
        const response = await booted.post(body);
        expect([response.status, response.headers.get("retry-after")]).toEqual([402, null]);
        const { error } = (await response.json()) as FailureBody;
        expect(error.data).toMatchObject({ price, remaining: 3, reset });
        expect(error.data).not.toHaveProperty("retry_after");
        expect(error.message).toContain(`costs ${price} credits, and 3 are left until ${reset}`);
      }
    }));

  test("restrictions see the network, the origin, the referer and the client's address", () =>
    withGateway(async (booted) => {
      let seen: unknown;
      booted.fakes.restriction = (request) => {
        seen = [request.network, request.origin, request.referer, request.clientAddress];
        return null;
      };
      await booted.post(slotCall, { headers: { origin: "https://a.example", referer: "https://b.example/x" } });
      expect(seen).toEqual(["devnet", "https://a.example", "https://b.example/x", "127.0.0.1"]);
    }));

  test("a key is taken from X-API-Key, a bearer or the query, and nothing else", () =>
    withGateway(async (booted) => {
      const post = (path: string, headers: Record<string, string>): Promise<Response> =>
        fetch(`${booted.url}${path}`, {
          method: "POST",
          headers: { "content-type": "application/json", ...headers },
          body: slotCall,
        });
      expect((await post("/rpc", { authorization: `Bearer ${testKey}` })).status).toBe(200);
      expect((await post(`/rpc?api-key=${testKey}`, {})).status).toBe(200);
      expect((await post(`/?network=devnet&api-key=${testKey}`, {})).status).toBe(200);
      expect((await post("/rpc", {})).status).toBe(401);
      expect((await post("/rpc", { cookie: testKey })).status).toBe(401);
    }));

  test("sendTransaction takes from its own bucket as well", () =>
    withGateway(async (booted, node) => {
      const taken: string[] = [];
      booted.fakes.take = (bucket) => {
        taken.push(bucket);
        return bucket.startsWith("send:") ? { allowed: false, remaining: 0, retryAfterSeconds: 1 } : {};
      };
      const response = await booted.post('{"jsonrpc":"2.0","id":1,"method":"sendTransaction","params":["2"]}');
      expect(response.status).toBe(429);
      expect(taken).toEqual(["requests:acc_1", "send:acc_1"]);
      expect(node.calls.length).toBe(0);
    }));
});

describe("networks", () => {
  test("are chosen by header, query or path; an unknown one is 400 and one without nodes is 503", () =>
    withGateway(async (booted, node) => {
      expect((await booted.post(slotCall, { path: "/rpc/devnet" })).status).toBe(200);
      expect((await booted.post(slotCall, { path: "/rpc/devnet/" })).status).toBe(200);
      expect((await booted.post(slotCall, { path: "/rpc/devnet/x" })).status).toBe(404);
      expect((await booted.post(slotCall, { path: "/rpc?network=devnet" })).status).toBe(200);
      expect((await booted.post(slotCall, { headers: { "x-network": "devnet" } })).status).toBe(200);
      expect(node.calls.length).toBe(1);
      for (const wrong of [
        { path: "/rpc/moon" },
        { path: "/rpc/moon/" },
        { path: "/rpc//" },
        { path: "/rpc?network=moon" },
        { headers: { "x-network": "moon" } },
      ]) {
        expect((await booted.post(slotCall, wrong)).status).toBe(400);
      }
      const credits = booted.fakes.creditsLeft;
      const response = await booted.post(slotCall, { path: "/rpc/mainnet" });
      expect(response.status).toBe(503);
      expect(response.headers.get("retry-after")).toBe("1");
      expect(((await response.json()) as FailureBody).error.code).toBe(-33503);
      expect(booted.fakes.creditsLeft).toBe(credits);
    }));

  test("are named in any letter case, and mainnet also as Solana's tools call it", async () => {
    using mainnet = new StubNode((call) => `{"jsonrpc":"2.0","result":"mainnet","id":${call.id}}`);
    using devnet = new StubNode((call) => `{"jsonrpc":"2.0","result":"devnet","id":${call.id}}`);
    await using booted = await bootGateway({ upstreams: { mainnet, devnet } });
    for (const name of ["mainnet-beta", "Mainnet-Beta", "MAINNET", "Devnet", "devnet"]) {
      for (const named of [
        { path: `/rpc/${name}` },
        { path: `/rpc?network=${name}` },
        { headers: { "x-network": name } },
      ]) {
        const answer = (await (await booted.post(slotCall, named)).json()) as { result: string };
        expect([name, answer.result]).toEqual([name, /^d/i.test(name) ? "devnet" : "mainnet"]);
      }
    }
    expect((await booted.post(slotCall, { headers: { "x-network": "devnet-beta" } })).status).toBe(400);
  });
});

describe("the gateway", () => {
  test("refuses wrong methods, types and sizes before it reads a key's body", () =>
    withGateway(async (booted) => {
      const wrongMethod = await fetch(`${booted.url}/rpc`, { method: "PUT", body: "{}" });
      expect([wrongMethod.status, wrongMethod.headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
      expect((await fetch(`${booted.url}/rpc`)).status).toBe(405);
      expect((await booted.post(slotCall, { headers: { "content-type": "text/plain" } })).status).toBe(415);
      expect((await booted.post(" ".repeat(256 * 1024 + 1))).status).toBe(413);
      const chunked = new ReadableStream({
        start: (controller) => {
          controller.enqueue(Buffer.alloc(300 * 1024, 32));
          controller.close();
        },
      });
      const headers = { "content-type": "application/json", "x-api-key": testKey };
      expect((await fetch(`${booted.url}/rpc`, { method: "POST", headers, body: chunked })).status).toBe(413);
    }));

  test("answers a preflight without a key and lets any origin read the gateway's headers", () =>
    withGateway(async (booted) => {
      const preflight = await fetch(`${booted.url}/rpc`, {
        method: "OPTIONS",
        headers: { origin: "https://a.example", "access-control-request-headers": "solana-client, x-api-key" },
      });
      expect(preflight.status).toBe(204);
      expect(preflight.headers.get("access-control-allow-headers")).toBe("solana-client, x-api-key");
      const response = await booted.post(slotCall, { headers: { origin: "https://a.example" } });
      expect(response.headers.get("access-control-allow-origin")).toBe("*");
      expect(response.headers.get("access-control-expose-headers")).toContain("X-RPC-Latency-Ms");
      const refused = await booted.post("{", { headers: { origin: "https://a.example" } });
      expect(refused.headers.get("access-control-allow-origin")).toBe("*");
      const plain = await booted.post(slotCall);
      expect(plain.headers.get("access-control-allow-origin")).toBe("*");
      expect(plain.headers.get("access-control-expose-headers")).toBeNull();
    }));

  test("gives every answer the headers of its kind", () =>
    withGateway(async (booted) => {
      const response = await booted.post(slotCall);
      expect(response.headers.get("content-type")).toBe("application/json");
      expect(response.headers.get("x-ratelimit-remaining")).toBe("1999");
      expect(response.headers.get("x-rpc-endpoint")).toBe("devnet-1");
      expect(response.headers.get("x-rpc-latency-ms")).toMatch(/^[0-9]+$/);
      expect(response.headers.get("x-request-id")).toMatch(/^req_/);
    }));

  test("reports to balancers that it serves", () =>
    withGateway(async (booted) => {
      const healthy = await fetch(`${booted.url}/health`);
      expect([healthy.status, ((await healthy.json()) as { status: string }).status]).toEqual([200, "ok"]);
    }));
});
