import type { Network } from "@sluice/contract/tiers";
import type { Clock, Random, Timer } from "@sluice/lib";
import type { Slot } from "@sluice/wire/identifiers";
import type { ChainIdentity, ChainLog, ChainLogListener } from "../log/index.ts";
import type { IngestEvents, IngestState } from "./events.ts";
import type { GapsOptions } from "./gaps.ts";
import { Pipeline } from "./pipeline.ts";
import { isSameContent } from "./second-reads.ts";
import type { BlockSource } from "./source.ts";
import { digestOfBody } from "./source-block.ts";
import type { IngestNodes } from "./witnesses.ts";

/** A node that can bring blocks. */
interface IngestNode {
  readonly label: string;
  /** Changes when the node is configured anew. */
  readonly identity: object;
  /** Opens its sources. */
  readonly open: () => readonly BlockSource[];
}

export interface NetworkNodes extends IngestNodes {
  /** The nodes to read from now, the best first. */
  list(): readonly IngestNode[];
}

export interface IngestDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly nodesOf: (network: Network) => NetworkNodes;
  readonly eventsOf: (network: Network) => IngestEvents;
}

/** How one network does. Slots are null before they are known. */
export interface IngestStatus {
  readonly network: Network;
  readonly state: IngestState;
  readonly head: Slot | null;
  readonly confirmed: Slot | null;
  readonly finalized: Slot | null;
  readonly lagSlots: bigint | null;
  readonly unavailableSlots: bigint;
  readonly sources: readonly {
    readonly name: string;
    readonly kind: string;
    readonly isUp: boolean;
    readonly isTrusted: boolean;
  }[];
}

export type SkipOutcome = { readonly ok: true } | { readonly ok: false; readonly reason: "closed" | "range" };

/** Slots that an operator skips at once. */
const skippedMax = 10_000_000n;
const reconcileMs = 1_000;

/** Ingest of one network over one open log. */
class NetworkIngest implements AsyncDisposable {
  readonly #network: Network;
  readonly #log: ChainLog;
  readonly #nodes: NetworkNodes;
  readonly #pipeline: Pipeline;
  readonly #sources = new Map<object, readonly BlockSource[]>();
  readonly #timer: Timer;

  constructor(
    {
      network,
      chain,
      gapAfterMs,
    }: { readonly network: Network; readonly chain: ChainIdentity; readonly gapAfterMs: number },
    { clock, random, nodesOf, eventsOf, log }: IngestDependencies & { readonly log: ChainLog },
  ) {
    this.#network = network;
    this.#log = log;
    this.#nodes = nodesOf(network);
    this.#pipeline = new Pipeline(
      { chain, gapAfterMs },
      { clock, random, log, nodes: this.#nodes, events: eventsOf(network), digestOfBody, isSameContent },
    );
    this.#pipeline.start();
    this.#reconcile();
    this.#timer = clock.every(reconcileMs, () => this.#reconcile());
  }

  status(): IngestStatus {
    const { witnesses, state, lagSlots, unavailableSlots } = this.#pipeline;
    return {
      network: this.#network,
      state,
      head: this.#nodes.head("confirmed"),
      confirmed: this.#log.reached("confirmed")?.slot ?? null,
      finalized: this.#log.reached("finalized")?.slot ?? null,
      lagSlots,
      unavailableSlots,
      sources: [...witnesses.sources].map((source) => ({
        name: source.name,
        kind: source.kind,
        isUp: witnesses.isUp(source),
        isTrusted: !witnesses.isDistrusted(source.node),
      })),
    };
  }

  skip(from: Slot, to: Slot): SkipOutcome {
    const head = this.#nodes.head("confirmed");
    const isRange = from <= to && to - from < skippedMax && head !== null && to < head;
    if (!isRange) return { ok: false, reason: "range" };
    this.#pipeline.skip(from, to);
    return { ok: true };
  }

  /** Opens the sources of nodes that have come, and closes those of nodes that have gone. */
  #reconcile(): void {
    const nodes = this.#nodes.list();
    for (const [identity, sources] of this.#sources) {
      if (nodes.some((node) => node.identity === identity)) continue;
      this.#sources.delete(identity);
      for (const source of sources) {
        this.#pipeline.remove(source);
        void source[Symbol.asyncDispose]();
      }
    }
    for (const { identity, open } of nodes) {
      if (this.#sources.has(identity)) continue;
      const sources = open();
      this.#sources.set(identity, sources);
      for (const source of sources) this.#pipeline.add(source);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#timer.cancel();
    const sources = [...this.#sources.values()].flat();
    this.#sources.clear();
    await Promise.allSettled(sources.map((source) => source[Symbol.asyncDispose]()));
    await this.#pipeline[Symbol.asyncDispose]();
  }
}

/** Ingest of every network whose log is open: hand `take` to the logs as their listener. */
export class Ingest implements AsyncDisposable {
  readonly #options: GapsOptions;
  readonly #dependencies: IngestDependencies;
  readonly #networks = new Map<Network, NetworkIngest>();
  #isClosed = false;

  constructor(options: GapsOptions, dependencies: IngestDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  readonly take: ChainLogListener = async (network, log, chain) => {
    const before = this.#networks.get(network);
    this.#networks.delete(network);
    await before?.[Symbol.asyncDispose]();
    if (log === null || this.#isClosed) return;
    const options = { ...this.#options, network, chain };
    this.#networks.set(network, new NetworkIngest(options, { ...this.#dependencies, log }));
  };

  status(): readonly IngestStatus[] {
    return [...this.#networks.values()].map((each) => each.status());
  }

  /** Gives slots up that no node has: followers are told of a gap at once. */
  skip(network: Network, from: Slot, to: Slot): SkipOutcome {
    return this.#networks.get(network)?.skip(from, to) ?? { ok: false, reason: "closed" };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    const open = [...this.#networks.values()];
    this.#networks.clear();
    for (const each of open) await each[Symbol.asyncDispose]();
  }
}
