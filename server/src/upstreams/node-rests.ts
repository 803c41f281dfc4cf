import type { Clock, MonotonicMs } from "@sluice/lib";

/** Why a node rests as a whole: its rate, or its refusal of our credential. */
export type RestReason = "limited" | "denied";

export interface Rest {
  readonly reason: RestReason;
  readonly untilMs: MonotonicMs;
}

/** No Retry-After is believed beyond this; asking once a minute costs nobody anything. */
const restMsMax = 60_000;
/** The first rest without a Retry-After; each that follows without a good answer between is twice as long. */
const backoffMs = 1_000;
const backoffMsMax = 30_000;
/** A refused method is tried again after this. */
const methodRestMs = 30_000;
/** Methods that are remembered as refused; the one refused first goes first. */
const methodsMax = 64;

/**
 * The rests that one node has asked for by refusing calls. A rest is neither an outage nor a fault: the node is asked
 * again when it is over, without trials.
 */
export class NodeRests {
  readonly #clock: Pick<Clock, "monotonic">;
  #limitedUntilMs = Number.NEGATIVE_INFINITY;
  #limits = 0;
  /** Null while the credential is accepted. */
  #deniedUntilMs: number | null = null;
  #denials = 0;
  readonly #methods = new Map<string, number>();

  constructor(dependencies: { readonly clock: Pick<Clock, "monotonic"> }) {
    this.#clock = dependencies.clock;
  }

  /** The rest of the whole node; null while it may be asked. A denial lasts until `accepted`, whatever its time. */
  get whole(): Rest | null {
    const nowMs = this.#clock.monotonic();
    if (this.#deniedUntilMs !== null) {
      return { reason: "denied", untilMs: Math.max(this.#deniedUntilMs, nowMs) as MonotonicMs };
    }
    if (nowMs >= this.#limitedUntilMs) return null;
    return { reason: "limited", untilMs: this.#limitedUntilMs as MonotonicMs };
  }

  /** Methods that the node refuses now, each with the end of its rest. */
  get methods(): readonly { readonly method: string; readonly untilMs: number }[] {
    const nowMs = this.#clock.monotonic();
    return [...this.#methods]
      .filter(([, untilMs]) => untilMs > nowMs)
      .map(([method, untilMs]) => ({ method, untilMs }));
  }

  /** Whether the node refused the method a short while ago. */
  refuses(method: string, nowMs: number): boolean {
    if (this.#methods.size === 0) return false;
    const untilMs = this.#methods.get(method);
    if (untilMs === undefined) return false;
    if (untilMs > nowMs) return true;
    this.#methods.delete(method);
    return false;
  }

  /**
   * The node refused a call for its rate. True when a rest begins: calls that were in flight by then are refused too,
   * and make the next one no longer.
   */
  limited(waitMs: number | null): boolean {
    const nowMs = this.#clock.monotonic();
    const isNew = nowMs >= this.#limitedUntilMs;
    if (isNew) this.#limits += 1;
    if (isNew || waitMs !== null) {
      const restMs = waitMs === null ? backoff(this.#limits) : Math.min(waitMs, restMsMax);
      this.#limitedUntilMs = Math.max(this.#limitedUntilMs, nowMs + restMs);
    }
    return isNew;
  }

  /** The node refused the credential for this method, which another node answered. True when a rest begins. */
  methodRefused(method: string): boolean {
    const nowMs = this.#clock.monotonic();
    const isNew = !this.refuses(method, nowMs);
    this.#methods.delete(method);
    this.#methods.set(method, nowMs + methodRestMs);
    if (this.#methods.size > methodsMax) {
      const [oldest] = this.#methods.keys();
      if (oldest !== undefined) this.#methods.delete(oldest);
    }
    return isNew;
  }

  /** The node refused a call of ours that no caller has shaped. True when a rest begins. */
  denied(): boolean {
    const isNew = this.#deniedUntilMs === null;
    this.#denials += 1;
    this.#deniedUntilMs = this.#clock.monotonic() + backoff(this.#denials);
    return isNew;
  }

  /** The node answered a call of ours that no caller has shaped. */
  accepted(): void {
    this.#deniedUntilMs = null;
    this.#denials = 0;
  }

  /** Whether it is time to ask a node that denied everything once more. */
  get isDenialOver(): boolean {
    return this.#deniedUntilMs !== null && this.#clock.monotonic() >= this.#deniedUntilMs;
  }

  /** The node gave a good answer: its next rest is a short one again. */
  passed(): void {
    if (this.#limits > 0 && this.#clock.monotonic() >= this.#limitedUntilMs) this.#limits = 0;
  }

  /** Ends every rest, at an operator's order. */
  clear(): void {
    this.#limitedUntilMs = Number.NEGATIVE_INFINITY;
    this.#limits = 0;
    this.accepted();
    this.#methods.clear();
  }
}

const backoff = (times: number): number => Math.min(backoffMs * 2 ** Math.min(times - 1, 10), backoffMsMax);
