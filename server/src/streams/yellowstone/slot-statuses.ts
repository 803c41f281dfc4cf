import type { Slot } from "@sluice/wire/identifiers";
import type { BlockPlace, Stage } from "../../log/index.ts";
import type { FlowMembership, FlowReceiver } from "../flow/flow-receiver.ts";
import type { NetworkFlow } from "../flow/flows.ts";

/** A slot that has reached a stage by one of its blocks. */
export interface ReachedSlot {
  readonly slot: Slot;
  readonly parent: Slot;
  readonly blockhash: string;
  readonly stage: Stage;
}

const order: readonly Stage[] = ["processed", "confirmed", "finalized"];
/** The place of a stage; a later one includes those before it. */
export const rankOf = (stage: Stage): number => order.indexOf(stage);

/** Slots whose stages are remembered: more than lie between processed and finalized. */
const slotsMax = 1_024;

interface KnownSlot extends Omit<ReachedSlot, "stage"> {
  /** Of the stages that it has reached; by rank. */
  readonly reached: boolean[];
}

/**
 * The stages that slots of one network reach, in an order that nobody contradicts: each slot is told processed before
 * confirmed and confirmed before finalized, whichever record comes first. A fork's block begins its slot anew. It
 * follows the flow while somebody listens.
 */
export class SlotStatuses {
  readonly #flow: Pick<NetworkFlow, "join" | "log">;
  readonly #listeners = new Set<(reached: ReachedSlot) => void>();
  readonly #slots = new Map<Slot, KnownSlot>();
  readonly #memberships = new Map<Stage, FlowMembership>();
  /** The newest slots of the stages when it began to follow: what is below has been told before. */
  #since: readonly (Slot | null)[] = [];

  constructor(flow: Pick<NetworkFlow, "join" | "log">) {
    this.#flow = flow;
  }

  /** Tells a listener of every slot that reaches a stage from now on. @throws {LogError} when the log is closed */
  join(listener: (reached: ReachedSlot) => void): Disposable {
    if (this.#listeners.size === 0) this.#begin();
    this.#listeners.add(listener);
    return {
      [Symbol.dispose]: () => {
        this.#listeners.delete(listener);
        if (this.#listeners.size === 0) this.#end();
      },
    };
  }

  /** Whether a slot has reached a stage by a block as far as is known here. */
  hasReached({ slot, blockhash }: Pick<ReachedSlot, "slot" | "blockhash">, stage: Stage): boolean {
    const known = this.#slots.get(slot);
    if (known?.blockhash === blockhash && known.reached[rankOf(stage)] === true) return true;
    const since = this.#since[rankOf(stage)];
    return since !== null && since !== undefined && slot <= since;
  }

  /** The known slots above another, lowest first, with the stages that they have reached. */
  above(slot: Slot): readonly ReachedSlot[] {
    const found: ReachedSlot[] = [];
    for (const known of this.#slots.values()) {
      if (known.slot <= slot) continue;
      order.forEach((stage, rank) => {
        const { reached, ...of } = known;
        if (reached[rank] === true) found.push({ ...of, stage });
      });
    }
    return found.toSorted((one, other) => (one.slot < other.slot ? -1 : one.slot > other.slot ? 1 : 0));
  }

  /** A slot has reached a stage: tells it and those below that were not told yet, each once. */
  reached({ stage, ...of }: ReachedSlot): void {
    const before = this.#slots.get(of.slot);
    const known = before?.blockhash === of.blockhash ? before : this.#remember({ ...of, reached: [] });
    for (let rank = 0; rank <= rankOf(stage); rank += 1) {
      const below = order[rank];
      if (below === undefined || known.reached[rank] === true) continue;
      const isTold = rank < rankOf(stage) && this.hasReached(of, below);
      known.reached[rank] = true;
      if (!isTold) for (const listener of [...this.#listeners]) listener({ ...of, stage: below });
    }
  }

  #remember(known: KnownSlot): KnownSlot {
    this.#slots.delete(known.slot);
    this.#slots.set(known.slot, known);
    const [oldest] = this.#slots.keys();
    if (this.#slots.size > slotsMax && oldest !== undefined) this.#slots.delete(oldest);
    return known;
  }

  #begin(): void {
    this.#since = order.map((stage) => this.#join(stage)?.slot ?? null);
  }

  /** Follows a stage from its newest block on, and gives that; null where there is none. */
  #join(stage: Stage): BlockPlace | null {
    const { log } = this.#flow;
    const outcome = this.#flow.join({ stage, from: "live" }, this.#receiver(stage));
    if (!outcome.ok) return null;
    this.#memberships.set(stage, outcome.membership);
    // The log may have more than those who are live were told; at processed a place says nothing of what is above it.
    return stage === "processed" ? log.latest(stage) : log.placeOf(outcome.cursor, stage);
  }

  /** What came between is no longer held: the stage is followed on from its newest block, which is told. */
  #joinAgain(stage: Stage): void {
    this.#memberships.delete(stage);
    const place = this.#join(stage);
    const held = place === null ? null : this.#flow.log.find(place);
    if (held === null) return;
    const { slot, parentSlot: parent, blockhash } = held.header;
    this.reached({ slot, parent, blockhash, stage });
  }

  #end(): void {
    for (const membership of this.#memberships.values()) membership[Symbol.dispose]();
    this.#memberships.clear();
    this.#slots.clear();
  }

  #receiver(stage: Stage): FlowReceiver {
    return {
      block: ({ header }) => {
        this.reached({ slot: header.slot, parent: header.parentSlot, blockhash: header.blockhash, stage });
        return null;
      },
      undo: () => {},
      gap: () => {},
      ready: () => null,
      caughtUp: () => {},
      // Those who listen follow the flow themselves, and are told when it ends for good.
      ended: (reason) => {
        if (reason === "expired" && this.#listeners.size > 0) this.#joinAgain(stage);
      },
    };
  }
}
