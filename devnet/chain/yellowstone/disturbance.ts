import type { TextRandom } from "../../random.ts";

export const disturbances = ["drop", "duplicate", "reorder"] as const;
export type DisturbanceKind = (typeof disturbances)[number];

/** A stream, as faults end it. */
interface Endable {
  unavailable(): void;
}

/** What goes wrong with the streams of updates: a share of them is lost, comes twice, or comes after the next one. */
export class StreamFaults {
  disturb: { readonly share: number; readonly kind: DisturbanceKind; readonly random: TextRandom } | null = null;
  /** Whether every stream and call is refused. */
  refuses = false;
  readonly #open = new Set<Endable>();
  #disturbed = 0n;

  opened(stream: Endable): void {
    this.#open.add(stream);
  }

  closed(stream: Endable): void {
    this.#open.delete(stream);
  }

  /** Ends every stream, as a server does that is restarted, and says how many they were. */
  closeAll(): number {
    const open = [...this.#open];
    for (const stream of open) stream.unavailable();
    return open.length;
  }

  /** What befalls the update that is about to be sent; null is nothing. */
  next(): DisturbanceKind | null {
    if (this.disturb?.random.falls(this.disturb.share) !== true) return null;
    this.#disturbed += 1n;
    return this.disturb.kind;
  }

  get disturbed(): bigint {
    return this.#disturbed;
  }
}
