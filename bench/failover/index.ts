/**
 * bench/failover: what clients see while nodes fail, through the gateway and beside balancers that people put in front
 * of nodes: failed reads, stale answers, latency, and calls beyond the clients' own. Three nodes in processes of their
 * own; one is killed with SIGKILL again and again, one falls 2,500 slots behind and says it is well, all stall one call
 * in a hundred for two seconds, one answers errors. `npm run bench -- failover [--kills 20] [--seconds 4]
 * [--connections 24] [--only kills|zombie|stalls|errors] [--seed 1]`. haproxy is taken where it is installed.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { seededRandom } from "@sluice/lib";
import { type RunningChild, spawnChild } from "../rpc/child.ts";
import type { RunningSubject } from "../rpc/subject.ts";
import type { FailoverPlan, PhaseCounts } from "./load.ts";
import type { NodeCounts, NodeOrder } from "./node.ts";
import { type FailoverSubject, haproxyChecked, roundRobin, sluicePool } from "./peers.ts";
import { slotMs } from "./slots.ts";

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "20" },
    seconds: { type: "string", default: "4" },
    connections: { type: "string", default: "24" },
    only: { type: "string" },
    seed: { type: "string", default: "1" },
  },
});
const kills = Number(values.kills);
const seconds = Number(values.seconds);
const connections = Number(values.connections);
const random = seededRandom(Number(values.seed));
const nodesCount = 3;
/** Latencies are known and connections open after it. */
const warmMs = 2_000;
/** A node that is back gets calls again after so long, in every subject. */
const backMs = 700;

interface StubNode {
  readonly port: number;
  readonly child: RunningChild;
}

/** The three nodes; each may be killed and started again at its port. */
class Nodes implements AsyncDisposable {
  readonly #nodes: StubNode[] = [];

  static async start(): Promise<Nodes> {
    const nodes = new Nodes();
    for (let index = 0; index < nodesCount; index += 1) nodes.#nodes.push(await startNode(0));
    return nodes;
  }

  get ports(): readonly number[] {
    return this.#nodes.map(({ port }) => port);
  }

  async order(index: number, order: NodeOrder): Promise<NodeCounts> {
    const node = this.#at(index);
    node.child.write(`${JSON.stringify(order)}\n`);
    return JSON.parse(await node.child.line()) as NodeCounts;
  }

  async reads(): Promise<number> {
    let reads = 0;
    for (let index = 0; index < nodesCount; index += 1) reads += (await this.order(index, {})).reads;
    return reads;
  }

  /** Kills one at random, and starts it again a moment later. */
  async killOne(): Promise<void> {
    const index = Math.floor(random.next() * nodesCount);
    const { child, port } = this.#at(index);
    await child.kill();
    await Bun.sleep(20 + random.next() * 60);
    this.#nodes[index] = await startNode(port);
  }

  #at(index: number): StubNode {
    const node = this.#nodes[index];
    if (node === undefined) throw new RangeError(`there is no node ${index}`);
    return node;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#nodes.map(({ child }) => child.stop()));
  }
}

async function startNode(port: number): Promise<StubNode> {
  const seed = String(Math.floor(random.next() * 1e6));
  const child = spawnChild([process.execPath, join(import.meta.dir, "node.ts"), String(port), seed]);
  return { port: Number(await child.line()), child };
}

/** A run of one scenario against one subject: its own nodes and readers. */
interface Run {
  readonly nodes: Nodes;
  /** Begins a phase; what was counted in the one before. */
  readonly phase: (name: string) => Promise<PhaseCounts>;
}

interface Scenario {
  readonly name: string;
  readonly title: string;
  readonly columns: readonly string[];
  readonly run: (run: Run) => Promise<readonly string[]>;
}

const ms = (value: number): string => value.toFixed(1);
const times = (counts: PhaseCounts): string => `${ms(counts.p50Ms)} / ${ms(counts.p99Ms)} / ${ms(counts.maxMs)}`;

const scenarios: readonly Scenario[] = [
  {
    name: "kills",
    title: `kill -9 of one of three nodes, ${kills} times`,
    columns: ["reads", "failed", "p50 / p99 / max ms before", "p50 / p99 / max ms meanwhile", "first failure"],
    run: async ({ nodes, phase }) => {
      await phase("before");
      await Bun.sleep(seconds * 500);
      const before = await phase("killing");
      for (let kill = 0; kill < kills; kill += 1) {
        await nodes.killOne();
        await Bun.sleep(backMs);
      }
      const { reads, failed, failure, ...rest } = await phase("after");
      const meanwhile = times({ reads, failed, failure, ...rest });
      return [String(reads), String(failed), times(before), meanwhile, failure];
    },
  },
  {
    name: "zombie",
    title: "one of three nodes falls 2,500 slots behind and says that it is well",
    columns: ["reads", "answers over 50 slots old", "calls to it after its first notice", "after its second", "failed"],
    run: async ({ nodes, phase }) => {
      await phase("behind");
      await nodes.order(0, { fault: "zombie" });
      await Bun.sleep(Math.max(seconds * 1_000, slotMs * 4));
      const counts = await phase("after");
      const { sinceFirstNotice, sinceSecondNotice } = await nodes.order(0, {});
      return [counts.reads, counts.stale, sinceFirstNotice, sinceSecondNotice, counts.failed].map(String);
    },
  },
  {
    name: "stalls",
    title: "every node stalls one call in a hundred for two seconds",
    columns: ["reads", "p50 / p99 / max ms", "p99 / p50", "over 1 s", "extra calls", "failed"],
    run: async ({ nodes, phase }) => {
      for (let index = 0; index < nodesCount; index += 1) await nodes.order(index, { fault: "stalls" });
      const readsBefore = await nodes.reads();
      await phase("stalls");
      await Bun.sleep(seconds * 2_000);
      const counts = await phase("after");
      const extra = (await nodes.reads()) - readsBefore - counts.reads;
      const share = `${((100 * extra) / counts.reads).toFixed(2)}%`;
      const ratio = (counts.p99Ms / counts.p50Ms).toFixed(2);
      return [counts.reads, times(counts), ratio, counts.overOneSecond, share, counts.failed].map(String);
    },
  },
  {
    name: "errors",
    title: "one of three nodes answers with errors, garbage and 503 only",
    columns: ["reads", "failed", "p50 / p99 / max ms", "calls to it", "first failure"],
    run: async ({ nodes, phase }) => {
      const before = (await nodes.order(0, { fault: "errors" })).reads;
      await phase("errors");
      await Bun.sleep(seconds * 1_000);
      const counts = await phase("after");
      const asked = (await nodes.order(0, {})).reads - before;
      return [String(counts.reads), String(counts.failed), times(counts), String(asked), counts.failure];
    },
  },
];

async function runOne(scenario: Scenario, subject: FailoverSubject): Promise<readonly string[] | null> {
  const directory = mkdtempSync(join(tmpdir(), "sluice-bench-failover-"));
  await using resources = new AsyncDisposableStack();
  resources.defer(() => rmSync(directory, { recursive: true, force: true }));
  const nodes = resources.use(await Nodes.start());
  const running: RunningSubject | null = await subject.start(nodes.ports, directory);
  if (running === null) return null;
  resources.use(running);
  const { port, path, headers } = running;
  const plan: FailoverPlan = { port, path, headers, connections };
  const load = spawnChild([process.execPath, join(import.meta.dir, "load.ts"), JSON.stringify(plan)]);
  resources.defer(() => load.stop());
  await Bun.sleep(warmMs);
  return await scenario.run({
    nodes,
    phase: async (name) => {
      load.write(`${JSON.stringify({ phase: name })}\n`);
      return JSON.parse(await load.line()) as PhaseCounts;
    },
  });
}

for (const scenario of scenarios) {
  if (values.only !== undefined && values.only !== scenario.name) continue;
  console.log(`\n${scenario.title}\n\n| subject | ${scenario.columns.join(" | ")} |`);
  console.log(`|---|${scenario.columns.map(() => "---:|").join("")}`);
  for (const subject of [sluicePool, roundRobin, haproxyChecked]) {
    const cells = await runOne(scenario, subject);
    console.log(
      cells === null ? `${subject.name}: NOT INSTALLED, not measured` : `| ${[subject.name, ...cells].join(" | ")} |`,
    );
  }
}
