import { describe, expect, test } from "bun:test";
import { alice, strangers, World } from "./testing/world.ts";

/** A world whose node would break the test if it were asked. */
function unasked(): World {
  const world = new World();
  world.node.misbehave = () => {
    throw new Error("the chain was asked");
  };
  return world;
}

describe("405 comes before everything", () => {
  for (const method of ["HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "PROPFIND"]) {
    for (const path of ["/health", "/version", "/resolve/%40alice.x1", "/resolve/alice.x1", "/elsewhere"]) {
      test(`${method} ${path}`, async () => {
        await using world = unasked();
        const answer = await world.get(path, { method });
        expect(answer.status).toBe(405);
        expect(answer.headers.get("allow")).toBe("GET");
        expect(answer.headers.get("access-control-allow-origin")).toBe("*");
        expect(answer.body).toMatchObject({ error: "method not allowed" });
        expect(world.node.calls.length).toBe(0);
      });
    }
  }
  test("the input is reported where there is one", async () => {
    await using world = unasked();
    const post = async (path: string): Promise<unknown> => (await world.get(path, { method: "POST" })).body;
    expect(await post("/resolve/%40alice")).toEqual({ error: "method not allowed", input: "@alice" });
    expect(await post("/resolve/%ff")).toEqual({ error: "method not allowed", input: "%ff" });
    expect(await post("/other")).toEqual({ error: "method not allowed" });
  });
});

describe("404 for unknown routes, with this body exactly", () => {
  test.each(["/", "/resolve", "/resolve/", "/resolve/a/b", "/resolve/alice.x1/", "/healthz", "/resolve/a/../../x"])(
    "%s",
    async (path) => {
      await using world = unasked();
      const answer = await world.get(path);
      expect([answer.status, answer.body]).toEqual([404, { error: "not found" }]);
    },
  );
});

describe("shapes are evaluated before the chain is asked", () => {
  const ambiguous = "ambiguous: both a handle and a domain shape";
  test.each([
    ["%40alice.x1", 409, ambiguous, "@alice.x1"],
    ["@Alice.XEN", 409, ambiguous, "@Alice.XEN"],
    ["%20%40%00.x1%0a", 409, ambiguous, " @\0.x1\n"],
    ["%40", 400, "invalid handle", "@"],
    ["alice", 400, "invalid handle", "alice"],
    ["%2540alice", 400, "invalid handle", "%40alice"],
    ["%40al%00ice", 400, "invalid handle", "@al\0ice"],
    ["%40%ff", 400, "invalid handle", "%40%ff"],
    ["@%ff", 400, "invalid handle", "@%ff"],
    ["alice.sol", 400, "invalid domain", "alice.sol"],
    ["a%252fb.x1", 400, "invalid domain", "a%2fb.x1"],
    ["a%00.x1", 400, "invalid domain", "a\0.x1"],
    ["%ff.x1", 400, "invalid domain", "%ff.x1"],
    ["%", 400, "invalid domain", "%"],
    ["..%2f", 400, "invalid domain", "../"],
    ["a%2fb.x1", 400, "invalid domain", "a/b.x1"],
    [`${"a".repeat(8000)}.x1`, 400, "invalid domain", `${"a".repeat(8000)}.x1`],
  ])("%s", async (segment, status, error, input) => {
    await using world = unasked();
    const answer = await world.get(`/resolve/${segment}`);
    expect([answer.status, answer.body]).toEqual([status, { error, input }]);
    expect(world.node.calls.length).toBe(0);
  });
});

test("health answers from the process alone", async () => {
  await using world = unasked();
  expect((await world.get("/health")).body).toEqual({ ok: true });
  expect(world.node.calls.length).toBe(0);
});

test("every answer is JSON, open to any origin, not cached, and has an id", async () => {
  await using world = new World();
  for (const path of ["/health", "/version", "/resolve/alice.x1", "/resolve/x", "/nowhere"]) {
    const { headers } = await world.get(path);
    expect(headers.get("content-type")).toBe("application/json");
    expect(headers.get("access-control-allow-origin")).toBe("*");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-request-id")).toMatch(/^req_/);
  }
});

test("the id of an endpoint in front is kept", async () => {
  await using world = unasked();
  const response = await world.names.fetch(new Request("http://r/health"), { requestId: "req_door" });
  expect(response.headers.get("x-request-id")).toBe("req_door");
});

describe("200", () => {
  test("a domain: input as decoded, name as resolved, and no other member", async () => {
    await using world = new World();
    world.domain(["alice"], "x1", alice);
    const answer = await world.get("/resolve/Alice%2EX1");
    expect(answer.status).toBe(200);
    expect(JSON.stringify(answer.body)).toBe(
      `{"input":"Alice.X1","name":"alice.x1","namespace":"x1","owner":"${alice}","verification":"owner"}`,
    );
    expect(answer.headers.get("x-owner-warning")).toBeNull();
  });

  test("a handle", async () => {
    await using world = new World();
    world.handle("alice", alice);
    const answer = await world.get("/resolve/%20%40Alice");
    expect(answer.body).toEqual({
      input: " @Alice",
      name: "alice",
      namespace: "handle",
      owner: alice,
      verification: "owner",
    });
  });

  test("an owner off the curve is reported in body and header, from the chain and from memory", async () => {
    await using world = new World();
    world.domain(["vault"], "xnt", strangers);
    for (let time = 0; time < 2; time++) {
      const answer = await world.get("/resolve/vault.xnt");
      expect(answer.body).toMatchObject({ owner: strangers, owner_on_curve: false });
      expect(answer.headers.get("x-owner-warning")).toBe("not-a-wallet");
    }
  });
});

describe("version", () => {
  test("reports the node's core version and its URL without secrets, in whichever part they are", async () => {
    await using world = new World();
    await using secretive = new World({
      rpcUrl: `${world.node.url.replace("http://", "http://user:p%40ss@")}/v2/0123456789abcdefghijk?api-key=hidden#x`,
    });
    const answer = await secretive.get("/version");
    expect(answer.body).toEqual({ chain_core: "2.2.16", rpc: `${world.node.url}/v2/***` });
    const sent = world.node.headers[0]?.get("authorization") ?? "";
    expect(Buffer.from(sent.replace("Basic ", ""), "base64").toString()).toBe("user:p@ss");
  });

  test("a password that is no percent-encoding is sent as it was typed", async () => {
    await using world = new World();
    await using odd = new World({ rpcUrl: world.node.url.replace("http://", "http://u:100%@") });
    expect((await odd.get("/version")).status).toBe(200);
    const sent = world.node.headers[0]?.get("authorization") ?? "";
    expect(Buffer.from(sent.replace("Basic ", ""), "base64").toString()).toBe("u:100%");
  });

  test("is 502 when the node does not answer, and is asked anew each time", async () => {
    await using world = new World();
    expect((await world.get("/version")).status).toBe(200);
    world.node.misbehave = () => new Response("", { status: 503 });
    const answer = await world.get("/version");
    expect([answer.status, answer.body]).toEqual([502, { error: "rpc unreachable" }]);
  });

  test.each([{}, { "solana-core": 7 }, { "solana-core": "" }, { "solana-core": "x".repeat(200) }, null, "2.2"])(
    "%j is no version",
    async (result) => {
      await using world = new World();
      world.node.misbehave = (call) => Response.json({ jsonrpc: "2.0", id: call.id, result });
      expect((await world.get("/version")).status).toBe(502);
    },
  );
});

test("an internal error is 500 without a word of it, and is reported to the operator", async () => {
  await using world = new World();
  Object.defineProperty(world.clock, "monotonic", {
    value: () => {
      throw new Error("secret detail");
    },
  });
  const answer = await world.get("/resolve/alice.x1");
  expect([answer.status, answer.body]).toEqual([500, { error: "internal error" }]);
  expect(world.events.join()).toContain("secret detail");
});
