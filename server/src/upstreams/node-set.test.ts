import { expect, test } from "bun:test";
import type { UpstreamConfig } from "../config/index.ts";
import { answerOf, bootCluster, type Cluster, read } from "./testing/cluster.ts";
import { StubNode } from "./testing/stub-node.ts";

/** The options of the cluster's nodes, as a configuration would name them. */
const configured = (cluster: Cluster): UpstreamConfig[] =>
  cluster.upstreams.nodes().map(({ options }) => ({ ...options }));

const reconfigure = (cluster: Cluster, devnet: readonly UpstreamConfig[], slotLagMax = 50n): void =>
  cluster.upstreams.reconfigure({ mainnet: [], testnet: [], devnet }, slotLagMax);

/** A call that the node holds until it is let go. */
async function heldCall(cluster: Cluster, node: StubNode) {
  const { promise, resolve } = Promise.withResolvers<string>();
  let id = "";
  node.answer = (call) => {
    id = call.id;
    return promise;
  };
  const outcome = cluster.pool.call(read("getHeld"));
  await cluster.until(() => id !== "");
  node.answer = answerOf('"after"');
  return { outcome, letGo: () => resolve(`{"jsonrpc":"2.0","result":"held","id":${id}}`) };
}

test("a node that is no longer configured gets no further call, and the one under way on it is answered", async () => {
  await using cluster = await bootCluster(1);
  const [node] = cluster.nodes;
  if (node === undefined) throw new Error("no node");
  using other = new StubNode(answerOf('"other"'));
  const { outcome, letGo } = await heldCall(cluster, node);
  const [first] = configured(cluster);
  if (first === undefined) throw new Error("no options");
  reconfigure(cluster, [{ ...first, label: "z", url: other.url, ws: other.ws }]);
  expect(cluster.upstreams.nodes().map(({ options }) => options.label)).toEqual(["z"]);
  const before = node.calls.length;
  expect(await cluster.pool.call(read())).toMatchObject({ ok: true, answer: { label: "z" } });
  expect(node.calls.length).toBe(before);
  letGo();
  expect(await outcome).toMatchObject({ ok: true, answer: { label: "a" } });
});

test("a node whose headers change is exchanged under its label and order, and the call under way is answered", async () => {
  await using cluster = await bootCluster(2);
  const [node] = cluster.nodes;
  if (node === undefined) throw new Error("no node");
  cluster.pool.order("b", "drained");
  const { outcome, letGo } = await heldCall(cluster, node);
  reconfigure(
    cluster,
    configured(cluster).map((options) => ({ ...options, headers: { "x-provider": "2" }, weight: 7 })),
  );
  const shown = cluster.upstreams.nodes().map(({ options, order }) => [options.label, order, options.weight]);
  expect(shown).toEqual([
    ["a", "open", 7],
    ["b", "drained", 7],
  ]);
  expect(await cluster.pool.call(read())).toMatchObject({ ok: true, answer: { label: "a" } });
  letGo();
  expect(await outcome).toMatchObject({ ok: true, answer: { label: "a" } });
});

test("a configuration that cannot be sent to is refused and changes nothing, whatever else is in it", async () => {
  await using cluster = await bootCluster(2);
  const [first] = configured(cluster);
  if (first === undefined) throw new Error("no options");
  const bad = { ...first, label: "bad", headers: { "x-bad": "a\r\nb" } };
  expect(() => reconfigure(cluster, [bad])).toThrow();
  expect(cluster.upstreams.nodes().map(({ options }) => options.label)).toEqual(["a", "b"]);
  expect(cluster.inside()).toEqual(["a", "b"]);
});

test("the same configuration again exchanges nothing; nodes that were added at run time stay", async () => {
  await using cluster = await bootCluster(1);
  const [first] = configured(cluster);
  if (first === undefined) throw new Error("no options");
  const added = { ...first, label: "added" };
  const nodes = [
    { network: "devnet", options: added },
    { network: "testnet", options: added },
    // A configured node goes before one of its label.
    { network: "devnet", options: { ...first, weight: 9 } },
  ] as const;
  expect(cluster.upstreams.reconcileAdded(nodes)).toEqual([]);
  expect(cluster.upstreams.pool("testnet")).not.toBeNull();
  const before = cluster.pool.nodeSet.nodes;
  reconfigure(cluster, [first]);
  expect(cluster.upstreams.reconcileAdded(nodes)).toEqual([]);
  expect(cluster.pool.nodeSet.nodes).toEqual(before);
  expect(cluster.upstreams.nodes().map(({ options, isAdded }) => [options.label, isAdded])).toEqual([
    ["a", false],
    ["added", true],
    ["added", true],
  ]);
});

test("nodes that were added go when they are no longer named, once their calls have ended; what cannot be sent to is reported", async () => {
  await using cluster = await bootCluster(2);
  const [first] = configured(cluster);
  if (first === undefined) throw new Error("no options");
  reconfigure(cluster, [first]);
  const added = { network: "devnet", options: { ...first, label: "added" } } as const;
  const bad = { network: "devnet", options: { ...first, label: "bad", headers: { "x-bad": "a\r\nb" } } } as const;
  expect(cluster.upstreams.reconcileAdded([added, bad])).toEqual([bad]);
  const labels = () => cluster.upstreams.nodes().map(({ options }) => options.label);
  expect(labels()).toEqual(["a", "added"]);
  // An order stands over an exchange of the node, as it does for configured ones.
  cluster.pool.order("added", "cordoned");
  cluster.upstreams.reconcileAdded([{ network: "devnet", options: { ...added.options, weight: 7 } }]);
  expect(cluster.upstreams.nodes().map(({ options, order }) => [options.weight, order])).toEqual([
    [first.weight, "open"],
    [7, "cordoned"],
  ]);
  cluster.upstreams.reconcileAdded([]);
  expect(labels()).toEqual(["a"]);
});

test("how far a node may lag changes at once, and a network without nodes has no pool", async () => {
  await using cluster = await bootCluster(2);
  const [, late] = cluster.nodes;
  if (late === undefined) throw new Error("no node");
  await cluster.announce(120, late);
  expect(cluster.inside()).toEqual(["a", "b"]);
  reconfigure(cluster, configured(cluster), 10n);
  expect(cluster.inside()).toEqual(["a"]);
  reconfigure(cluster, []);
  expect(cluster.upstreams.pool("devnet")).toBeNull();
});
