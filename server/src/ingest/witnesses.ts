import type { Clock } from "@sluice/lib";
import type { Slot } from "@sluice/wire/identifiers";
import type { BlockSource } from "./source.ts";

/** What is known of a network's nodes outside of ingest: their health and which slots are believed. */
export interface IngestNodes {
  /** The newest slot of a commitment that is believed, whatever a single node claims; null before the first. */
  head(commitment: "confirmed" | "finalized"): Slot | null;
  /** Whether the node is of the chain, answers and is near the head. */
  isWell(node: string): boolean;
}

/** How long a node that was caught lying has no part in anything. */
const distrustMs = 600_000;

/** The sources of one network, and whose word counts. */
export class Witnesses {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #nodes: IngestNodes;
  readonly #sources = new Set<BlockSource>();
  readonly #up = new Set<BlockSource>();
  readonly #distrustedUntilMs = new Map<string, number>();

  constructor(dependencies: { readonly clock: Pick<Clock, "monotonic">; readonly nodes: IngestNodes }) {
    this.#clock = dependencies.clock;
    this.#nodes = dependencies.nodes;
  }

  get sources(): ReadonlySet<BlockSource> {
    return this.#sources;
  }

  add(source: BlockSource): void {
    this.#sources.add(source);
  }

  remove(source: BlockSource): void {
    this.#sources.delete(source);
    this.#up.delete(source);
  }

  setUp(source: BlockSource, isUp: boolean): void {
    if (isUp) this.#up.add(source);
    else this.#up.delete(source);
  }

  isUp(source: BlockSource): boolean {
    return this.#up.has(source);
  }

  /** Sources that are up, of nodes whose word counts. */
  get live(): BlockSource[] {
    return [...this.#up].filter(({ node }) => this.#counts(node));
  }

  /** Nodes whose word counts now. */
  readonly nodes = (): ReadonlySet<string> => new Set(this.live.map(({ node }) => node));

  /** Whether blocks of the node arrive by themselves. */
  bringsBlocks(node: string): boolean {
    return this.live.some((source) => source.node === node && source.bringsBlocks);
  }

  /** A source through which the node is asked. */
  sourceOf(node: string): BlockSource | null {
    return this.live.find((source) => source.node === node) ?? null;
  }

  isDistrusted(node: string): boolean {
    return (this.#distrustedUntilMs.get(node) ?? 0) > this.#clock.monotonic();
  }

  /** True when the node was trusted until now. */
  distrust(node: string): boolean {
    const isNew = !this.isDistrusted(node);
    this.#distrustedUntilMs.set(node, this.#clock.monotonic() + distrustMs);
    return isNew;
  }

  #counts(node: string): boolean {
    return !this.isDistrusted(node) && this.#nodes.isWell(node);
  }
}
