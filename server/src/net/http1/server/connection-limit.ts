import type { Clock } from "@sluice/lib";
import type { ConnectionEvents } from "../../events.ts";

const reportMs = 10_000;

/**
 * The bound on the client connections of several servers together. Without it they could take all descriptors of the
 * process, and then files and calls to nodes fail as well.
 */
export class ConnectionLimit {
  readonly #max: number;
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #events: ConnectionEvents;
  #open = 0;
  #unreported = 0;
  #reportedAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    options: { readonly connectionsMax: number },
    dependencies: { readonly clock: Pick<Clock, "monotonic">; readonly events: ConnectionEvents },
  ) {
    this.#max = options.connectionsMax;
    this.#clock = dependencies.clock;
    this.#events = dependencies.events;
    this.#events.connectionsBounded(() => this.#open);
  }

  get isFull(): boolean {
    return this.#open >= this.#max;
  }

  opened(): void {
    this.#open += 1;
  }

  closed(): void {
    this.#open -= 1;
  }

  refused(): void {
    this.#events.connectionRefused();
    this.#unreported += 1;
    const now = this.#clock.monotonic();
    if (now - this.#reportedAtMs < reportMs) return;
    this.#events.connectionsExhausted({ refused: this.#unreported, connectionsMax: this.#max });
    this.#unreported = 0;
    this.#reportedAtMs = now;
  }
}
