import { type Clock, invariant, type Random } from "@sluice/lib";

const slotMs = 400;
/** Slots from the newest to the root. */
const rootDepth = 32;
const confirmedDepth = 2;

/** Slots without a block before the first that is simulated: heights are this much lower. */
export const skippedSlots = 700n;

/** One branch of a chain at one moment, as a node that follows it sees it. */
export interface ChainView {
  readonly slot: number;
  /** Which branch a slot's block is from: a number that no other branch has. */
  readonly branchOf: (slot: number) => number;
}

/** A chain of which nothing is known but its slots and, for each block, the branch that it is from. */
export class SimulatedChain {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #firstSlot: number;
  /** Where each branch begins, with the time at which the chain changed to it; the last one is followed now. */
  readonly #forks: { readonly from: number; readonly atMs: number }[] = [];

  constructor(firstSlot: number, dependencies: { readonly clock: Pick<Clock, "monotonic"> }) {
    this.#firstSlot = firstSlot;
    this.#clock = dependencies.clock;
  }

  get slot(): number {
    return this.#firstSlot + Math.floor(this.#clock.monotonic() / slotMs);
  }

  /** Abandons some of the blocks above the root. */
  fork(random: Random): void {
    const from = this.slot - Math.floor(random.next() * (rootDepth - 4));
    this.#forks.push({ from, atMs: this.#clock.monotonic() });
  }

  /** The chain as a node sees it that is so many slots late, and knows of the forks before a moment only. */
  view(lateSlots: number, forksUntilMs = Number.POSITIVE_INFINITY): ChainView {
    const known = this.#forks.filter(({ atMs }) => atMs <= forksUntilMs);
    return { slot: this.slot - lateSlots, branchOf: (slot) => branchIn(known, slot) };
  }

  /** Whether the block of a slot on that branch was abandoned at least so long ago. */
  wasAbandoned(slot: number, branch: number, sinceMs: number): boolean {
    const until = this.#clock.monotonic() - sinceMs;
    return this.#forks.some(({ from, atMs }, index) => atMs <= until && slot >= from && index + 1 > branch);
  }
}

function branchIn(forks: readonly { readonly from: number }[], slot: number): number {
  for (let index = forks.length - 1; index >= 0; index -= 1) if (slot >= (forks[index]?.from ?? 0)) return index + 1;
  return 0;
}

/** The slots of each commitment for a node at `slot`. */
export function slotsAt(slot: number): Readonly<Record<"processed" | "confirmed" | "finalized", bigint>> {
  invariant(slot > rootDepth, "a simulated chain has a root");
  return { processed: BigInt(slot), confirmed: BigInt(slot - confirmedDepth), finalized: BigInt(slot - rootDepth) };
}

/** The answer of a well node: text of a result, or the code of an error. */
export function resultOf(view: ChainView, method: string, params: readonly unknown[]): string | number {
  const config = params.find((each) => typeof each === "object" && each !== null) as
    | { commitment?: string }
    | undefined;
  const slots = slotsAt(view.slot);
  const commitment =
    config?.commitment === "processed" || config?.commitment === "confirmed" ? config.commitment : "finalized";
  const slot = slots[commitment];
  switch (method) {
    case "getSlot":
      return String(slot);
    case "getBalance":
      return `{"context":{"apiVersion":"2.3.1","slot":${slot}},"value":${view.branchOf(Number(slot))}}`;
    case "getBlockHeight":
      return String(slot - skippedSlots);
    case "getLatestBlockhash":
      return `{"context":{"slot":${slot}},"value":{"blockhash":"x","lastValidBlockHeight":1}}`;
    case "getBlockTime": {
      const asked = Number(params[0]);
      return asked > view.slot ? -32004 : String(1_000_000 + view.branchOf(asked));
    }
    case "sendTransaction":
      return `"${"5".repeat(88)}"`;
    default:
      return "1";
  }
}
