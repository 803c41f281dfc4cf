import { expect, test } from "bun:test";
import { systemClock, wallMs } from "@sluice/lib";
import { LiteSvmMachine } from "@sluice/svm/testing/litesvm-machine";
import { defaultOptions, parseCommandLine } from "./options.ts";
import { bootNode, call } from "./testing/boot.ts";

const entryPath = new URL("./main.ts", import.meta.url).pathname;

function start(...flags: string[]) {
  const ports = ["--rpc-port", "0", "--pubsub-port", "0"];
  return Bun.spawn([process.execPath, entryPath, ...ports, ...flags], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
}

async function readyLine(child: {
  readonly stdout: ReadableStream<Uint8Array>;
}): Promise<{ ready: boolean; rpc: string; ws: string }> {
  let text = "";
  for await (const part of child.stdout) {
    text += new TextDecoder().decode(part);
    if (text.includes("\n")) break;
  }
  return JSON.parse(text) as { ready: boolean; rpc: string; ws: string };
}

test("the process says when it is ready, answers, and ends with 0 when its standard input ends", async () => {
  const child = start("--exit-with-parent", "--slot-ms", "50");
  const { ready, rpc, ws } = await readyLine(child);
  expect(ready).toBe(true);
  expect(ws).toStartWith("ws://127.0.0.1:");
  expect((await call(rpc, "getHealth")).result).toBe("ok");
  await child.stdin.end();
  expect(await child.exited).toBe(0);
});

test("the first 32 blocks are rooted when the chain is ready, in the time before it, and finalized reads work at once", async () => {
  await using node = await bootNode({ slotMs: 60_000, startSlots: defaultOptions.startSlots });
  const slotAt = async (commitment: string) => (await call(node.rpcUrl, "getSlot", [{ commitment }])).result;
  expect(await Promise.all(["processed", "confirmed", "finalized"].map(slotAt))).toEqual([64, 63, 32]);
  const [first, last] = await Promise.all(
    [1, 32].map(async (slot) => Number((await call(node.rpcUrl, "getBlockTime", [slot])).result)),
  );
  expect(last).toBeLessThanOrEqual(Date.now() / 1_000 - 32 * 60);
  expect((last ?? 0) - (first ?? 0)).toBe(31 * 60);
  const { result } = await call(node.rpcUrl, "getBlock", [
    32,
    { commitment: "finalized", maxSupportedTransactionVersion: 0 },
  ]);
  expect(result).toMatchObject({ parentSlot: 31, blockHeight: 32 });
});

test("a machine that is slow to close the first blocks does not stretch their times", async () => {
  let readings = 0;
  const slow = { ...systemClock, now: () => wallMs(Date.now() + 300 * readings++) };
  await using node = await bootNode({ slotMs: 60_000, startSlots: 64 }, new LiteSvmMachine(), slow);
  const [first, last] = await Promise.all(
    [1, 32].map(async (slot) => Number((await call(node.rpcUrl, "getBlockTime", [slot])).result)),
  );
  expect((last ?? 0) - (first ?? 0)).toBe(31 * 60);
});

test("SIGTERM ends the process with 0, with a socket still open", async () => {
  const child = start("--slot-ms", "50");
  const { ws } = await readyLine(child);
  const socket = new WebSocket(ws);
  await new Promise((resolve) => socket.addEventListener("open", resolve, { once: true }));
  socket.send('{"jsonrpc":"2.0","id":1,"method":"slotSubscribe"}');
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
});

test("validators vote by transactions unless --no-votes says otherwise", () => {
  const votes = (...flags: string[]) => {
    const parsed = parseCommandLine(flags);
    return parsed.ok ? [parsed.options.validators, parsed.options.votes] : parsed.faults;
  };
  expect(votes()).toEqual([5, true]);
  expect(votes("--votes", "--validators", "32")).toEqual([32, true]);
  expect(votes("--no-votes", "--validators", "1")).toEqual([1, false]);
  expect(votes("--votes", "--no-votes")).toEqual(["--votes and --no-votes exclude each other"]);
  expect(votes("--validators", "33")).toEqual(["--validators must be a whole number from 1 to 32"]);
});

test("all errors of the command line are reported, and the process ends with 2", async () => {
  const child = start("--slot-ms", "x", "--slots-per-epoch", "1");
  const text = await new Response(child.stderr).text();
  expect(text).toContain("--slot-ms must be a whole number");
  expect(text).toContain("--slots-per-epoch must be a whole number from 32 to 432000");
  expect(await child.exited).toBe(2);
});
