import type { Network } from "@sluice/contract/tiers";
import { type Clock, invariant } from "@sluice/lib";
import type { LeaseRecord, LeaseStore } from "../state/index.ts";
import type { LeaseEvents } from "./events.ts";
import type { LeaseJob } from "./job.ts";

export interface LeaseTimes {
  /** A holder that does not beat is presumed dead after this time. */
  readonly leaseMs: number;
  /** How often the holder beats. */
  readonly beatMs: number;
  /** How often a process that stands by looks. */
  readonly lookMs: number;
}

const beatMsMax = 500;
/** A look is one read by primary key, on connections that leases have alone. */
const lookMsMax = 100;

/** Five beats in the time of a lease, or more. */
export const leaseTimesOf = (leaseMs: number): LeaseTimes => ({
  leaseMs,
  beatMs: Math.min(beatMsMax, Math.floor(leaseMs / 5)),
  lookMs: Math.min(lookMsMax, Math.floor(leaseMs / 5)),
});

export interface LeaseHolderOptions {
  readonly network: Network;
  readonly job: LeaseJob;
  /** The same in all processes. */
  readonly leaseMs: number;
}

export interface LeaseHolderDependencies {
  readonly store: LeaseStore;
  readonly clock: Pick<Clock, "monotonic">;
  /** Of this process and no other. */
  readonly holder: string;
  readonly retryableError: (what: string, error: unknown) => void;
  readonly events: LeaseEvents;
}

/**
 * Holds a lease, or waits for it. A holder beats; who sees no beat for the time of a lease by its own clock takes over.
 * No two clocks are compared: the holder counts from before its beat, who waits counts from after it saw it, so the
 * first has stopped before the other begins. Where a clock lies all the same, the store's fence refuses what the former
 * holder writes.
 */
export class LeaseHolder {
  readonly #name: string;
  readonly #job: LeaseJob;
  readonly #leaseMs: number;
  readonly #dependencies: LeaseHolderDependencies;
  #lease: LeaseRecord | null = null;
  #heldUntilMs = 0;
  /** Told once: a process that stands by looks ten times a second. */
  #isFailing = false;
  /** When a beat was last made, or seen of another holder. */
  #beatAtMs: number | null = null;
  /** When this process, standing by, last saw the lease. */
  #lookedAtMs: number | null = null;
  #seen: { readonly record: LeaseRecord; readonly sinceMs: number } | null = null;

  constructor({ network, job, leaseMs }: LeaseHolderOptions, dependencies: LeaseHolderDependencies) {
    // A database holds the leases of several networks.
    this.#name = `${network}:${job}`;
    this.#job = job;
    this.#leaseMs = leaseMs;
    this.#dependencies = dependencies;
  }

  /**
   * Whether no other process can have taken it yet. False for a holder that cannot reach the store for as long as it
   * lasts.
   */
  get isHeld(): boolean {
    return this.#lease !== null && this.#dependencies.clock.monotonic() < this.#heldUntilMs;
  }

  /** Whether another process was seen to hold it within the time of a lease; false where nobody is known to. */
  get isElsewhere(): boolean {
    if (this.#lease !== null || this.#seen === null || this.#beatAtMs === null) return false;
    return this.#dependencies.clock.monotonic() - this.#beatAtMs < this.#leaseMs;
  }

  /** Beats, or looks whether the lease is to be had. The lease that this process has now, or null. Never rejects. */
  async renew(): Promise<LeaseRecord | null> {
    try {
      if (this.#lease === null) await this.#ask();
      else await this.#beat(this.#lease);
      this.#isFailing = false;
    } catch (error) {
      // What was held is held on to: the store alone can say that it is over.
      if (!this.#isFailing) this.#dependencies.retryableError(`the lease of ${this.#job}`, error);
      this.#isFailing = true;
    }
    this.#report();
    return this.#lease;
  }

  #report(): void {
    const { events } = this.#dependencies;
    events.held(this.isHeld);
    const epoch = this.#lease?.epoch ?? this.#seen?.record.epoch;
    if (epoch !== undefined && this.#beatAtMs !== null) events.beatSeen(epoch, this.#beatAtMs);
  }

  /** Gives it up, so that no process has to wait for its end. Never rejects. */
  async release(): Promise<void> {
    const lease = this.#lease;
    this.#lease = null;
    this.#seen = null;
    this.#report();
    if (lease === null) return;
    try {
      await this.#dependencies.store.release(lease);
    } catch (error) {
      this.#dependencies.retryableError(`giving up the lease of ${this.#job}`, error);
    }
  }

  async #beat(lease: LeaseRecord): Promise<void> {
    const beganMs = this.#dependencies.clock.monotonic();
    if (await this.#dependencies.store.beat(lease)) {
      this.#heldUntilMs = beganMs + this.#leaseMs;
      this.#beatAtMs = beganMs;
    } else this.#lease = null;
  }

  async #ask(): Promise<void> {
    const { store, clock, holder, events } = this.#dependencies;
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
    if (lease === null) return;
    this.#heldUntilMs = beganMs + this.#leaseMs;
    this.#beatAtMs = beganMs;
    if (found !== null && found.holder !== "" && found.holder !== holder) events.takenOver(lease.epoch);
  }

  #isFree(found: LeaseRecord | null): boolean {
    const { store, clock, holder } = this.#dependencies;
    // Where the database is this process's alone the one that held it before is gone.
    if (found === null || found.holder === "" || found.holder === holder || !store.isShared) return true;
    const nowMs = clock.monotonic();
    // Silence counts while a beat could have been seen: after a store that was away the holder has its time again.
    const wasBlind = nowMs - (this.#lookedAtMs ?? nowMs) > this.#leaseMs / 2;
    this.#lookedAtMs = nowMs;
    const seen = this.#seen;
    const isSilent = seen?.record.epoch === found.epoch && seen.record.beats === found.beats;
    if (isSilent && !wasBlind) return nowMs - seen.sinceMs >= this.#leaseMs;
    if (!isSilent) this.#beatAtMs = nowMs;
    this.#seen = { record: found, sinceMs: nowMs };
    return false;
  }
}
