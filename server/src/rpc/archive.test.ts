import { expect, test } from "bun:test";
import { answerOf, RpcStand, resultOf } from "./testing/rpc-stand.ts";

const signature = "5".repeat(88);

test("what is kept of the chain is asked after the nodes, of methods of history alone, and answers in their place", async () => {
  const stand = new RpcStand();
  stand.respond = () => answerOf("null");
  stand.completes = async ({ method }) =>
    method === "getBlockTime" ? answerOf("77", { label: "ledger" }).answer : null;
  expect(resultOf(await stand.ask("getBlockTime", "[5]"))).toBe(77);
  expect(resultOf(await stand.ask("getTransaction", `["${signature}"]`))).toBeNull();
  await stand.ask("getSlot");
  await stand.ask("sendTransaction", '["2"]');
  expect(stand.archived.map(({ method, params, commitment }) => [method, params, commitment])).toEqual([
    ["getBlockTime", "[5]", "processed"],
    ["getTransaction", `["${signature}"]`, "finalized"],
  ]);
  expect(stand.calls.map(({ method }) => method)).toEqual([
    "getBlockTime",
    "getTransaction",
    "getSlot",
    "sendTransaction",
  ]);
});

test("what it answers of finalized history is kept as a node's answer is, and joined by identical calls", async () => {
  const stand = new RpcStand();
  stand.root = 100n;
  stand.respond = () => answerOf("null");
  stand.completes = async () => answerOf('{"slot":5}', { label: "ledger" }).answer;
  const [one, other] = await Promise.all([stand.ask("getBlock", "[5]"), stand.ask("getBlock", "[5]")]);
  expect([one.shared, other.shared, stand.calls.length, stand.archived.length]).toEqual([false, true, 1, 1]);
  stand.slotsMoved();
  expect(stand.known("getBlock", "[5]")).toContain('{"slot":5}');
});

test("nodes that cannot be asked are answered for, and a failure stays one where nothing is kept", async () => {
  const stand = new RpcStand();
  stand.respond = () => ({ ok: false, refused: "NETWORK_UNAVAILABLE", label: "", repeatable: false });
  expect(resultOf(await stand.ask("getBlock", "[5]"))).toBe("NETWORK_UNAVAILABLE");
  stand.completes = async () => answerOf('{"slot":5}').answer;
  expect(resultOf(await stand.ask("getBlock", "[6]"))).toEqual({ slot: 5 });
});

test("a method that an index alone answers is asked of it for the tier, every other at once of the nodes", async () => {
  const stand = new RpcStand();
  const asked = (method: string, params: string) => {
    const entry = stand.rpc.method(method);
    if (entry === null) throw new RangeError(method);
    return stand.rpc.indexed("devnet", entry, { plan: stand.plan(method, params), tier: "free" });
  };
  expect(asked("getBlock", "[5]")).toBeNull();
  const refused = await asked("getTransactionsForAddress", '["11111111111111111111111111111111"]');
  expect(refused).toEqual({ ok: false, code: "TIER_REQUIRED", message: "older" });
});
