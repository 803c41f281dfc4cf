import { describe, expect, test } from "bun:test";
import { createServer } from "node:net";
import { encodeHandleAccount, encodeNameRegistry, handleAddress } from "@sluice/wire/accounts/name-registry";
import type { Address } from "@sluice/wire/identifiers";
import { programs } from "@sluice/wire/programs";
import { AccountNode, type Misbehaviour, resultOf } from "./testing/account-node.ts";
import { alice, bob, keyOf, service, sha256, World } from "./testing/world.ts";

const devnet = service("devnet");
const handleProgram = devnet.handleProgram ?? ("" as Address);
const of = async (world: World, name: string): Promise<unknown> => {
  const { status, body } = await world.get(`/resolve/${encodeURIComponent(name)}`);
  const { owner, error } = body as { owner?: string; error?: string };
  return [status, owner ?? error];
};

describe("a domain", () => {
  test("is its registry's owner, each suffix its own", async () => {
    await using world = new World();
    world.domain(["alice"], "x1", alice);
    world.domain(["alice"], "xnt", bob);
    expect(await of(world, "alice.x1")).toEqual([200, alice]);
    expect(await of(world, "alice.xnt")).toEqual([200, bob]);
    expect(await of(world, "alice.xen")).toEqual([404, "domain not registered"]);
  });

  test("resolves where the root's own account is not to be seen", async () => {
    await using world = new World();
    world.domain(["alice"], "x1", alice);
    expect(await of(world, "ALICE.x1")).toEqual([200, alice]);
  });

  const put = (world: World, data: Uint8Array, program: string = devnet.nameProgram): void =>
    world.node.put(world.registry(["alice"], "x1"), program, data);
  const registry = (world: World, change: (data: Uint8Array) => void = () => undefined): Uint8Array => {
    const data = encodeNameRegistry({ parent: world.registry([], "x1"), owner: keyOf(alice) });
    change(data);
    return data;
  };

  test.each<readonly [string, (world: World) => void, readonly [number, string]]>([
    ["absent", () => undefined, [404, "domain not registered"]],
    [
      "under another suffix",
      (world) =>
        put(
          world,
          registry(world, (data) => data.set(world.registry([], "xnt"), 0)),
        ),
      [404, "domain not registered"],
    ],
    [
      "under no parent",
      (world) =>
        put(
          world,
          registry(world, (data) => data.fill(0, 0, 32)),
        ),
      [404, "domain not registered"],
    ],
    [
      "without an owner",
      (world) =>
        put(
          world,
          registry(world, (data) => data.fill(0, 32, 64)),
        ),
      [404, "domain not registered"],
    ],
    [
      "closed to the system program",
      (world) => put(world, new Uint8Array(), programs.system),
      [404, "domain not registered"],
    ],
    [
      "of the system program with data",
      (world) => put(world, registry(world), programs.system),
      [404, "domain not registered"],
    ],
    ["empty", (world) => put(world, new Uint8Array()), [404, "domain not registered"]],
    ["of another program", (world) => put(world, registry(world), programs.memo), [502, "malformed account"]],
    [
      "of a name service of another chain",
      (world) => put(world, registry(world), service("x1-mainnet").nameProgram),
      [502, "malformed account"],
    ],
    ["truncated by one byte", (world) => put(world, registry(world).subarray(0, 95)), [502, "malformed account"]],
    ["truncated to one byte", (world) => put(world, new Uint8Array(1)), [502, "malformed account"]],
  ])("%s", async (_name, arrange, expected) => {
    await using world = new World();
    arrange(world);
    expect(await of(world, "alice.x1")).toEqual([...expected]);
  });
});

describe("a sub-domain", () => {
  const build = (world: World): void => {
    world.domain(["alice"], "x1", alice);
    world.domain(["alice", "blog"], "x1", bob);
    world.domain(["alice", "blog", "drafts"], "x1", alice);
  };

  test("resolves through all its parents, at any depth, in one call", async () => {
    await using world = new World();
    build(world);
    expect(await of(world, "blog.alice.x1")).toEqual([200, bob]);
    expect(await of(world, "drafts.blog.alice.x1")).toEqual([200, alice]);
    expect(world.node.calls.length).toBe(2);
  });

  test.each<readonly [string, (world: World, parent: Uint8Array) => void, readonly [number, string]]>([
    [
      "is absent under a parent that is gone",
      (world, parent) => world.node.remove(parent),
      [404, "domain not registered"],
    ],
    [
      "is absent under a closed parent",
      (world, parent) => world.node.put(parent, programs.system, new Uint8Array()),
      [404, "domain not registered"],
    ],
    [
      "is malformed under a parent of another program",
      (world, parent) => world.node.put(parent, programs.memo, new Uint8Array(96)),
      [502, "malformed account"],
    ],
    [
      "is malformed under a truncated parent",
      (world, parent) => world.node.put(parent, devnet.nameProgram, new Uint8Array(95)),
      [502, "malformed account"],
    ],
    [
      "is absent under a parent that hangs elsewhere",
      (world, parent) =>
        world.node.put(parent, devnet.nameProgram, encodeNameRegistry({ parent: keyOf(bob), owner: keyOf(alice) })),
      [404, "domain not registered"],
    ],
  ])("%s", async (_name, spoil, expected) => {
    await using world = new World();
    build(world);
    spoil(world, world.registry(["alice"], "x1"));
    expect(await of(world, "drafts.blog.alice.x1")).toEqual([...expected]);
  });

  test("is not the first-level domain of the same label, nor of one that spells the prefix", async () => {
    await using world = new World();
    world.domain(["alice"], "x1", alice);
    world.domain(["blog"], "x1", bob);
    expect(await of(world, "blog.alice.x1")).toEqual([404, "domain not registered"]);
    expect(await of(world, "\0blog.x1")).toEqual([400, "invalid domain"]);
  });
});

describe("a handle", () => {
  const address = handleAddress("alice", keyOf(handleProgram), sha256);
  const data = encodeHandleAccount({ tag: new Uint8Array(8).fill(7), owner: keyOf(alice), name: "alice" });
  const changed = (at: number, byte: number): Uint8Array => {
    const copy = data.slice();
    copy[at] = byte;
    return copy;
  };

  test.each<readonly [string, (world: World) => void, readonly [number, string]]>([
    ["registered", (world) => world.handle("alice", alice), [200, alice]],
    ["absent", (world) => world.node.program(handleProgram), [404, "handle not registered"]],
    ["closed", (world) => world.node.put(address, programs.system, new Uint8Array()), [404, "handle not registered"]],
    [
      "emptied in place",
      (world) => world.node.put(address, handleProgram, new Uint8Array(74)),
      [404, "handle not registered"],
    ],
    ["truncated", (world) => world.node.put(address, handleProgram, data.subarray(0, 73)), [502, "malformed account"]],
    [
      "of another version",
      (world) => world.node.put(address, handleProgram, changed(8, 2)),
      [502, "malformed account"],
    ],
    [
      "with another handle's name",
      (world) => world.node.put(address, handleProgram, changed(42, 98)),
      [502, "malformed account"],
    ],
    [
      "with a name that is cut",
      (world) => world.node.put(address, handleProgram, changed(41, 4)),
      [502, "malformed account"],
    ],
  ])("%s", async (_name, arrange, expected) => {
    await using world = new World({}, [devnet.nameProgram, handleProgram]);
    arrange(world);
    expect(await of(world, "@alice")).toEqual([...expected]);
  });

  test("of another program is malformed", async () => {
    await using world = new World({}, [devnet.nameProgram, handleProgram]);
    world.node.put(address, programs.memo, data);
    expect(await of(world, "@alice")).toEqual([502, "malformed account"]);
  });

  test("is not found, with a header that says why, on a chain without handles", async () => {
    await using world = new World();
    const answer = await world.get("/resolve/@alice");
    expect([answer.status, answer.body]).toEqual([404, { error: "handle not registered", input: "@alice" }]);
    expect(answer.headers.get("x-handles")).toBe("unavailable");
  });
});

describe("a chain that does not answer is 502, and nothing of it is kept", () => {
  const result =
    (value: unknown): Misbehaviour =>
    (call) =>
      resultOf(call, value);
  const registryOf = (owner: unknown, data: unknown): object => ({ lamports: 1, owner, data, executable: false });
  const text =
    (body: string): Misbehaviour =>
    () =>
      new Response(body);
  const kinds: Readonly<Record<string, Misbehaviour>> = {
    "HTTP 500": () => new Response("{}", { status: 500 }),
    "HTTP 500 with a result": (call) =>
      Response.json({ jsonrpc: "2.0", id: call.id, result: { value: [null] } }, { status: 500 }),
    "HTTP 429": () => new Response("slow down", { status: 429 }),
    "a redirect": () => Response.redirect("http://127.0.0.1:1/"),
    "JSON-RPC error": (call) =>
      Response.json({ jsonrpc: "2.0", id: call.id, error: { code: -32005, message: "behind" } }),
    "error beside a result": (call) =>
      Response.json({ jsonrpc: "2.0", id: call.id, result: { value: [null] }, error: { code: 1, message: "" } }),
    "another's id": (call) => Response.json({ jsonrpc: "2.0", id: Number(call.id) + 1, result: { value: [null] } }),
    "no version": (call) => Response.json({ id: call.id, result: { value: [null] } }),
    "no JSON": text("<html>"),
    "no body": text(""),
    "cut JSON": text('{"jsonrpc":"2.0","id":1,"result":{"value":[nu'),
    null: text("null"),
    "a batch": text("[]"),
    "bytes that are no UTF-8": () => new Response(Uint8Array.of(0xff, 0xfe)),
    "a body without end": () => new Response("[".repeat(3 * 1024 * 1024)),
    "null result": result(null),
    "a text": result("ok"),
    "no value": result({ context: { slot: 1 } }),
    "value of another kind": result({ value: {} }),
    "too few accounts": result({ value: [] }),
    "too many accounts": result({ value: Array(40).fill(null) }),
    "a number for an account": (call) => resultOf(call, { value: (call.params[0] as unknown[]).map(() => 7) }),
    "an account without owner": (call) => resultOf(call, { value: (call.params[0] as unknown[]).map(() => ({})) }),
    "an owner that is no address": (call) =>
      resultOf(call, { value: (call.params[0] as unknown[]).map(() => registryOf("0OIl", ["", "base64"])) }),
    "data in another encoding": (call) =>
      resultOf(call, { value: (call.params[0] as unknown[]).map(() => registryOf(alice, ["", "base58"])) }),
    "data that is no base64": (call) =>
      resultOf(call, { value: (call.params[0] as unknown[]).map(() => registryOf(alice, ["*", "base64"])) }),
    "data as text": (call) => resultOf(call, { value: (call.params[0] as unknown[]).map(() => registryOf(alice, "")) }),
  };
  for (const [name, misbehave] of Object.entries(kinds)) {
    test(name, async () => {
      await using world = new World();
      world.domain(["alice"], "x1", alice);
      world.node.misbehave = misbehave;
      expect(await of(world, "alice.x1")).toEqual([502, "rpc unreachable"]);
      world.node.misbehave = () => null;
      expect(await of(world, "alice.x1")).toEqual([200, alice]);
    });
  }

  test("no account there", async () => {
    await using world = new World({ rpcUrl: "http://127.0.0.1:1/" });
    expect(await of(world, "alice.x1")).toEqual([502, "rpc unreachable"]);
    expect(await of(world, "@alice.x1")).toEqual([409, "ambiguous: both a handle and a domain shape"]);
  });

  test("too slow, whether before the answer or within it", async () => {
    await using world = new World({ timeoutMs: 50, waitMsMax: 50 });
    const gate = Promise.withResolvers<Response>();
    world.node.misbehave = () => gate.promise;
    expect(await of(world, "alice.x1")).toEqual([502, "rpc unreachable"]);
    gate.resolve(new Response(""));
    world.node.misbehave = () => new Response(new ReadableStream({ start: (body) => body.enqueue(Uint8Array.of(32)) }));
    expect(await of(world, "alice.x1")).toEqual([502, "rpc unreachable"]);
  });
});

test("a connection that the node closed while it was idle is made again", async () => {
  let asked = 0;
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", () => {
      asked += 1;
      if (asked === 2) socket.destroy();
      else {
        const id = asked === 1 ? 1 : 2;
        const body = `{"jsonrpc":"2.0","id":${id},"result":{"solana-core":"2.2"}}`;
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
      }
    });
  });
  const listening = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", listening.resolve);
  await listening.promise;
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  await using world = new World({ rpcUrl: `http://127.0.0.1:${port}` });
  expect((await world.get("/version")).status).toBe(200);
  expect((await world.get("/version")).status).toBe(200);
  expect(asked).toBe(3);
  server.close();
});

test("what is asked: the configured commitment, base64, and no more of each account than is read", async () => {
  await using node = new AccountNode();
  await using world = new World({ rpcUrl: node.url, commitment: "finalized" });
  await world.get("/resolve/alice.x1");
  expect(node.calls[0]?.params[1]).toEqual({
    encoding: "base64",
    commitment: "finalized",
    dataSlice: { offset: 0, length: 512 },
  });
  await using confirmed = new World();
  await confirmed.get("/resolve/alice.x1");
  expect(confirmed.node.calls[0]?.params[1]).toMatchObject({ commitment: "confirmed" });
});
