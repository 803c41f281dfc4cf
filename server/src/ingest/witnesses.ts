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
/** How long a node counts that has not been heard yet. */
const newMs = 5_000;
/** How long a new log waits for a node that is away, where another one alone says where it begins. */
const awaitedMs = 30_000;

/** The sources of one network, and whose word counts. */
export class Witnesses {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #nodes: IngestNodes;
  /** With the monotonic milliseconds at which each was added. */
  readonly #sources = new Map<BlockSource, number>();
  readonly #up = new Set<BlockSource>();
  readonly #distrustedUntilMs = new Map<string, number>();

  constructor(dependencies: { readonly clock: Pick<Clock, "monotonic">; readonly nodes: IngestNodes }) {
    this.#clock = dependencies.clock;
    this.#nodes = dependencies.nodes;
  }

  get sources(): Iterable<BlockSource> {
    return this.#sources.keys();
  }

  add(source: BlockSource): void {
    this.#sources.set(source, this.#clock.monotonic());
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
    return [...this.#up].filter((source) => this.#counts(source));
  }

  /** Nodes whose word counts now, whether one of their sources is up or not. */
  readonly nodes = (): ReadonlySet<string> => {
    const counting = [...this.#sources.keys()].filter((source) => this.#counts(source));
    return new Set(counting.map(({ node }) => node));
  };

  /** Whether a node is away that is trusted and may come back within the time that a new log waits for it. */
  get mayMoreCome(): boolean {
    const nowMs = this.#clock.monotonic();
    const isAwaited = (source: BlockSource): boolean =>
      !this.isDistrusted(source.node) && !this.#nodes.isWell(source.node);
    return [...this.#sources].some(([source, addedMs]) => isAwaited(source) && nowMs - addedMs < awaitedMs);
  }

  /** Whether blocks of the node arrive by themselves. */
  bringsBlocks(node: string): boolean {
    return this.live.some((source) => source.node === node && source.bringsBlocks);
  }

  /** A source through which the node is asked. */
  sourceOf(node: string): BlockSource | null {
    const found = [...this.#sources.keys()].find((source) => source.node === node);
    return found === undefined || !this.#counts(found) ? null : found;
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

  /** A node that is new is waited for, or the first one that is heard would be believed for being alone. */
  #counts(source: BlockSource): boolean {
    if (this.isDistrusted(source.node)) return false;
    const ageMs = this.#clock.monotonic() - (this.#sources.get(source) ?? Number.NEGATIVE_INFINITY);
    return this.#nodes.isWell(source.node) || ageMs < newMs;
  }
}
