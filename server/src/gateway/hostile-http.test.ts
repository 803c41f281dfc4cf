import { expect, test } from "bun:test";
import { answersIn, attack, run, WatchingNode } from "./hostile-http.campaign.ts";
import { openSmuggledGateway } from "./testing/smuggled-gateway.ts";

test("hostile connections get no other client's answer, smuggle no call to a node, and cost a normal client nothing", async () => {
  const { passed, summary } = await run({ n: 250, seed: 5 });
  expect(summary).toContain("normal calls were answered");
  expect(passed).toBe(true);
}, 60_000);

test("a gateway that lets smuggled calls through is found out, even when nothing of it comes back", async () => {
  using node = new WatchingNode(5);
  await using gateway = await openSmuggledGateway(node.stub);
  // Both lengths, and two that differ: the first shapes after a plain call.
  const { faults } = await attack(4, gateway, node);
  expect(node.smuggled.length).toBeGreaterThan(0);
  expect(faults).toEqual([`${node.smuggled.length} smuggled calls reached the node`]);
}, 60_000);

test("what comes back on a connection is cut into answers, and anything else is distinguished from them", () => {
  const one = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
  expect(answersIn(one + one)).toEqual([
    { status: 200, body: "{}" },
    { status: 200, body: "{}" },
  ]);
  expect(answersIn("")).toEqual([]);
  expect(answersIn(`${one}{}`)).toBeNull();
});
