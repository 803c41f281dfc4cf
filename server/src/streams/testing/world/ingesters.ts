import { type Clock, type Random, seededRandom } from "@sluice/lib";
import type { Slot } from "@sluice/wire/identifiers";
import { Pipeline } from "../../../ingest/pipeline.ts";
import { isSameContent } from "../../../ingest/second-reads.ts";
import { digestOfBody } from "../../../ingest/source-block.ts";
import { quietEvents } from "../../../ingest/testing/quiet-events.ts";
import { type NodeFaults, SimulatedNode, SimulatedSource } from "../../../ingest/testing/simulated-node.ts";
import { ShownChain } from "./node-chain.ts";
import { finalitySlots, firstSlot, type StreamedChain, slotMs, type WorldBlock } from "./streamed-chain.ts";
import type { OpenedLog } from "./streams-host.ts";

/** Beyond the last slot nodes go on without blocks, so that the last ones become final. */
const slotsBeyond = finalitySlots + 6;
/** Of a block that nobody gives; in these worlds two nodes have each. */
const gapAfterMs = 40_000;

export interface IngestersDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly chain: StreamedChain;
  /** A process's own view of the log. */
  readonly open: () => Promise<OpenedLog>;
}

interface OpenIngester {
  readonly opened: OpenedLog;
  readonly pipeline: Pipeline;
  readonly sources: readonly SimulatedSource<WorldBlock>[];
}

/** Processes that ingest from nodes, one of which lies, into the log that hosts of streams follow. */
export class Ingesters {
  readonly #dependencies: IngestersDependencies;
  readonly #nodes: readonly SimulatedNode<WorldBlock>[];
  readonly #processes: (OpenIngester | null)[];
  readonly #liars = new Set<string>();

  constructor(
    of: { readonly nodes: readonly NodeFaults[]; readonly count: number },
    dependencies: IngestersDependencies,
  ) {
    this.#dependencies = dependencies;
    const { clock, random } = dependencies;
    const chain = new ShownChain(dependencies.chain);
    const shared = { chain, clock, random, unavailable: new Set<number>(), onAsked: () => undefined };
    this.#nodes = of.nodes.map((faults, index) => new SimulatedNode({ label: `n${index}`, faults }, shared));
    this.#processes = Array.from({ length: of.count }, () => null);
  }

  /** Nodes that were caught. */
  get liars(): number {
    return this.#liars.size;
  }

  /** Starts every process that is not there. */
  async start(): Promise<void> {
    for (const index of this.#processes.keys()) {
      if (this.#processes[index] === null) this.#processes[index] = await this.#open();
    }
  }

  /** One of the processes ends at once, with all that it has not stored. */
  kill(): void {
    this.#end(Math.floor(this.#dependencies.random.next() * this.#processes.length));
  }

  #end(index: number): void {
    const process = this.#processes[index] ?? null;
    this.#processes[index] = null;
    process?.opened.kill();
    void process?.pipeline[Symbol.asyncDispose]();
    void process?.opened.log[Symbol.asyncDispose]();
  }

  /** An honest node is away, or back; one at a time, so that two that agree are mostly there. */
  away(): void {
    const honest = this.#nodes.filter(({ faults }) => faults.lies === 0);
    const isBack = honest.some(({ isDown }) => isDown);
    for (const node of honest) node.setDown(false);
    if (!isBack) honest[Math.floor(this.#dependencies.random.next() * honest.length)]?.setDown(true);
  }

  heal(): void {
    for (const node of this.#nodes) {
      node.setDown(false);
      node.isHealed = true;
    }
  }

  /** Nodes move on to where the chain is, and tell it. */
  tick(nowMs: number): void {
    const last = Number(this.#dependencies.chain.tip.header.slot) + slotsBeyond;
    const newest = Math.min(firstSlot + Math.floor(nowMs / slotMs), last);
    for (const node of this.#nodes) node.newestSlot = newest;
    for (const process of this.#processes) for (const source of process?.sources ?? []) source.look();
  }

  async #open(): Promise<OpenIngester> {
    const { clock, random, chain, open } = this.#dependencies;
    const opened = await open();
    const pipeline = new Pipeline(
      { chain: chain.identity, gapAfterMs },
      {
        clock,
        random: seededRandom(Math.floor(random.next() * 2 ** 32)),
        log: opened.log,
        nodes: { head: (commitment) => this.#head(commitment), isWell: (label) => this.#isWell(label) },
        events: { ...quietEvents, lied: (node) => void this.#liars.add(node) },
        digestOfBody,
        isSameContent,
      },
    );
    const sources = this.#nodes.map((node) => new SimulatedSource(node, { clock }));
    for (const source of sources) pipeline.add(source);
    pipeline.start();
    return { opened, pipeline, sources };
  }

  /** As pools believe it: the newest confirmed slot that any shows, and the root that a second one confirms. */
  #head(commitment: "confirmed" | "finalized"): Slot | null {
    const heads = this.#nodes.filter(({ isWell }) => isWell).map((node) => node[commitment]);
    heads.sort((left, right) => right - left);
    const head = commitment === "confirmed" ? heads[0] : heads[Math.min(1, heads.length - 1)];
    return head === undefined || head < 0 ? null : (BigInt(head) as Slot);
  }

  #isWell(label: string): boolean {
    return this.#nodes.some((node) => node.label === label && node.isWell);
  }

  /** All processes end; what they wait for may never come. */
  end(): void {
    for (const index of this.#processes.keys()) this.#end(index);
  }
}
