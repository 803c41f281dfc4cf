import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PlayedStreams } from "./testing/played-streams.ts";

/** Runs the SDK as Node sees it: types removed, in a process of the `node` that is installed. */

const directory = mkdtempSync(join(tmpdir(), "sluice-sdk-node-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** What Node 20 has not got. A newer Node loses it before the SDK is loaded, so that it proves the same. */
const takeAway = `
for (const [owner, names] of [
  [Promise, ["withResolvers", "try"]],
  [Array, ["fromAsync"]],
  [Object, ["groupBy"]],
  [Map, ["groupBy"]],
  [Uint8Array, ["fromBase64", "fromHex"]],
  [Uint8Array.prototype, ["toBase64", "toHex"]],
  [Set.prototype, ["union", "intersection", "difference"]],
  [globalThis, ["Bun", "Iterator"]],
]) for (const name of names) delete owner[name];
`;

/** A searcher's whole way, against answers of the engine and of the resolver that are made here. */
const program = `
await import("./take-away.mjs");
const { createBundles, createResolver } = await import("./index.js");
const key = Buffer.from(new Uint8Array(32).fill(9)).toString("base64");
const states = ["accepted", "accepted", "included"];
const answers = {
  "/api/v1/encryption-keys": () => ({
    network: "devnet",
    keys: [{ id: "0011223344556677", publicKey: key, validUntilSlot: 10 }],
  }),
  "/api/v1/bundles": () => ({ bundleId: "b", status: "accepted" }),
  "/api/v1/bundles/b": () => ({ bundleId: "b", status: states.shift(), slot: 7, signatures: [], reason: null }),
  "/resolve/alice.x1": () => ({
    input: "alice.x1", name: "alice.x1", namespace: "x1",
    owner: "4fYNw3dojWmQ4dXtSGE9epjRGy9pFSx62YypT7avPYvA", verification: "owner",
  }),
};
const fetch = async (url) => Response.json(answers[new URL(url).pathname]());
const bundles = createBundles({ url: "http://engine.test", apiKey: "k", fetch });
const bundle = { transactions: [new Uint8Array(64)], tip: 10_000n };
const id = await bundles.submit(bundle);
await bundles.submitSealed(bundle);
const outcome = await bundles.outcome(id, { pollMs: 1 });
states.push("accepted");
const stopped = await bundles.outcome(id, { pollMs: 60_000, signal: AbortSignal.timeout(20) }).catch((e) => e.name);
const resolver = createResolver({ url: "http://names.test", fetch });
const { owner } = await resolver.resolve("alice.x1", { namespace: "x1" });
console.log(JSON.stringify({ status: outcome.status, slot: outcome.slot, stopped, owner }));
`;

/** Reads three slots over a connection that is lost after the second. */
const streamProgram = `
await import("./take-away.mjs");
const { createStream } = await import("./index.js");
const stream = createStream({ url: process.argv[2], retryMs: { first: 1 } });
const read = [];
for await (const { slot, cursor } of stream.slots({}, { cursor: "c0" })) {
  read.push([String(slot), cursor]);
  if (read.length === 3) break;
}
console.log(JSON.stringify(read));
`;

async function runOnNode(program: string, ...args: readonly string[]): Promise<unknown> {
  const built = await Bun.build({
    entrypoints: [join(import.meta.dir, "index.ts")],
    target: "node",
    outdir: directory,
  });
  expect(built.success).toBe(true);
  writeFileSync(join(directory, "take-away.mjs"), takeAway);
  writeFileSync(join(directory, "program.mjs"), program);
  // Node has a WebSocket of its own from version 22 on, and with this flag before.
  const command = ["node", "--experimental-websocket", "--no-warnings", "program.mjs", ...args];
  const node = Bun.spawn(command, { cwd: directory, stdout: "pipe", stderr: "pipe" });
  const [out, error] = await Promise.all([new Response(node.stdout).text(), new Response(node.stderr).text()]);
  expect(error).toBe("");
  return JSON.parse(out);
}

test("bundles and names work on Node 20: submit, seal, wait for an outcome, stop waiting, resolve", async () => {
  expect(await runOnNode(program)).toEqual({
    status: "included",
    slot: 7,
    stopped: "TimeoutError",
    owner: "4fYNw3dojWmQ4dXtSGE9epjRGy9pFSx62YypT7avPYvA",
  });
}, 30_000);

test("a stream goes on after its connection is lost on Node 20, and lets the process end", async () => {
  await using server = new PlayedStreams();
  server.breaks = () => ({ after: 2, closeCode: 1006 });
  for (const slot of [7, 9, 9007199254740993n]) server.tell({ type: "slot", members: `,"slot":${slot},"data":{}` });
  expect(await runOnNode(streamProgram, ...server.urls)).toEqual([
    ["7", "c1"],
    ["9", "c2"],
    ["9007199254740993", "c3"],
  ]);
}, 30_000);
