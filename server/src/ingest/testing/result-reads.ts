import type { SimulatedNode } from "./simulated-node.ts";

/** One second reading of a final block, as a process tells it. */
interface ResultRead {
  readonly slot: number;
  readonly outcome: "equal" | "differs" | "unread";
  /** Whether the body that the log keeps has altered results; null where no append of this schedule stored it. */
  readonly isKeptAltered: boolean | null;
  /** Whether the process knows which node the kept body is from: it alone writes the log, and has since the block. */
  readonly isGiverKnown: boolean;
}

/**
 * What is expected of second readings (record 0058): a body whose results one node has altered differs from what every
 * other node gives, and nothing differs where no node alters results.
 */
export class ResultReads {
  readonly #nodes: () => readonly Pick<SimulatedNode<unknown>, "altersAt" | "lieAt">[];
  readonly faults: string[] = [];
  /** Slots of second readings that were made. */
  readonly slots: number[] = [];
  found = 0;

  constructor(nodes: () => readonly Pick<SimulatedNode<unknown>, "altersAt" | "lieAt">[]) {
    this.#nodes = nodes;
  }

  check({ slot, outcome, isKeptAltered, isGiverKnown }: ResultRead): void {
    if (outcome !== "unread") this.slots.push(slot);
    const isAltered = this.#nodes().some((node) => node.altersAt(slot));
    const isLiedAbout = this.#nodes().some((node) => node.lieAt(slot) !== null);
    if (outcome === "differs" && isAltered) this.found += 1;
    if (outcome === "differs" && !isAltered && !isLiedAbout)
      this.faults.push(`results of ${slot} are told to differ, and are nowhere altered`);
    if (outcome === "equal" && isKeptAltered === true && isGiverKnown)
      this.faults.push(`results of ${slot} are altered in the log and told to be equal`);
  }
}
