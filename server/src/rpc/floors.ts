import type { CommitmentName, Network } from "@sluice/contract";

/** Whose view of which chain. */
export interface View {
  readonly keyId: string;
  readonly network: Network;
  readonly commitment: CommitmentName;
}

interface Floor {
  readonly slot: bigint;
  readonly atMs: number;
}

/** What was seen counts for so long (decisions: Upstream choice); a chain that went back is believed after it. */
const lifetimeMs = 30_000;
/** Views that are remembered; the one unused for longest goes first. */
const viewsMax = 50_000;

/**
 * The newest slot that each key has been shown of each network and commitment, so that no later answer is from before it:
 * nodes differ by a slot or two, and who was told of slot 101 must not be told of 100 a moment later.
 */
export class Floors {
  readonly #floors = new Map<string, Floor>();

  /** The floor of a view, or null when none is known or it is too old. `nowMs` is monotonic. */
  of(view: View, nowMs: number): bigint | null {
    const floor = this.#floors.get(nameOf(view));
    return floor === undefined || nowMs - floor.atMs > lifetimeMs ? null : floor.slot;
  }

  /** Whether an answer of this slot may be shown; if so, it is the floor from now on. */
  passes(view: View, slot: bigint, nowMs: number): boolean {
    const name = nameOf(view);
    const known = this.#floors.get(name);
    if (known !== undefined && slot <= known.slot && nowMs - known.atMs <= lifetimeMs) return slot === known.slot;
    // Taken out and put in again, it is the youngest of the map's order.
    this.#floors.delete(name);
    this.#floors.set(name, { slot, atMs: nowMs });
    if (this.#floors.size > viewsMax) {
      const [oldest] = this.#floors.keys();
      if (oldest !== undefined) this.#floors.delete(oldest);
    }
    return true;
  }
}

const nameOf = ({ keyId, network, commitment }: View): string => `${network} ${commitment} ${keyId}`;
