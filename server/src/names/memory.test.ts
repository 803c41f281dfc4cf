import { describe, expect, test } from "bun:test";
import { AnswerMemory } from "./answer-memory.ts";
import { BoundedCalls } from "./bounded-calls.ts";
import type { NameOutcome } from "./name.ts";
import { alice, bob, World } from "./testing/world.ts";

const ownerOf = async (world: World, name: string): Promise<string> => {
  const outcome = await world.names.resolve(name);
  return outcome.kind === "resolved" ? outcome.resolution.owner : outcome.kind;
};

describe("how long an answer holds", () => {
  test("a found name 10 seconds, in every way of writing it", async () => {
    await using world = new World();
    world.domain(["alice"], "x1", alice);
    expect(await ownerOf(world, "alice.x1")).toBe(alice);
    world.domain(["alice"], "x1", bob);
    world.clock.advance(9_999);
    expect(await ownerOf(world, "ALICE.X1")).toBe(alice);
    world.clock.advance(1);
    expect(await ownerOf(world, "alice.x1")).toBe(bob);
    expect(world.node.calls.length).toBe(2);
  });

  test("an absent name 2 seconds", async () => {
    await using world = new World();
    expect(await ownerOf(world, "alice.x1")).toBe("absent");
    world.domain(["alice"], "x1", alice);
    world.clock.advance(1_999);
    expect(await ownerOf(world, "alice.x1")).toBe("absent");
    world.clock.advance(1);
    expect(await ownerOf(world, "alice.x1")).toBe(alice);
  });

  test("a malformed account not at all", async () => {
    await using world = new World();
    world.node.put(world.registry(["alice"], "x1"), alice, new Uint8Array(96));
    expect(await ownerOf(world, "alice.x1")).toBe("failed");
    world.domain(["alice"], "x1", alice);
    expect(await ownerOf(world, "alice.x1")).toBe(alice);
  });

  test("the time is counted from before the question, so that a slow node makes no answer older", async () => {
    await using world = new World();
    world.domain(["alice"], "x1", alice);
    world.node.misbehave = () => {
      world.clock.advance(4_000);
      return null;
    };
    expect(await ownerOf(world, "alice.x1")).toBe(alice);
    world.node.misbehave = () => null;
    world.clock.advance(6_000);
    await ownerOf(world, "alice.x1");
    expect(world.node.calls.length).toBe(2);
  });
});

test("many who ask for one name at once cost one call, and all receive the same answer", async () => {
  await using world = new World();
  world.domain(["alice"], "x1", alice);
  const asked = Array.from({ length: 500 }, (_, at) => ownerOf(world, at % 2 === 0 ? "alice.x1" : "Alice.x1"));
  expect(new Set(await Promise.all(asked))).toEqual(new Set([alice]));
  expect(world.node.calls.length).toBe(1);
});

test("a thousand names at once are all answered, with a bounded number of calls in flight", async () => {
  await using world = new World();
  let inFlight = 0;
  let most = 0;
  world.node.misbehave = async () => {
    inFlight += 1;
    most = Math.max(most, inFlight);
    await Promise.resolve();
    inFlight -= 1;
    return null;
  };
  const outcomes = await Promise.all(Array.from({ length: 1_000 }, (_, at) => ownerOf(world, `name-${at}.x1`)));
  expect(new Set(outcomes)).toEqual(new Set(["absent"]));
  expect(most).toBeLessThanOrEqual(128);
});

test("memory is bounded, and absent names drive out no found ones", () => {
  const memory = new AnswerMemory({ entriesMax: 100 }, { now: () => 0 });
  const found: NameOutcome = {
    kind: "resolved",
    resolution: { name: "a.x1", namespace: "x1", owner: alice, ownerOnCurve: true },
  };
  memory.keep("a.x1", found, 0);
  for (let at = 0; at < 1_000; at++)
    memory.keep(`n${at}.x1`, { kind: "absent", of: "domain", programMissing: false }, 0);
  expect(memory.size).toBe(101);
  expect(memory.get("a.x1")).toBe(found);
  expect(memory.get("n0.x1")).toBeUndefined();
  expect(memory.get("n999.x1")).toBeDefined();
});

test("a name is stored once: what was read last stands, and a failure leaves nothing", () => {
  const memory = new AnswerMemory({ entriesMax: 100 }, { now: () => 0 });
  const absent: NameOutcome = { kind: "absent", of: "domain", programMissing: false };
  const resolution = { name: "a.x1", namespace: "x1", owner: alice, ownerOnCurve: true } as const;
  for (const outcome of [absent, { kind: "resolved", resolution } as const, absent]) {
    memory.keep("a.x1", outcome, 0);
    expect([memory.size, memory.get("a.x1")]).toEqual([1, outcome]);
  }
  memory.keep("a.x1", { kind: "failed", error: "rpc unreachable" }, 0);
  expect(memory.size).toBe(0);
});

describe("bounded calls", () => {
  test("run so many at once, let so many wait, and refuse the rest", async () => {
    const calls = new BoundedCalls({ runningMax: 2, waitingMax: 1, waitMsMax: 1_000 }, { now: () => 0 });
    const gate = Promise.withResolvers<string>();
    let started = 0;
    const call = (): Promise<string> => {
      started += 1;
      return gate.promise;
    };
    const all = [calls.run(call), calls.run(call), calls.run(call), calls.run(call)];
    expect(started).toBe(2);
    expect(await all[3]).toBeNull();
    gate.resolve("done");
    expect(await Promise.all(all.slice(0, 3))).toEqual(["done", "done", "done"]);
    expect(started).toBe(3);
  });

  test("give up what waited too long, and pass the place on", async () => {
    let now = 0;
    const calls = new BoundedCalls({ runningMax: 1, waitingMax: 9, waitMsMax: 1_000 }, { now: () => now });
    const gate = Promise.withResolvers<string>();
    const first = calls.run(() => gate.promise);
    const overdue = calls.run(() => Promise.resolve("never"));
    now = 900;
    const inTime = calls.run(() => Promise.resolve("in time"));
    now = 1_500;
    gate.resolve("first");
    expect(await Promise.all([first, overdue, inTime])).toEqual(["first", null, "in time"]);
    expect(await calls.run(() => Promise.resolve("later"))).toBe("later");
  });

  test("a call that throws gives its place back", async () => {
    const calls = new BoundedCalls({ runningMax: 1, waitingMax: 1, waitMsMax: 1 }, { now: () => 0 });
    expect(calls.run(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
    await Promise.resolve();
    expect(await calls.run(() => Promise.resolve(1))).toBe(1);
  });
});
