import type { Clock } from "@sluice/lib";
import type { WebhookWorkerRow } from "../../state/index.ts";

interface Seen {
  readonly beats: bigint;
  readonly sinceMs: number;
}

/**
 * Which other workers live, by the clock of this process alone: one whose count of beats stands still for the time of a
 * lease is presumed dead. Silence counts while a beat could have been seen.
 */
export class LiveWorkers {
  readonly #worker: string;
  readonly #leaseMs: number;
  readonly #clock: Pick<Clock, "monotonic">;
  #seen = new Map<string, Seen>();
  #lookedAtMs: number | null = null;

  constructor(
    options: { readonly worker: string; readonly leaseMs: number },
    dependencies: { readonly clock: Pick<Clock, "monotonic"> },
  ) {
    this.#worker = options.worker;
    this.#leaseMs = options.leaseMs;
    this.#clock = dependencies.clock;
  }

  /** Workers that live, this one counted. */
  get count(): number {
    return this.#seen.size + 1;
  }

  /** The workers that the store knows now: says which are dead. Where the store is not shared all others are. */
  seen(workers: readonly WebhookWorkerRow[], isShared: boolean): readonly string[] {
    const others = workers.filter(({ worker }) => worker !== this.#worker);
    if (!isShared) return others.map(({ worker }) => worker);
    const nowMs = this.#clock.monotonic();
    const wasBlind = nowMs - (this.#lookedAtMs ?? nowMs) > this.#leaseMs / 2;
    this.#lookedAtMs = nowMs;
    const before = this.#seen;
    this.#seen = new Map();
    const dead: string[] = [];
    for (const { worker, beats } of others) {
      const known = before.get(worker);
      const isSilent = known?.beats === beats && !wasBlind;
      const seen = isSilent ? known : { beats, sinceMs: nowMs };
      if (nowMs - seen.sinceMs >= this.#leaseMs) dead.push(worker);
      else this.#seen.set(worker, seen);
    }
    return dead;
  }
}
