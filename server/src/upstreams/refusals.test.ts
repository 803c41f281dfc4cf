import { describe, expect, test } from "bun:test";
import type { UpstreamOutcome } from "./index.ts";
import { answerOf, bootCluster, type Cluster, errorOf, read } from "./testing/cluster.ts";
import type { StubCall, StubNode } from "./testing/stub-node.ts";

/** The label that answered, or the code in place of an answer. */
const by = (outcome: UpstreamOutcome): string => (outcome.ok ? outcome.answer.label : outcome.refused);

async function readMany(cluster: Cluster, count: number, method = "getBalance"): Promise<Set<string>> {
  const outcomes = Array.from({ length: count }, () => cluster.pool.call(read(method)));
  return new Set((await Promise.all(outcomes)).map(by));
}

async function readInTurn(cluster: Cluster, count: number, method = "getBalance"): Promise<Set<string>> {
  const labels = new Set<string>();
  for (let index = 0; index < count; index += 1) labels.add(by(await cluster.pool.call(read(method))));
  return labels;
}

function nodeAt(cluster: Cluster, index: number): StubNode {
  const node = cluster.nodes[index];
  if (node === undefined) throw new RangeError("no such node");
  return node;
}

const callsOf = (node: StubNode, method = "getBalance"): number =>
  node.calls.filter((call) => call.method === method).length;
const outOf = (cluster: Cluster, index: number) => cluster.pool.health()[index]?.out ?? null;

const http =
  (status: number, body: string | ((call: StubCall) => string), headers: Record<string, string> = {}) =>
  (call: StubCall): Response =>
    new Response(typeof body === "string" ? body : body(call), { status, headers });
const jsonError = (code: number) => (call: StubCall) =>
  `{"jsonrpc":"2.0","error":{"code":${code},"message":"text of the node"},"id":${call.id}}`;

describe("a refusal for the rate", () => {
  test.each([
    ["429 with an error in JSON", http(429, jsonError(429), { "Retry-After": "2" })],
    [
      "429 with text and a date",
      (call: StubCall) => http(429, "slow down", { "Retry-After": new Date(Date.now() + 3_000).toUTCString() })(call),
    ],
    ["the code -32429", jsonError(-32429)],
    ["the code 429", jsonError(429)],
  ])("by %s goes to no caller, and the node is asked no more until its rest is over", async (_name, refusal) => {
    await using cluster = await bootCluster(3);
    const limited = nodeAt(cluster, 0);
    limited.answer = refusal;
    expect((await readMany(cluster, 60)).has("UPSTREAM_LIMITED")).toBe(false);
    expect(outOf(cluster, 0)).toBe("limited");
    expect(cluster.recorded.rests).toEqual([{ upstream: "a", reason: "limited" }]);
    const asked = callsOf(limited);
    expect((await readInTurn(cluster, 40)).isSubsetOf(new Set(["b", "c"]))).toBe(true);
    expect(callsOf(limited)).toBe(asked);
    limited.answer = answerOf("0");
    await cluster.until(() => outOf(cluster, 0) === null);
    expect(callsOf(limited)).toBe(asked);
    await cluster.until(async () => by(await cluster.pool.call(read())) === "a");
  });

  test("by the only node is answered with the rest of its Retry-After, and the node is asked once", async () => {
    await using cluster = await bootCluster(1);
    const node = nodeAt(cluster, 0);
    node.answer = http(429, "slow down", { "Retry-After": "30" });
    const first = await cluster.pool.call(read());
    expect(first).toMatchObject({ ok: false, refused: "UPSTREAM_LIMITED" });
    for (let index = 0; index < 5; index += 1) {
      const outcome = await cluster.pool.call(read());
      expect(by(outcome)).toBe("UPSTREAM_LIMITED");
      const { retryAfterMs = 0 } = outcome.ok ? {} : outcome;
      expect(retryAfterMs).toBeGreaterThan(25_000);
      expect(retryAfterMs).toBeLessThanOrEqual(30_000);
    }
    expect(callsOf(node)).toBe(1);
    cluster.pool.order("a", "open");
    node.answer = answerOf("1");
    expect(by(await cluster.pool.call(read()))).toBe("a");
  });

  test("is reported as such only when nothing else came of the call", async () => {
    await using cluster = await bootCluster(2);
    nodeAt(cluster, 0).answer = http(429, "", { "Retry-After": "30" });
    nodeAt(cluster, 1).answer = http(500, "");
    await readInTurn(cluster, 4);
    expect(by(await cluster.pool.call(read()))).toBe("NETWORK_UNAVAILABLE");
    nodeAt(cluster, 1).answer = http(429, "", { "Retry-After": "30" });
    expect(by(await cluster.pool.call(read()))).toBe("UPSTREAM_LIMITED");
  });

  test("by more nodes than a read may fail on still leads to the one that answers", async () => {
    await using cluster = await bootCluster(6);
    for (const node of cluster.nodes.slice(0, 5)) node.answer = http(429, "");
    expect(await readMany(cluster, 12)).toEqual(new Set(["f"]));
  });

  test("is no sample of the node's latency", async () => {
    await using cluster = await bootCluster(2);
    nodeAt(cluster, 0).answer = jsonError(-32429);
    await readInTurn(cluster, 20);
    expect(cluster.pool.health()[0]?.latencyMs).toBeNull();
  });

  test("does not move PubSub clients from the node", async () => {
    await using cluster = await bootCluster(2);
    nodeAt(cluster, 0).answer = http(429, "", { "Retry-After": "30" });
    await readMany(cluster, 20);
    expect([outOf(cluster, 0), cluster.pool.mayNotify("a")]).toEqual(["limited", true]);
    cluster.pool.order("a", "cordoned");
    expect(cluster.pool.mayNotify("a")).toBe(false);
  });
});

describe("a refusal of the credential", () => {
  const refuseHistory = (call: StubCall) =>
    call.method === "getBlock" ? http(403, jsonError(-32052))(call) : answerOf("0")(call);

  test("rests the node for that method alone while it takes a getSlot of ours", async () => {
    await using cluster = await bootCluster(2);
    const narrow = nodeAt(cluster, 0);
    narrow.answer = refuseHistory;
    expect(await readInTurn(cluster, 20, "getBlock")).toEqual(new Set(["b"]));
    expect(callsOf(narrow, "getBlock")).toBe(1);
    await cluster.until(() => callsOf(narrow, "getSlot") === 1);
    expect(outOf(cluster, 0)).toBeNull();
    expect(cluster.pool.health()[0]?.refuses.map(({ method }) => method)).toEqual(["getBlock"]);
    await cluster.until(async () => by(await cluster.pool.call(read())) === "a");
  });

  test("of a call that every node refuses counts against none", async () => {
    await using cluster = await bootCluster(2);
    for (const node of cluster.nodes) node.answer = refuseHistory;
    expect(await readInTurn(cluster, 6, "getBlock")).toEqual(new Set(["UPSTREAM_LIMITED"]));
    expect(cluster.pool.health().map(({ out, refuses }) => [out, refuses])).toEqual([
      [null, []],
      [null, []],
    ]);
  });

  test("rests the whole node when a getSlot of ours is refused too, until one is taken", async () => {
    await using cluster = await bootCluster(2);
    const shut = nodeAt(cluster, 0);
    shut.answer = http(401, "unauthorized");
    expect(await readMany(cluster, 20)).toEqual(new Set(["b"]));
    await cluster.until(() => outOf(cluster, 0) === "denied");
    expect(cluster.recorded.rests.map(({ reason }) => reason)).toContain("denied");
    const asked = callsOf(shut);
    expect(await readInTurn(cluster, 20, "getEpochInfo")).toEqual(new Set(["b"]));
    expect([callsOf(shut), callsOf(shut, "getEpochInfo")]).toEqual([asked, 0]);
    shut.answer = answerOf("0");
    await cluster.until(() => outOf(cluster, 0) === null);
  });

  test("by the only node is answered without its text, and without asking it each time", async () => {
    await using cluster = await bootCluster(1);
    const shut = nodeAt(cluster, 0);
    shut.answer = http(403, jsonError(-32052));
    expect(await cluster.pool.call(read())).toMatchObject({
      ok: false,
      refused: "UPSTREAM_LIMITED",
      message: undefined,
    });
    await cluster.until(() => outOf(cluster, 0) === "denied");
    const asked = callsOf(shut);
    expect(await readInTurn(cluster, 5)).toEqual(new Set(["UPSTREAM_LIMITED"]));
    expect(callsOf(shut)).toBe(asked);
  });
});

describe("a fault of the call", () => {
  const poison = (call: StubCall) => call.method === "getProgramAccounts";

  test.each([
    ["500", http(500, "crash")],
    ["garbage", () => "<html>"],
    ["an internal error", errorOf(-32603)],
    ["503 with an error", http(503, jsonError(-32000))],
  ])("that every node answers with %s takes none out, whoever sends it how often", async (_name, fault) => {
    await using cluster = await bootCluster(3);
    for (const [index, node] of cluster.nodes.entries()) {
      node.answer = (call) => (poison(call) ? fault(call) : answerOf(`${index}`)(call));
    }
    for (let round = 0; round < 10; round += 1) await readMany(cluster, 10, "getProgramAccounts");
    expect(cluster.pool.health().map(({ out, errorRate }) => [out, errorRate])).toEqual([
      [null, 0],
      [null, 0],
      [null, 0],
    ]);
    const labels = await readMany(cluster, 60);
    expect(labels.isSubsetOf(new Set(["a", "b", "c"]))).toBe(true);
  });

  test("that another node answers counts", async () => {
    await using cluster = await bootCluster(2);
    nodeAt(cluster, 0).answer = http(500, "crash");
    expect(await readMany(cluster, 30)).toEqual(new Set(["b"]));
    expect(outOf(cluster, 0)).toBe("failing");
  });

  test.each([
    [413, "BODY_TOO_LARGE"],
    [400, "INVALID_PARAMS"],
  ])(
    "that is answered with %d in plain text ends the call: no other node is asked and it counts against none",
    async (status, code) => {
      await using cluster = await bootCluster(2);
      for (const node of cluster.nodes) {
        node.answer = (call) => (poison(call) ? http(status, "refused by the balancer")(call) : answerOf("1")(call));
      }
      for (let index = 0; index < 20; index += 1) {
        const outcome = await cluster.pool.call(read("getProgramAccounts"));
        expect(outcome).toMatchObject({ ok: false, refused: code });
        expect(JSON.stringify(outcome)).not.toContain("balancer");
      }
      expect(cluster.nodes.reduce((sum, node) => sum + callsOf(node, "getProgramAccounts"), 0)).toBe(20);
      expect(cluster.pool.health().map(({ out, errorRate }) => [out, errorRate])).toEqual([
        [null, 0],
        [null, 0],
      ]);
    },
  );

  test("cannot be what a node answers to everything: it rests when it refuses a getSlot of ours as well", async () => {
    await using cluster = await bootCluster(2);
    nodeAt(cluster, 0).answer = http(400, "The plain HTTP request was sent to HTTPS port");
    await cluster.until(async () => {
      await cluster.pool.call(read());
      return outOf(cluster, 0) === "denied";
    });
    expect(await readInTurn(cluster, 20)).toEqual(new Set(["b"]));
  });

  test("in the trial of a node that is out keeps it out no longer", async () => {
    await using cluster = await bootCluster(2);
    const back = nodeAt(cluster, 0);
    back.answer = http(500, "down");
    await readMany(cluster, 30);
    expect(outOf(cluster, 0)).toBe("failing");
    for (const node of cluster.nodes) {
      node.answer = (call) =>
        poison(call) ? http(500, "crash")(call) : answerOf('{"context":{"slot":101},"value":1}')(call);
    }
    let isOver = false;
    const attack = (async () => {
      while (!isOver) await readMany(cluster, 4, "getProgramAccounts");
    })();
    // Half a second of rest and three trials.
    await cluster.until(() => outOf(cluster, 0) === null, 5_000);
    isOver = true;
    await attack;
  });
});

describe("a call that is larger than nodes take", () => {
  test("is refused with the limit before a node is asked, and counts against none", async () => {
    await using cluster = await bootCluster(2);
    const params = `["${"x".repeat(51_150)}"]`;
    const outcome = await cluster.pool.call({ ...read("getSlot"), params });
    expect(outcome).toMatchObject({ ok: false, refused: "BODY_TOO_LARGE", message: expect.stringContaining("51200") });
    expect(cluster.nodes.map(({ calls }) => calls.length)).toEqual([0, 0]);
    expect(by(await cluster.pool.call({ ...read("getSlot"), params: `["${"x".repeat(51_000)}"]` }))).toMatch(/a|b/);
  });

  test("is measured in bytes as it goes out", async () => {
    await using cluster = await bootCluster(1);
    const wide = (characters: number) => ({ ...read("getSlot"), params: `["${"é".repeat(characters)}"]` });
    expect(by(await cluster.pool.call(wide(25_500)))).toBe("a");
    expect(by(await cluster.pool.call(wide(25_600)))).toBe("BODY_TOO_LARGE");
    expect(nodeAt(cluster, 0).calls.every(({ text }) => Buffer.byteLength(text) <= 51_200)).toBe(true);
  });
});

describe("a transaction", () => {
  const send = { ...read("sendTransaction"), kind: "send" as const };
  const sends = (cluster: Cluster) => cluster.nodes.map((node) => callsOf(node, "sendTransaction"));

  test.each([
    ["fail", () => new Response("no", { status: 502 })],
    ["refuse it for their rate", http(429, "")],
    ["refuse it for the credential", http(403, "")],
    ["are behind", errorOf(-32005)],
  ])("goes to further nodes when all of the chosen ones %s", async (_name, wrong) => {
    await using cluster = await bootCluster(4, (index) => ({ groups: index < 2 ? ["send"] : ["read"] }));
    for (const node of cluster.nodes.slice(0, 2)) node.answer = wrong;
    nodeAt(cluster, 2).answer = wrong;
    nodeAt(cluster, 3).answer = answerOf('"taken"');
    expect(by(await cluster.pool.call(send))).toBe("d");
    expect(sends(cluster)).toEqual([1, 1, 1, 1]);
  });

  test("that one of the chosen nodes refuses by its preflight goes to no further one", async () => {
    await using cluster = await bootCluster(3, (index) => ({ groups: index < 2 ? ["send"] : ["read"] }));
    nodeAt(cluster, 0).answer = () => new Response("no", { status: 502 });
    nodeAt(cluster, 1).answer = errorOf(-32002);
    const outcome = await cluster.pool.call(send);
    expect(outcome.ok && outcome.answer.errorCode).toBe(-32002);
    expect(sends(cluster)).toEqual([1, 1, 0]);
  });

  test("that no node answers is sent to each once, and the rate is the reason only when it is the only one", async () => {
    await using cluster = await bootCluster(5);
    for (const node of cluster.nodes) node.answer = http(429, "");
    nodeAt(cluster, 3).answer = () => new Response("no", { status: 500 });
    expect(by(await cluster.pool.call(send))).toBe("NETWORK_UNAVAILABLE");
    expect(sends(cluster)).toEqual([1, 1, 1, 1, 1]);
    nodeAt(cluster, 3).answer = http(429, "");
    expect(by(await cluster.pool.call(send))).toBe("UPSTREAM_LIMITED");
  });
});
