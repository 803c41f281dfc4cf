import type { ErrorCode } from "@sluice/contract/errors";
import type { Network } from "@sluice/contract/tiers";
import type { Clock } from "@sluice/lib";
import type { Access } from "../../access/index.ts";
import { type RequestFact, statusStillOpen } from "../../ledger/index.ts";

/** A stream costs one credit for each started 0.1 MB sent. */
const bytesPerCredit = 100_000;

interface Metered {
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly network: Network;
  readonly door: "ws" | "pubsub" | "yellowstone";
  /** Monotonic. */
  readonly startedMs: number;
}

export interface ConnectionMeterDependencies {
  readonly clock: Pick<Clock, "now" | "monotonic">;
  readonly access: Pick<Access, "charge">;
  readonly served: (fact: RequestFact) => void;
  /** Between two facts of a connection that lasts, to the next tick. */
  readonly reportEveryMs: number;
}

/** Why what was sent could not be paid: nothing is left, or no store can tell now. */
export type Unpaid = Extract<ErrorCode, "INSUFFICIENT_CREDITS" | "STORE_UNAVAILABLE">;

interface Passed {
  bytesIn: number;
  bytesOut: number;
  credits: number;
}

const nothing = (): Passed => ({ bytesIn: 0, bytesOut: 0, credits: 0 });

/**
 * Counts what passes over one connection and what it costs. It reports facts about each minute while the connection
 * lasts, and one when it ends; each covers the time since the last, so their sums are what passed and what was paid.
 */
export class ConnectionMeter {
  readonly #metered: Metered;
  readonly #dependencies: ConnectionMeterDependencies;
  /** Since the last fact. */
  #passed: Passed = nothing();
  #bytesOut = 0;
  #asked = 0;
  #reportedMs: number;
  /** Credits that are being fetched; the last fact waits for them. */
  readonly #paying = new Set<Promise<void>>();

  constructor(metered: Metered, dependencies: ConnectionMeterDependencies) {
    this.#metered = metered;
    this.#dependencies = dependencies;
    this.#reportedMs = metered.startedMs;
  }

  received(bytes: number): void {
    this.#passed.bytesIn += bytes;
  }

  /** Counts what was sent and pays for it; `unpaid` is called with the reason where it cannot be paid. */
  sent(bytes: number, allowance: bigint | null, unpaid: (reason: Unpaid) => void): void {
    this.#passed.bytesOut += bytes;
    this.#bytesOut += bytes;
    for (; this.#asked * bytesPerCredit < this.#bytesOut; this.#asked += 1) {
      const paid = this.#dependencies.access.charge(
        { accountId: this.#metered.accountId, creditsMonthly: allowance },
        1,
      );
      if (paid === true) this.#passed.credits += 1;
      else if (paid === false) unpaid("INSUFFICIENT_CREDITS");
      else this.#await(paid, unpaid);
    }
  }

  /** Reports what passed since the last fact, when that was long enough ago and anything did. */
  reportWhenDue(upstream: string): void {
    const nowMs = this.#dependencies.clock.monotonic();
    if (nowMs - this.#reportedMs < this.#dependencies.reportEveryMs) return;
    this.#reportedMs = nowMs;
    const { bytesIn, bytesOut, credits } = this.#passed;
    if (bytesIn > 0 || bytesOut > 0 || credits > 0) this.#report(statusStillOpen, upstream);
  }

  /** Reports the rest, once what is being paid is paid. */
  async end(closeCode: number, upstream: string): Promise<void> {
    await Promise.all(this.#paying);
    this.#report(closeCode, upstream);
  }

  #await(paid: Promise<boolean>, unpaid: (reason: Unpaid) => void): void {
    const paying = paid.then(
      (isPaid) => {
        if (isPaid) this.#passed.credits += 1;
        else unpaid("INSUFFICIENT_CREDITS");
      },
      () => unpaid("STORE_UNAVAILABLE"),
    );
    this.#paying.add(paying);
    void paying.then(() => this.#paying.delete(paying));
  }

  #report(status: number, upstream: string): void {
    const { clock, served } = this.#dependencies;
    const { startedMs, ...metered } = this.#metered;
    served({
      ...metered,
      at: clock.now(),
      method: metered.door,
      status,
      rpcCode: null,
      latencyMs: clock.monotonic() - startedMs,
      ...this.#passed,
      code: "",
      cache: "",
      upstream,
    });
    this.#passed = nothing();
  }
}
