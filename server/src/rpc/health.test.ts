import { expect, test } from "bun:test";
import type { UpstreamHealth } from "../upstreams/index.ts";
import { answerOf, bootCluster, type Cluster, read } from "../upstreams/testing/cluster.ts";
import { healthAnswer } from "./health.ts";
import { textOf } from "./sent-answers.ts";

const healthOf = ({ pool }: Cluster) => JSON.parse(textOf(healthAnswer(pool.health())));
const unhealthy = { code: -32005, message: "Node is unhealthy", data: { numSlotsBehind: null } };

test("getHealth is not ok while operators have cordoned or drained every node, and is again when one is opened", async () => {
  await using cluster = await bootCluster(2);
  expect(healthOf(cluster).result).toBe("ok");
  cluster.pool.order("a", "cordoned");
  expect(healthOf(cluster).result).toBe("ok");
  cluster.pool.order("b", "drained");
  expect(healthOf(cluster).error).toEqual(unhealthy);
  cluster.pool.order("a", "open");
  expect(healthOf(cluster).result).toBe("ok");
});

test("getHealth says how far behind the nearest node is that may be called", async () => {
  await using cluster = await bootCluster(3);
  const [late, near, nearer] = cluster.nodes;
  if (late === undefined || near === undefined || nearer === undefined) throw new Error("no node");
  await cluster.announce(180, late);
  await cluster.announce(181, late);
  expect(healthOf(cluster).result).toBe("ok");
  for (const node of [near, nearer]) {
    node.answer = answerOf("1");
    node[Symbol.dispose]();
  }
  await cluster.until(() => {
    void cluster.pool.call(read());
    return healthOf(cluster).error !== undefined;
  });
  expect(healthOf(cluster).error).toEqual({
    code: -32005,
    message: "Node is behind by 80 slots",
    data: { numSlotsBehind: 80 },
  });
  cluster.pool.order("a", "cordoned");
  expect(healthOf(cluster).error).toEqual(unhealthy);
});

test("getHealth is not ok without nodes", () => {
  expect(JSON.parse(textOf(healthAnswer([]))).error).toEqual(unhealthy);
});

test("getHealth is not ok, without a distance, where the nearest node is not behind and yet not well", () => {
  const node = { healthy: false, speaks: true, mayServe: true } as UpstreamHealth;
  for (const slotLag of [0n, -5n, null]) {
    expect(JSON.parse(textOf(healthAnswer([{ ...node, slotLag }]))).error).toEqual(unhealthy);
  }
  expect(JSON.parse(textOf(healthAnswer([{ ...node, slotLag: 1n }]))).error.data).toEqual({ numSlotsBehind: 1 });
});

test("the size of an answer of ours is that of its text without the id", () => {
  const answer = healthAnswer([]);
  expect(answer.sizeBytes).toBe(textOf(answer).length - "0".length);
});
