import { join } from "node:path";
import { until } from "@sluice/lib/testing";
import { StubNode } from "../upstreams/testing/stub-node.ts";
import { bootGateway } from "./testing/booted-gateway.ts";
import { answerOf } from "./testing/spelled-calls.ts";

/** How long the node may hold back its answer, and so how long the calls may take to arrive. */
const heldMsMax = 120_000;

/**
 * Coalescing: `n` identical calls in flight, whatever their ids, white space and order of members, are one call to the
 * node. The callers are a process of their own; gateway and callers each hold `n` open files and a few.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  const released = Promise.withResolvers<void>();
  using node = new StubNode(async (call) => {
    await released.promise;
    return answerOf(call.id);
  });
  await using booted = await bootGateway({ upstreams: { devnet: node }, deadlineMs: heldMsMax });
  const credits = booted.fakes.creditsLeft;
  const script = join(import.meta.dir, "testing", "callers-process.ts");
  const callers = Bun.spawn([process.execPath, script, String(booted.port), String(n), String(seed)], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  try {
    // The node answers only when the last one has been paid.
    await until(() => booted.fakes.creditsLeft === credits - n || callers.exitCode !== null);
    released.resolve();
    const { wrong } = JSON.parse(await new Response(callers.stdout).text()) as { wrong: number };
    const misses = booted.facts.filter(({ cache }) => cache === "MISS").length;
    const summary = `${n} identical calls in flight: ${node.calls.length} to the node, ${misses} counted as missed, ${wrong} not answered under their own id`;
    return { passed: node.calls.length === 1 && misses === 1 && wrong === 0 && booted.facts.length === n, summary };
  } finally {
    callers.kill();
    await callers.exited;
  }
}
