import { expect, test } from "bun:test";
import { encodeNameRegistry, encodeReverseName, reverseRegistryAddress } from "@sluice/wire/accounts/name-registry";
import { alice, bob, keyOf, service, sha256, World } from "./testing/world.ts";

const devnet = service("devnet");
const reverseClass = keyOf(devnet.reverseClass ?? "");

/** Writes what the chain says a registry is called. */
function call(world: World, labels: readonly string[], suffix: string, text: Uint8Array | string): void {
  const at = reverseRegistryAddress(
    world.registry(labels, suffix),
    { reverseClass },
    keyOf(devnet.nameProgram),
    sha256,
  );
  const data = typeof text === "string" ? encodeReverseName(text) : text;
  world.node.put(at, devnet.nameProgram, encodeNameRegistry({ owner: keyOf(bob), class: reverseClass, data }));
}

test("of several domains the shortest is shown, and of those the first suffix", async () => {
  await using world = new World();
  for (const [label, suffix] of [
    ["alice", "x1"],
    ["al", "xnt"],
    ["al", "x1"],
  ] as const) {
    world.domain([label], suffix, alice);
    call(world, [label], suffix, label);
  }
  expect(await world.names.reverse(alice)).toEqual({ kind: "named", name: "al.x1" });
});

test("a text that leads to another registry, is not canonical, or is no text, shows nothing", async () => {
  for (const text of [
    "bob",
    "Alice",
    "alice ",
    "alice.x1",
    "blog.alice",
    "",
    "\0alice",
    Uint8Array.of(9, 0, 0, 0, 1),
  ]) {
    await using world = new World();
    world.domain(["alice"], "x1", alice);
    world.domain(["bob"], "x1", bob);
    call(world, ["alice"], "x1", text);
    const expected = text === "\0alice" ? { kind: "named", name: "alice.x1" } : { kind: "unnamed" };
    expect(await world.names.reverse(alice)).toEqual(expected as never);
  }
});

test("a name that has another owner by the time it is resolved is not shown", async () => {
  await using world = new World();
  world.domain(["alice"], "x1", alice);
  call(world, ["alice"], "x1", "alice");
  let calls = 0;
  world.node.misbehave = () => {
    calls += 1;
    if (calls === 4) world.domain(["alice"], "x1", bob);
    return null;
  };
  expect(await world.names.reverse(alice)).toEqual({ kind: "unnamed" });
  expect(calls).toBe(4);
});

test("a node that does not answer, at any of the steps, is a failure and not a missing name", async () => {
  for (const silent of [1, 2, 3, 4]) {
    await using world = new World();
    world.domain(["alice"], "x1", alice);
    call(world, ["alice"], "x1", "alice");
    let calls = 0;
    world.node.misbehave = () => (++calls === silent ? new Response(null, { status: 500 }) : null);
    expect(await world.names.reverse(alice)).toEqual({ kind: "failed" });
  }
});

test("a node that lists accounts wrongly is a failure", async () => {
  for (const result of [{}, [1], [{ pubkey: "x", account: null }], [{ pubkey: alice, account: { owner: 1 } }]]) {
    await using world = new World();
    await world.names.start();
    world.node.misbehave = (each) => Response.json({ jsonrpc: "2.0", id: each.id, result });
    expect(await world.names.reverse(alice)).toEqual({ kind: "failed" });
  }
});

test.each([
  ["the shorter label stands before the first suffix", ["alice.x1", "al.xnt"], "al.xnt"],
  ["the first suffix stands before the letters", ["al.xnt", "zo.x1"], "zo.x1"],
  ["the letters come last", ["ed.x1", "bo.x1", "cy.x1", "al.x1", "di.x1"], "al.x1"],
] as const)("of several domains %s", async (_what, held, shown) => {
  await using world = new World();
  for (const name of held) {
    const [label = "", suffix = ""] = name.split(".");
    world.domain([label], suffix, alice);
    call(world, [label], suffix, label);
  }
  expect(await world.names.reverse(alice)).toEqual({ kind: "named", name: shown });
});
