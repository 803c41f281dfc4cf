import type { Network } from "@sluice/contract/tiers";
import { type Clock, invariant } from "@sluice/lib";
import type { LeaseRecord, LeaseStore } from "../../state/index.ts";

export interface LeaseHolderOptions {
  /** The name of the lease. */
  readonly lease: string;
}

export interface LeaseHolderDependencies {
  readonly store: LeaseStore;
  readonly clock: Pick<Clock, "monotonic">;
  /** Of this process and no other. */
  readonly holder: string;
  readonly retryableError: (what: string, error: unknown) => void;
}

/** The lease of the pool of a network's bundles: a database holds those of several networks. */
export const poolLeaseOf = (network: Network): string => `${network}:engine-book`;
/** A holder that does not beat is presumed dead after this time; how often the lease is renewed or requested. */
export const leaseMs = 4_000;
export const renewMs = 500;

/**
 * Holds a lease, or waits for it. A holder beats; who sees no beat for `leaseMs` of its own time takes over. No two
 * clocks are compared: the holder counts from before its beat, who waits counts from after it saw it, so the one has
 * stopped before the other begins. Where a clock lies all the same, the store's fence refuses what the former holder
 * writes.
 */
export class LeaseHolder {
  readonly #name: string;
  readonly #dependencies: LeaseHolderDependencies;
  #lease: LeaseRecord | null = null;
  #heldUntilMs = 0;
  #seen: { readonly record: LeaseRecord; readonly sinceMs: number } | null = null;

  constructor({ lease }: LeaseHolderOptions, dependencies: LeaseHolderDependencies) {
    this.#name = lease;
    this.#dependencies = dependencies;
  }

  /**
   * Whether no other process can have taken it yet. False for a holder that cannot reach the store for as long as it
   * lasts.
   */
  get isHeld(): boolean {
    return this.#lease !== null && this.#dependencies.clock.monotonic() < this.#heldUntilMs;
  }

  /** Beats, or looks whether the lease is to be had. The lease that this process has now, or null. Never rejects. */
  async renew(): Promise<LeaseRecord | null> {
    try {
      if (this.#lease === null) await this.#ask();
      else await this.#beat(this.#lease);
    } catch (error) {
      // What was held is held on to: the store alone can say that it is over.
      this.#dependencies.retryableError("the lease of the book", error);
    }
    return this.#lease;
  }

  /** Gives it up, so that no process has to wait for its end. Never rejects. */
  async release(): Promise<void> {
    const lease = this.#lease;
    this.#lease = null;
    this.#seen = null;
    if (lease === null) return;
    try {
      await this.#dependencies.store.release(lease);
    } catch (error) {
      this.#dependencies.retryableError("giving up the lease of the book", error);
    }
  }

  async #beat(lease: LeaseRecord): Promise<void> {
    const beganMs = this.#dependencies.clock.monotonic();
    if (await this.#dependencies.store.beat(lease)) this.#heldUntilMs = beganMs + leaseMs;
    else this.#lease = null;
  }

  async #ask(): Promise<void> {
    const { store, clock, holder } = this.#dependencies;
    const found = await store.find(this.#name);
    if (!this.#isFree(found)) return;
    const beganMs = clock.monotonic();
    const lease = await store.take(this.#name, holder, found);
    invariant(
      lease === null || found === null || lease.epoch > found.epoch,
      "a lease that is taken has a higher epoch than its predecessor, which the store refuses from then on",
    );
    this.#lease = lease;
    this.#seen = null;
    if (this.#lease !== null) this.#heldUntilMs = beganMs + leaseMs;
  }

  #isFree(found: LeaseRecord | null): boolean {
    const { store, clock, holder } = this.#dependencies;
    // Where the database is this process's alone the one that held it before is gone.
    if (found === null || found.holder === "" || found.holder === holder || !store.isShared) return true;
    const nowMs = clock.monotonic();
    const seen = this.#seen;
    if (seen?.record.epoch === found.epoch && seen.record.beats === found.beats) return nowMs - seen.sinceMs >= leaseMs;
    this.#seen = { record: found, sinceMs: nowMs };
    return false;
  }
}
