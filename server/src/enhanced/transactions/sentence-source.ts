import type { Names, ParsedTransaction } from "@sluice/parser";
import type { Asking } from "../node-calls.ts";

/** What sentences call things. */
export interface NamesRead {
  readonly names: Names;
  /** False where nodes did not say in time, so that another reading may know more. */
  readonly isComplete: boolean;
}

/** Looks up what the sentences of transactions may name. */
export interface SentenceSource {
  /** Never rejects, and is late by a second at most. */
  of(asking: Asking, parsed: readonly ParsedTransaction[]): Promise<NamesRead>;
}
