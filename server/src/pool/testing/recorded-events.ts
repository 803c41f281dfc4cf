import type { StakePoolEvents } from "../events.ts";

/** Events of the room, as they were told. */
export class RecordedEvents implements StakePoolEvents {
  readonly failures: [string, unknown][] = [];
  readonly readings: string[] = [];
  readonly samples: string[] = [];
  readonly slots: bigint[] = [];

  readonly internalError = (where: string, error: unknown): void => {
    this.failures.push([where, error]);
  };

  read(what: string): void {
    this.readings.push(what);
  }

  readingFailed(what: string, error: unknown): void {
    this.failures.push([what, error]);
  }

  sampled(kind: string): void {
    this.samples.push(kind);
  }

  poolRead({ slot }: { readonly slot: bigint }): void {
    this.slots.push(slot);
  }
}
