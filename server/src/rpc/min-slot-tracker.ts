import type { CommitmentName } from "@sluice/contract/rpc";
import type { Network } from "@sluice/contract/tiers";

/**
 * What goes on by itself: the slots and the block heights of a commitment, and each counter by its method.
 */
export type Track = CommitmentName | `height of ${CommitmentName}` | `counter of ${string}`;

/** Whose view of what. */
export interface View {
  readonly keyId: string;
  readonly network: Network;
  readonly track: Track;
}

interface Floor {
  readonly slot: bigint;
  /** When it was shown last. */
  readonly atMs: number;
}

/** What was seen counts for so long (decisions: Upstream choice); a chain that went back is believed after it. */
const lifetimeMs = 30_000;
/** Views of each network and track that are remembered; the one unused for longest goes first. */
const viewsMax = 50_000;

/**
 * The newest slot (or height, or counter) that each key has been shown of each network and track, so that no later
 * answer is from before it: nodes differ by a slot or two, and a caller that was given slot 101 must not be given 100 a
 * moment later.
 */
export class MinSlotTracker {
  readonly #minSlots = new Map<Network, Map<Track, Map<string, Floor>>>();

  /** The floor of a view, or null when none is known or it is too old. `nowMs` is monotonic. */
  of(view: View, nowMs: number): bigint | null {
    const floor = this.#minSlots.get(view.network)?.get(view.track)?.get(view.keyId);
    return floor === undefined || nowMs - floor.atMs > lifetimeMs ? null : floor.slot;
  }

  /** Whether an answer of this slot may be shown; if so, it is the floor from now on. */
  passes(view: View, slot: bigint, nowMs: number): boolean {
    const floors = this.#floorsOf(view);
    const known = floors.get(view.keyId);
    if (known !== undefined && slot < known.slot && nowMs - known.atMs <= lifetimeMs) return false;
    // Taken out and put in again, it is the youngest of the map's order.
    floors.delete(view.keyId);
    floors.set(view.keyId, { slot, atMs: nowMs });
    if (floors.size > viewsMax) {
      const [oldest] = floors.keys();
      if (oldest !== undefined) floors.delete(oldest);
    }
    return true;
  }

  /** Forgets what was shown of a network. */
  forget(network: Network): void {
    this.#minSlots.delete(network);
  }

  /** A map for each network and track: a key of all three would be a new text for every call. */
  #floorsOf({ network, track }: View): Map<string, Floor> {
    const ofNetwork = this.#minSlots.get(network) ?? new Map<Track, Map<string, Floor>>();
    const floors = ofNetwork.get(track);
    if (floors !== undefined) return floors;
    const fresh = new Map<string, Floor>();
    this.#minSlots.set(network, ofNetwork.set(track, fresh));
    return fresh;
  }
}
