import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ManualClock, seededRandom } from "@sluice/lib";
import { defaultGenesisFile } from "../../../devnet/chain/genesis/build.ts";
import { nameOwner } from "../../../devnet/chain/names/registry.ts";
import { bootNode } from "../../../devnet/chain/testing/boot.ts";
import { httpNode } from "./chain-node.ts";
import { createNames, type Names } from "./names.ts";

const { domains, handles } = defaultGenesisFile().names;

/** The resolver on the development chain itself: the same RPC as any node's, the names of its genesis. */
let node: Awaited<ReturnType<typeof bootNode>>;
let names: Names;

beforeAll(async () => {
  node = await bootNode();
  names = createNames({}, { clock: new ManualClock(), random: seededRandom(1), node: httpNode(node, { post: fetch }) });
});

afterAll(() => node[Symbol.asyncDispose]());

const answer = async (name: string): Promise<{ status: number; body: { owner?: string; error?: string } }> => {
  const response = await names.fetch(new Request(`http://resolver/resolve/${encodeURIComponent(name)}`));
  return { status: response.status, body: await response.json() };
};

const expectations: Readonly<Record<string, readonly [number, string]>> = {
  "misplaced.x1": [404, "domain not registered"],
  "foreign.x1": [502, "malformed account"],
  "cut.x1": [502, "malformed account"],
  "closed.x1": [404, "domain not registered"],
  "deleted.x1": [404, "domain not registered"],
  "sub.misplaced.x1": [404, "domain not registered"],
  "sub.foreign.x1": [502, "malformed account"],
  "sub.closed.x1": [404, "domain not registered"],
  "sub.nobody.x1": [404, "domain not registered"],
  "@stolen": [502, "malformed account"],
  "@foreign": [502, "malformed account"],
  "@cut": [502, "malformed account"],
  "@closed": [404, "handle not registered"],
  "@deleted": [404, "handle not registered"],
};

describe("each name of the development chain", () => {
  const all = [
    ...domains.map((entry) => [[...entry.labels].reverse().concat(entry.suffix).join("."), entry] as const),
    ...handles.map((entry) => [`@${entry.handle}`, entry] as const),
  ];
  test.each(all.map(([name, entry]) => [name, entry] as const))("%s", async (name, entry) => {
    const { status, body } = await answer(name);
    const refused = expectations[name];
    if (refused !== undefined) expect([status, body.error]).toEqual([...refused]);
    else if ("token" in entry && entry.token === true) expect(body).toMatchObject({ owner_on_curve: false });
    else expect([status, body.owner]).toEqual([200, nameOwner(entry.owner).address]);
  });

  test("every flawed one is evaluated by a line of its own", () => {
    const flawed = all.filter(([, entry]) => entry.flaw !== undefined).map(([name]) => name);
    expect(Object.keys(expectations)).toEqual(expect.arrayContaining(flawed));
  });
});

test("a name without an owner is absent", async () => {
  expect((await answer("nobody.x1")).body).toEqual({ error: "domain not registered", input: "nobody.x1" } as never);
});

test("version is the node's own", async () => {
  const response = await names.fetch(new Request("http://resolver/version"));
  expect(await response.json()).toEqual({ chain_core: expect.any(String), rpc: node.rpcUrl });
});

describe("an address is shown", () => {
  test("by its shortest domain, when that resolves back", async () => {
    expect(await names.reverse(nameOwner("alice").address)).toEqual({ kind: "named", name: "alice.x1" });
    expect(await names.reverse(nameOwner("carol").address)).toEqual({ kind: "named", name: "alice.xnt" });
    expect(await names.reverse(nameOwner("dave").address)).toEqual({ kind: "named", name: "💎.x1" });
  });
  test("without a name when it has none, or none that resolves", async () => {
    expect(await names.reverse(nameOwner("stranger").address)).toEqual({ kind: "unnamed" });
    expect(await names.reverse(nameOwner("mallory").address)).toEqual({ kind: "unnamed" });
    expect(await names.reverse("no address")).toEqual({ kind: "unnamed" });
  });
});
