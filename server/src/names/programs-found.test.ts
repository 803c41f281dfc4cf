import { describe, expect, test } from "bun:test";
import type { Address } from "@sluice/wire/identifiers";
import { alice, bob, service, World } from "./testing/world.ts";

const [mainnet, testnet, devnet] = [service("x1-mainnet"), service("x1-testnet"), service("devnet")];
const handleProgram = devnet.handleProgram ?? ("" as Address);
const ownerOf = async (world: World, name: string): Promise<string> => {
  const outcome = await world.names.resolve(name);
  return outcome.kind === "resolved" ? outcome.resolution.owner : outcome.kind;
};

describe("which programs apply", () => {
  test.each([mainnet, testnet, devnet] as const)(
    "$label, when the chain carries it",
    async ({ label, nameProgram }) => {
      await using world = new World({ on: label });
      world.domain(["alice"], "x1", alice);
      expect(await world.names.start()).toBe(true);
      expect(await ownerOf(world, "alice.x1")).toBe(alice);
      expect(world.node.calls.length).toBe(2);
      expect(world.node.calls[1]?.params[0]).toHaveLength(1);
      expect(world.events[0]).toContain(nameProgram);
    },
  );

  test("are learnt by the same call as the first name, when it was not asked before", async () => {
    await using world = new World({}, [devnet.nameProgram, handleProgram]);
    world.domain(["alice"], "x1", alice);
    expect(await ownerOf(world, "alice.x1")).toBe(alice);
    expect(await ownerOf(world, "bob.x1")).toBe("absent");
    expect(world.node.calls.length).toBe(2);
    expect(world.node.calls[1]?.params[0]).toHaveLength(1);
  });

  test("are asked for again when the chain was not to be reached at the start", async () => {
    await using world = new World();
    world.domain(["alice"], "x1", alice);
    world.node.misbehave = () => new Response(null, { status: 503 });
    expect(await world.names.start()).toBe(false);
    expect(await ownerOf(world, "alice.x1")).toBe("failed");
    world.node.misbehave = () => null;
    expect(await ownerOf(world, "alice.x1")).toBe(alice);
  });

  test("are not asked for again while they are known", async () => {
    await using world = new World({}, [devnet.nameProgram, handleProgram]);
    expect([await world.names.start(), await world.names.start()]).toEqual([true, true]);
    expect(world.node.calls.length).toBe(1);
  });

  test("an address that merely holds money is no program", async () => {
    await using world = new World();
    world.node.put(mainnet.nameProgram, "11111111111111111111111111111111", new Uint8Array());
    world.node.put(testnet.nameProgram, devnet.nameProgram, new Uint8Array(96));
    world.domain(["alice"], "x1", alice);
    expect(await ownerOf(world, "alice.x1")).toBe(alice);
  });

  test("of several the first known one counts, always the same, and the operator is informed", async () => {
    await using world = new World({}, [devnet.nameProgram, mainnet.nameProgram]);
    world.domain(["alice"], "x1", bob, devnet.nameProgram);
    world.domain(["alice"], "x1", alice, mainnet.nameProgram);
    world.domain(["bob"], "x1", bob, devnet.nameProgram);
    expect(await ownerOf(world, "alice.x1")).toBe(alice);
    expect(await ownerOf(world, "bob.x1")).toBe("absent");
    expect(world.events).toContain("several x1-mainnet,devnet");
  });

  test("a registry shows its program where the program's own account is not to be seen", async () => {
    await using world = new World({ on: "x1-testnet" }, []);
    world.domain(["alice"], "x1", alice);
    expect(await ownerOf(world, "alice.x1")).toBe(alice);
    world.domain(["alice", "blog"], "x1", bob);
    expect(await ownerOf(world, "blog.alice.x1")).toBe(bob);
  });

  test("a chain with none has no domains, and a header says why", async () => {
    await using world = new World({}, []);
    const answer = await world.get("/resolve/alice.x1");
    expect([answer.status, answer.body]).toEqual([404, { error: "domain not registered", input: "alice.x1" }]);
    expect(answer.headers.get("x-domains")).toBe("unavailable");
    world.node.program(devnet.nameProgram);
    world.domain(["alice"], "x1", alice);
    world.clock.advance(2_000);
    expect(await ownerOf(world, "alice.x1")).toBe(alice);
  });

  test("handles that come to a chain later are noticed within a minute and two seconds", async () => {
    await using world = new World();
    expect(await ownerOf(world, "@alice")).toBe("absent");
    world.handle("alice", alice);
    world.clock.advance(62_000);
    expect(await ownerOf(world, "@alice")).toBe(alice);
    expect(world.events.at(-1)).toContain(handleProgram);
  });
});

describe("an operator's word", () => {
  test("names the programs, whatever else the chain carries, and no program is asked for", async () => {
    const custom = "SysvarC1ock11111111111111111111111111111111" as Address;
    await using world = new World({ nameProgram: custom, handleProgram }, [mainnet.nameProgram]);
    world.domain(["alice"], "x1", bob, mainnet.nameProgram);
    world.domain(["alice"], "x1", alice, custom);
    expect(await ownerOf(world, "alice.x1")).toBe(alice);
    expect(world.node.calls[0]?.params[0]).toHaveLength(1);
    world.handle("bob", bob);
    expect(await ownerOf(world, "@bob")).toBe(bob);
    const absent = await world.get("/resolve/@carol");
    expect([absent.status, absent.headers.get("x-handles")]).toEqual([404, null]);
  });
});
