import { Circuit } from "./circuit.ts";

interface EventCircuit {
  readonly circuit: Circuit;
  failedAtMs: number;
  /** `aside`: none of the event is tried. `called`: the next one decides. `deciding`: that one is under way. */
  state: "closed" | "aside" | "called" | "deciding";
}

/** What the rows of a queue do with the deliveries of an event. */
export interface EventRows {
  setAside(event: string): void;
  bringBack(event: string): void;
}

/**
 * A circuit for each type of event of a webhook: a receiver that refuses all events of one type is sent the others
 * as before. Deliveries of an event whose circuit is open are set aside, so nothing behind them on the chain waits
 * for them; one of them decides when their rest is over. Times are monotonic milliseconds.
 */
export class EventCircuits {
  readonly #rows: EventRows;
  readonly #circuits = new Map<string, EventCircuit>();

  constructor(rows: EventRows) {
    this.#rows = rows;
  }

  /** When the next event may be tried again; infinite where none rests. */
  get nextAtMs(): number {
    let nextAtMs = Number.POSITIVE_INFINITY;
    for (const { circuit, state } of this.#circuits.values())
      if (state === "aside") nextAtMs = Math.min(nextAtMs, circuit.restUntilMs);
    return nextAtMs;
  }

  /** Brings back the events whose rest is over. */
  callRested(nowMs: number): void {
    for (const [event, each] of this.#circuits)
      if (each.state === "aside" && each.circuit.restUntilMs <= nowMs) this.#call(event, each);
  }

  /** Brings back the one that failed longest ago, rested or not; false where none is aside. */
  callOldest(): boolean {
    let oldest: readonly [string, EventCircuit] | null = null;
    for (const [event, each] of this.#circuits)
      if (each.state === "aside" && (oldest === null || each.failedAtMs < oldest[1].failedAtMs)) oldest = [event, each];
    if (oldest !== null) this.#call(...oldest);
    return oldest !== null;
  }

  /** The webhook's owner asks for attempts: each event is tried now. */
  callAll(): void {
    for (const [event, each] of this.#circuits) if (each.state === "aside") this.#call(event, each);
  }

  /** Nothing of what was is so any more. */
  clear(): void {
    for (const event of this.#circuits.keys()) this.#rows.bringBack(event);
    this.#circuits.clear();
  }

  /** An attempt of the event begins. */
  begun(event: string): void {
    const each = this.#circuits.get(event);
    if (each?.state !== "called") return;
    each.state = "deciding";
    this.#rows.setAside(event);
  }

  /** `decides` where the endpoint as a whole is left alone, so that another event is tried next. */
  failed(event: string, nowMs: number, decides: boolean): void {
    const each = this.#circuits.get(event) ?? { circuit: new Circuit(), failedAtMs: nowMs, state: "closed" };
    this.#circuits.set(event, each);
    each.failedAtMs = nowMs;
    each.circuit.failed(nowMs, decides || each.state === "deciding");
    if (!each.circuit.isOpen) return;
    each.state = "aside";
    this.#rows.setAside(event);
  }

  succeeded(event: string): void {
    const each = this.#circuits.get(event);
    if (each === undefined) return;
    this.#circuits.delete(event);
    if (each.state !== "closed") this.#rows.bringBack(event);
  }

  /** The attempt has come to nothing that the receiver said. */
  undecided(event: string): void {
    const each = this.#circuits.get(event);
    if (each?.state === "deciding") this.#call(event, each);
  }

  #call(event: string, each: EventCircuit): void {
    each.state = "called";
    this.#rows.bringBack(event);
  }
}
