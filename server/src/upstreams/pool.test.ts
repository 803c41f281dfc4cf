import { describe, expect, test } from "bun:test";
import type { UpstreamOutcome } from "./index.ts";
import { answerOf, bootCluster, type Cluster, errorOf, read } from "./testing/cluster.ts";
import type { StubNode } from "./testing/stub-node.ts";

/** The label that answered, or the code in place of an answer. */
function by(outcome: UpstreamOutcome): string {
  return outcome.ok ? outcome.answer.label : outcome.refused;
}

function nodeAt(cluster: Cluster, index: number): StubNode {
  const node = cluster.nodes[index];
  if (node === undefined) throw new RangeError("no such node");
  return node;
}

async function readMany(cluster: Cluster, count: number): Promise<string[]> {
  return await Promise.all(Array.from({ length: count }, async () => by(await cluster.pool.call(read()))));
}

const never = () => new Promise<string>(() => {});

describe("who is asked", () => {
  test("a node that falls more than fifty slots behind gets no further call from the notice on that shows it", async () => {
    await using cluster = await bootCluster(3);
    const zombie = nodeAt(cluster, 1);
    await cluster.announce(151, zombie);
    expect(cluster.inside()).toEqual(["a", "b", "c"]);
    await cluster.announce(152, zombie);
    expect(cluster.inside()).toEqual(["a", "c"]);
    expect(new Set(await readMany(cluster, 60))).toEqual(new Set(["a", "c"]));
    expect(cluster.pool.health()[1]).toMatchObject({ out: "lagging", slotLag: 51n });
  });

  test("a node that says it is well but is 2,500 slots behind is out at once, whatever getHealth says of it", async () => {
    await using cluster = await bootCluster(3);
    await cluster.announce(2_601, nodeAt(cluster, 0));
    expect(cluster.pool.health()[0]).toMatchObject({ out: "lagging", slotLag: 2_500n });
    expect(new Set(await readMany(cluster, 40)).has("a")).toBe(false);
    // The first of the two to show the new slot had nobody to confirm it, and is in again after its trials.
    await cluster.until(() => cluster.inside().join() === "b,c");
  });

  test("a node that claims a slot a million ahead gets no calls and puts nobody out, whether it reads or only sends", async () => {
    for (const groups of [["read"], ["send"]] as const) {
      await using cluster = await bootCluster(3, (index) => (index === 2 ? { groups } : {}));
      const liar = nodeAt(cluster, 2);
      liar.announce(1_000_101);
      await cluster.until(() => cluster.pool.health()[2]?.slot === 1_000_101n);
      expect(cluster.pool.health().map(({ out, slotLag }) => [out, slotLag])).toEqual([
        [null, 0n],
        [null, 0n],
        ["implausible", -1_000_000n],
      ]);
      expect(cluster.pool.slotOf("processed")).toBe(101n);
      expect(new Set(await readMany(cluster, 30))).toEqual(new Set(["a", "b"]));
      expect(liar.calls).toEqual([]);
      // A call that wants to see that slot waits for no one, and the liar is not asked for its sake.
      expect(["a", "b"]).toContain(by(await cluster.pool.call(read("getBalance", 500_000n))));
      // When it is all that is left, an answer is better than none.
      cluster.pool.order("a", "drained");
      cluster.pool.order("b", "drained");
      expect(by(await cluster.pool.call(read()))).toBe("c");
    }
  });

  test("a root counts as confirmed when a second reading node shows it", async () => {
    await using cluster = await bootCluster(3, (index) => (index === 2 ? { groups: ["send"] } : {}));
    expect(cluster.pool.confirmedRoot()).toBe(101n);
    nodeAt(cluster, 0).announce(150);
    nodeAt(cluster, 2).announce(150);
    await cluster.until(() => cluster.pool.slotOf("finalized") === 150n);
    expect(cluster.pool.confirmedRoot()).toBe(101n);
    nodeAt(cluster, 1).announce(140);
    await cluster.until(() => cluster.pool.confirmedRoot() === 140n);
    await using alone = await bootCluster(1);
    expect(alone.pool.confirmedRoot()).toBe(101n);
  });

  test("while one of two nodes is lost, the other's root is final, and counts as confirmed no further than before", async () => {
    await using cluster = await bootCluster(2, () => ({}), { silenceMsMax: 300 });
    nodeAt(cluster, 0).announce(120);
    await cluster.until(() => cluster.pool.slotOf("finalized") === 120n);
    expect([cluster.pool.finalRoot(), cluster.pool.confirmedRoot()]).toEqual([101n, 101n]);
    nodeAt(cluster, 1)[Symbol.dispose]();
    await cluster.until(() => {
      nodeAt(cluster, 0).announce(121);
      return cluster.pool.health()[1]?.out === "silent";
    });
    nodeAt(cluster, 0).announce(130);
    await cluster.until(() => cluster.pool.finalRoot() === 130n);
    expect(cluster.pool.confirmedRoot()).toBe(101n);
  });

  test("a node that lags is not even sent trials: none could bring it back", async () => {
    await using cluster = await bootCluster(2);
    const late = nodeAt(cluster, 1);
    await cluster.announce(160, late);
    expect(cluster.inside()).toEqual(["a"]);
    const before = late.calls.length;
    expect(new Set(await readMany(cluster, 20))).toEqual(new Set(["a"]));
    late.announce(134);
    await cluster.until(() => cluster.pool.health()[1]?.slot === 134n);
    expect(cluster.pool.health()[1]?.out).toBe("lagging");
    expect(new Set(await readMany(cluster, 20))).toEqual(new Set(["a"]));
    expect(late.calls.length).toBe(before);
    expect(cluster.recorded.extras).toEqual([]);
    late.announce(135);
    await cluster.until(() => cluster.inside().length === 2);
  });

  test("a node that caught up is in again only after three mirrored reads in a row went well", async () => {
    await using cluster = await bootCluster(2);
    const late = nodeAt(cluster, 1);
    await cluster.announce(160, late);
    expect(cluster.inside()).toEqual(["a"]);
    late.answer = errorOf(-32005);
    late.announce(160);
    await cluster.until(() => cluster.pool.health()[1]?.out === "on-trial");
    const before = late.calls.length;
    await cluster.until(() => late.calls.length >= before + 2);
    expect(cluster.inside()).toEqual(["a"]);
    late.answer = answerOf('{"context":{"slot":160},"value":{"blockhash":"x","lastValidBlockHeight":1}}');
    await cluster.until(() => cluster.inside().length === 2);
    expect(
      cluster.recorded.extras.filter(({ upstream, reason }) => upstream === "b" && reason === "mirrored").length,
    ).toBeGreaterThan(2);
  });

  test("when every node is out the least bad one serves", async () => {
    await using cluster = await bootCluster(4);
    const [late, later, ...near] = cluster.nodes;
    if (late === undefined || later === undefined) throw new RangeError("no such node");
    await cluster.announce(200, late, later);
    // The first of the two to show the new slot is out until the second one does.
    await cluster.until(() => cluster.inside().join() === "c,d");
    for (const node of near) node.answer = () => new Response("no", { status: 500 });
    // The nodes that lag answer what the others fail, so that it counts.
    await cluster.until(async () => {
      expect(["a", "b"]).toContain(by(await cluster.pool.call(read())));
      return cluster.inside().length === 0;
    });
    for (const node of near) node.answer = answerOf("1");
    expect(["c", "d"]).toContain(by(await cluster.pool.call(read())));
  });

  test("calls are spread by weight", async () => {
    await using cluster = await bootCluster(2, (index) => ({ weight: index === 0 ? 9 : 1 }));
    for (const node of cluster.nodes) {
      node.answer = async (call) => {
        await Bun.sleep(10);
        return answerOf("1")(call);
      };
    }
    // Both are measured under load first: a single slow answer is not what is asked here.
    await readMany(cluster, 100);
    const labels: string[] = [];
    for (let round = 0; round < 20; round += 1) labels.push(...(await readMany(cluster, 10)));
    expect(labels.filter((label) => label === "a").length).toBeGreaterThan(120);
    expect(labels).toContain("b");
  });

  test("history is asked of the archive group, and of others only when none of it is in", async () => {
    await using cluster = await bootCluster(3, (index) => ({ groups: index === 2 ? ["archive"] : ["read"] }));
    const archive = { ...read("getBlock"), kind: "archive" as const };
    for (let index = 0; index < 20; index += 1) expect(by(await cluster.pool.call(archive))).toBe("c");
    expect((await readMany(cluster, 40)).includes("c")).toBe(false);
    cluster.pool.order("c", "cordoned");
    expect(["a", "b"]).toContain(by(await cluster.pool.call(archive)));
  });

  test("a node is sent no more calls a second than its provider allows", async () => {
    await using cluster = await bootCluster(2, (index) => ({ requestsPerSecond: index === 0 ? 10 : null }));
    const labels = await readMany(cluster, 200);
    expect(labels.filter((label) => label === "a").length).toBeLessThanOrEqual(12);
    expect(labels.every((label) => label === "a" || label === "b")).toBe(true);
  });

  test("calls over what all providers allow are refused as overload, not queued", async () => {
    await using cluster = await bootCluster(1, () => ({ requestsPerSecond: 5 }));
    const labels = await readMany(cluster, 30);
    expect(labels.filter((label) => label === "a").length).toBeLessThanOrEqual(6);
    expect(labels).toContain("OVERLOADED");
  });
});

describe("what an operator orders", () => {
  test("a cordoned node gets nothing, and is back at his word", async () => {
    await using cluster = await bootCluster(2);
    expect(cluster.pool.order("a", "cordoned")).toBe(true);
    expect(new Set(await readMany(cluster, 30))).toEqual(new Set(["b"]));
    expect(cluster.pool.order("a", "open")).toBe(true);
    expect(cluster.inside()).toEqual(["a", "b"]);
    expect(cluster.pool.order("nobody", "cordoned")).toBe(false);
  });

  test("a drained node gets nothing even when it is the last one, and can be taken away", async () => {
    await using cluster = await bootCluster(2);
    cluster.pool.order("a", "drained");
    cluster.pool.order("b", "drained");
    expect(by(await cluster.pool.call(read()))).toBe("NETWORK_UNAVAILABLE");
    expect(await cluster.pool.remove("a")).toBe(true);
    expect(cluster.pool.health().map(({ label }) => label)).toEqual(["b"]);
  });

  test("a node that is added serves as soon as it is known", async () => {
    await using cluster = await bootCluster(1);
    const { url, ws } = nodeAt(cluster, 0);
    const added = { label: "new", url, ws, headers: {}, groups: ["read"] as const, weight: 1, requestsPerSecond: null };
    cluster.pool.add(added);
    await cluster.until(() => cluster.inside().includes("new"));
    expect(new Set(await readMany(cluster, 40))).toEqual(new Set(["a", "new"]));
    expect(() => cluster.pool.add(added)).toThrow(RangeError);
  });
});

describe("a read that goes wrong", () => {
  const wrongs: readonly (readonly [string, (call: { readonly id: string }) => Response | string])[] = [
    ["an error of the balancer", () => new Response("busy", { status: 503 })],
    ["too many requests", () => new Response("{}", { status: 429 })],
    ["garbage", () => "<html>"],
    ["another call's answer", () => '{"jsonrpc":"2.0","result":1,"id":"other"}'],
    ["an internal error", errorOf(-32603)],
    ["a node that is behind", errorOf(-32005)],
    ["a block that is not there yet", errorOf(-32004)],
    ["a slot that was cleaned up", errorOf(-32001)],
    ["a missing index", errorOf(-32010)],
  ];

  test.each(wrongs)("is repeated on another node after %s", async (_name, wrong) => {
    await using cluster = await bootCluster(2);
    nodeAt(cluster, 0).answer = wrong;
    expect(new Set(await readMany(cluster, 12))).toEqual(new Set(["b"]));
  });

  test.each([-32602, -32601, -32600, -32002, -32015, -32020])(
    "is not repeated after the caller's own fault %d",
    async (code) => {
      await using cluster = await bootCluster(2);
      for (const node of cluster.nodes) node.answer = errorOf(code);
      const outcome = await cluster.pool.call(read());
      expect(outcome.ok && outcome.answer.errorCode).toBe(code);
      expect(cluster.nodes.reduce((sum, node) => sum + node.calls.length, 0)).toBe(1);
    },
  );

  test("receives the node's own error when all nodes have the same", async () => {
    await using cluster = await bootCluster(3);
    for (const node of cluster.nodes) node.answer = errorOf(-32007);
    const outcome = await cluster.pool.call(read());
    expect(outcome.ok && outcome.answer.errorCode).toBe(-32007);
    expect(cluster.nodes.map((node) => node.calls.length)).toEqual([1, 1, 1]);
  });

  test("an error of a node counts for more than a node that cannot be reached", async () => {
    await using cluster = await bootCluster(2);
    nodeAt(cluster, 0).answer = errorOf(-32004);
    nodeAt(cluster, 1)[Symbol.dispose]();
    for (let index = 0; index < 6; index += 1) {
      const outcome = await cluster.pool.call(read());
      expect(outcome.ok && outcome.answer.errorCode).toBe(-32004);
    }
  });

  test("a node that fails each call at once does not look idle beside those that do the work", async () => {
    await using cluster = await bootCluster(3);
    const [broken, ...well] = cluster.nodes;
    // An error that the breaker does not count: a call may deserve it.
    if (broken !== undefined) broken.answer = errorOf(-32603);
    for (const node of well) {
      node.answer = async (call) => {
        await Bun.sleep(2);
        return answerOf("1")(call);
      };
    }
    const reader = async (): Promise<void> => {
      for (let index = 0; index < 15; index += 1) await cluster.pool.call(read());
    };
    await Promise.all(Array.from({ length: 24 }, reader));
    // A third of 360 would be its share, and 24 are asked before anything is known.
    expect(broken?.calls.filter(({ method }) => method === "getBalance").length).toBeLessThan(40);
  });

  test("a node that fails half of its calls is left alone, and comes back when it answers again", async () => {
    await using cluster = await bootCluster(2);
    const broken = nodeAt(cluster, 0);
    broken.answer = () => new Response("no", { status: 500 });
    await readMany(cluster, 30);
    await cluster.until(() => !cluster.inside().includes("a"));
    expect(cluster.pool.health()[0]?.out).toMatch(/failing|on-trial/);
    const asked = broken.calls.filter(({ method }) => method === "getBalance").length;
    expect(new Set(await readMany(cluster, 30))).toEqual(new Set(["b"]));
    expect(broken.calls.filter(({ method }) => method === "getBalance").length).toBeLessThanOrEqual(asked + 1);
    broken.answer = answerOf("0");
    await cluster.until(() => cluster.inside().includes("a"));
  });
});

describe("a read that is slow", () => {
  test("is overtaken once its method's usual time is known, and the first answer counts", async () => {
    // Reads go to the first node as long as it is not asked already.
    await using cluster = await bootCluster(2, (index) => ({ groups: index === 0 ? ["read"] : ["archive"] }));
    for (let index = 0; index < 60; index += 1) await cluster.pool.call(read());
    const [slow, quick] = [nodeAt(cluster, 0), nodeAt(cluster, 1)];
    slow.answer = never;
    quick.answer = answerOf("7");
    const outcomes = await readMany(cluster, 8);
    expect(new Set(outcomes)).toEqual(new Set(["b"]));
    expect(cluster.recorded.extras.some(({ upstream, reason }) => upstream === "b" && reason === "hedge")).toBe(true);
  });

  test("one stalled answer in a hundred costs few calls beside it, and hardly a read waits for it", async () => {
    await using cluster = await bootCluster(3);
    let served = 0;
    const stalls: Promise<void>[] = [];
    for (const node of cluster.nodes) {
      node.answer = async (call) => {
        served += 1;
        if (served % 100 === 0 && call.method === "getBalance") {
          const stall = Bun.sleep(2_000);
          stalls.push(stall);
          await stall;
        } else await Bun.sleep(8);
        return answerOf("1")(call);
      };
    }
    const calls = 1_500;
    let slow = 0;
    for (let done = 0; done < calls; done += 25) {
      await Promise.all(
        Array.from({ length: 25 }, async () => {
          const outcome = await cluster.pool.call(read());
          if (outcome.ok && outcome.latencyMs > 1_500) slow += 1;
        }),
      );
    }
    const extra = cluster.recorded.extras.length;
    expect(stalls.length).toBeGreaterThan(10);
    // A busy machine makes stalls of its own, which may use up the budget for a moment; bench/failover has the figures.
    expect(slow).toBeLessThanOrEqual(stalls.length / 4);
    expect(extra).toBeGreaterThan(0);
    expect(extra).toBeLessThanOrEqual(calls * 0.05 + 20);
  }, 60_000);

  test("hedges are bounded to a twentieth of the reads when everything is slow", async () => {
    await using cluster = await bootCluster(2);
    for (let index = 0; index < 60; index += 1) await cluster.pool.call(read());
    for (const node of cluster.nodes) {
      node.answer = async (call) => {
        await Bun.sleep(60);
        return answerOf("1")(call);
      };
    }
    await readMany(cluster, 200);
    const hedges = cluster.recorded.extras.filter(({ reason }) => reason === "hedge").length;
    expect(hedges).toBeLessThanOrEqual(20 + 13);
  });
});

describe("a node that is out", () => {
  test("answers what another could not be asked, and is not asked for the sake of an error", async () => {
    await using cluster = await bootCluster(2);
    await cluster.announce(160, nodeAt(cluster, 1));
    const well = nodeAt(cluster, 0);
    well.answer = () => new Response("no", { status: 503 });
    expect(by(await cluster.pool.call(read()))).toBe("b");
    const before = nodeAt(cluster, 1).calls.length;
    well.answer = errorOf(-32004);
    expect(by(await cluster.pool.call(read()))).toBe("a");
    expect(nodeAt(cluster, 1).calls.length).toBe(before);
  });
});

describe("slots that were seen", () => {
  test("a node that has not reached the slot is left out while another has", async () => {
    await using cluster = await bootCluster(3);
    await cluster.announce(110, nodeAt(cluster, 0), nodeAt(cluster, 2));
    for (let index = 0; index < 20; index += 1) expect(by(await cluster.pool.call(read("getBalance", 110n)))).toBe("b");
  });

  test("an answer from before the slot is asked for again elsewhere", async () => {
    await using cluster = await bootCluster(2);
    await cluster.announce(120);
    nodeAt(cluster, 0).answer = answerOf('{"context":{"slot":90},"value":1}');
    nodeAt(cluster, 1).answer = answerOf('{"context":{"slot":120},"value":2}');
    for (let index = 0; index < 12; index += 1) {
      const outcome = await cluster.pool.call(read("getBalance", 119n));
      expect(outcome.ok && outcome.answer.contextSlot).toBe(120n);
    }
    expect(cluster.recorded.extras.some(({ reason }) => reason === "stale")).toBe(true);
  });

  test("a call waits for the slot that is about to come", async () => {
    await using cluster = await bootCluster(2);
    const asked = cluster.pool.call(read("getBalance", 105n));
    nodeAt(cluster, 1).announce(105);
    expect(by(await asked)).toBe("b");
    expect(cluster.recorded.floorsMissed).toBe(0);
  });

  test("when no node reaches the slot the best one answers, and it is counted", async () => {
    await using cluster = await bootCluster(2);
    expect(["a", "b"]).toContain(by(await cluster.pool.call(read("getBalance", 9_999n))));
    expect(cluster.recorded.floorsMissed).toBe(1);
  });
});

describe("a transaction", () => {
  const send = { ...read("sendTransaction"), kind: "send" as const };

  test("goes to each node of the send group once, and the first that takes it answers", async () => {
    await using cluster = await bootCluster(4, (index) => ({ groups: index < 3 ? ["send"] : ["read"] }));
    nodeAt(cluster, 0).answer = never;
    nodeAt(cluster, 2).answer = errorOf(-32002);
    const outcome = await cluster.pool.call(send);
    expect(by(outcome)).toBe("b");
    await cluster.until(() => nodeAt(cluster, 2).calls.length === 1);
    expect(cluster.nodes.map((node) => node.calls.filter(({ method }) => method === "sendTransaction").length)).toEqual(
      [1, 1, 1, 0],
    );
  });

  test("goes to the two best placed where no node is of that group", async () => {
    await using cluster = await bootCluster(3);
    await cluster.announce(103, nodeAt(cluster, 2));
    await cluster.pool.call(send);
    await cluster.until(() => nodeAt(cluster, 0).calls.length === 1 && nodeAt(cluster, 1).calls.length === 1);
    expect(nodeAt(cluster, 2).calls.length).toBe(0);
  });

  test("that every node refuses is answered by the error of the best placed one", async () => {
    await using cluster = await bootCluster(3, () => ({ groups: ["send"] }));
    await cluster.announce(107, nodeAt(cluster, 0), nodeAt(cluster, 2));
    for (const [index, node] of cluster.nodes.entries()) {
      node.answer = (call) =>
        `{"jsonrpc":"2.0","error":{"code":-32002,"message":"by ${index}","data":{"err":null}},"id":${call.id}}`;
    }
    const outcome = await cluster.pool.call(send);
    expect(outcome.ok && outcome.answer.body.kind === "text" && outcome.answer.body.head).toContain("by 1");
  });

  test("is never sent again, whatever became of it", async () => {
    await using cluster = await bootCluster(2, () => ({ groups: ["send"] }));
    for (const node of cluster.nodes) node.answer = () => new Response("no", { status: 502 });
    expect(by(await cluster.pool.call(send))).toBe("NETWORK_UNAVAILABLE");
    expect(cluster.nodes.map((node) => node.calls.length)).toEqual([1, 1]);
  });

  test("a write that is no transaction goes to one node, once", async () => {
    await using cluster = await bootCluster(3);
    for (const node of cluster.nodes) node.answer = errorOf(-32603);
    await cluster.pool.call({ ...read("requestAirdrop"), kind: "once" });
    expect(cluster.nodes.reduce((sum, node) => sum + node.calls.length, 0)).toBe(1);
  });
});
