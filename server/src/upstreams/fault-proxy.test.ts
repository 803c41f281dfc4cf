import { describe, expect, test } from "bun:test";
import type { UpstreamOutcome } from "./index.ts";
import { answerOf, bootCluster, type Cluster, read } from "./testing/cluster.ts";
import { FaultProxy, type ProxyFault } from "./testing/fault-proxy.ts";

/**
 * Two nodes, the first of which is asked first, through a proxy; its slots are reported past it, so that it looks well.
 */
async function withProxy(use: (cluster: Cluster, proxy: FaultProxy) => Promise<void>): Promise<void> {
  let proxy: FaultProxy | null = null;
  await using cluster = await bootCluster(
    2,
    (index, address) => {
      if (index !== 0) return { groups: ["archive"] };
      proxy = new FaultProxy(Number(new URL(address.url).port));
      return { url: proxy.url, groups: ["read"] };
    },
    { deadlineMs: 8_000 },
  );
  if (proxy === null) throw new Error("there is no proxy");
  using held: FaultProxy = proxy;
  // Usual times are known, so that what is slow is seen to be.
  for (let index = 0; index < 60; index += 1) await cluster.pool.call(read());
  await use(cluster, held);
}

const whole = '{"jsonrpc":"2.0","result":{"value":"0123456789abcdefghijklmnopqrstuvwxyz"},"id":';

function textOf(outcome: UpstreamOutcome): string {
  if (!outcome.ok) return outcome.refused;
  return outcome.answer.body.kind === "text" ? outcome.answer.body.head : "bytes";
}

describe.each(["delay", "drop", "half-open", "reset", "garbage", "drip"] as const)(
  "a node behind %s",
  (fault: ProxyFault) => {
    test(
      "fails no read, and no byte that it spoilt is anybody's answer",
      () =>
        withProxy(async (cluster, proxy) => {
          for (const node of cluster.nodes) node.answer = answerOf('{"value":"0123456789abcdefghijklmnopqrstuvwxyz"}');
          proxy.fault = fault;
          const outcomes = await Promise.all(Array.from({ length: 40 }, () => cluster.pool.call(read())));
          expect(new Set(outcomes.map(textOf))).toEqual(new Set([whole]));
          expect(cluster.recorded.extras.some(({ upstream }) => upstream === "b")).toBe(true);
        }),
      30_000,
    );

    test(
      "is sent a transaction once, and so is the other node",
      () =>
        withProxy(async (cluster, proxy) => {
          for (const node of cluster.nodes) node.answer = answerOf('"signature"');
          proxy.fault = fault;
          const call = { ...read("sendTransaction"), kind: "send" as const };
          await Promise.all(Array.from({ length: 5 }, () => cluster.pool.call(call)));
          const sends = cluster.nodes.map(
            (node) => node.calls.filter(({ method }) => method === "sendTransaction").length,
          );
          expect(sends[1]).toBe(5);
          expect(sends[0]).toBeLessThanOrEqual(5);
        }),
      30_000,
    );

    test(
      "is used again when it is well again",
      () =>
        withProxy(async (cluster, proxy) => {
          proxy.fault = fault;
          await Promise.all(Array.from({ length: 40 }, () => cluster.pool.call(read())));
          proxy.fault = "none";
          await cluster.until(() => {
            void cluster.pool.call(read());
            return cluster.inside().length === 2;
          });
        }),
      40_000,
    );
  },
);
