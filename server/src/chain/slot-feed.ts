import { type CommitmentName, commitments } from "@sluice/contract/rpc";
import type { Clock, Random, Timer } from "@sluice/lib";
import { type ChainValue, memberOf } from "./integers.ts";
import { callNode, type NodeEndpoint } from "./node-call.ts";
import { PubSubClient, type PubSubSubscription } from "./pubsub-client.ts";

export interface SlotFeedOptions extends NodeEndpoint {
  /** The node's PubSub address. */
  readonly ws: string;
  /** How often a commitment without a subscription is asked for; 400 ms is a slot. */
  readonly pollMs?: number;
  /**
   * A commitment that was subscribed but silent for this long is asked for as well: a half-open socket reports nothing.
   */
  readonly silenceMs?: number;
}

/** Receives each change of the newest slot of a commitment. */
export type SlotHandler = (commitment: CommitmentName, slot: bigint) => void;

interface Track {
  slot: bigint | null;
  subscribed: boolean;
  /** Monotonic time of the last notice or answer. */
  reportedAtMs: number;
  /** Monotonic time of the last notice by subscription. */
  noticedAtMs: number;
  /** Monotonic time at which the slot last changed. */
  movedAtMs: number;
}

const pollTimeoutMs = 2_000;

/**
 * What one node says the newest slot of each commitment is. Fed by slotSubscribe (processed), slotsUpdatesSubscribe
 * (confirmed, where the node offers it) and rootSubscribe (finalized), and by polling getSlot wherever a subscription
 * is refused, lost or silent. Feeds the cache's expiry and the upstreams' health.
 */
export class SlotFeed implements AsyncDisposable {
  readonly #options: SlotFeedOptions;
  readonly #clock: Clock;
  readonly #onSlot: SlotHandler;
  readonly #tracks: Readonly<Record<CommitmentName, Track>>;
  readonly #client: PubSubClient;
  readonly #polling = new Set<CommitmentName>();
  #timer: Timer | null = null;
  #closed = false;

  constructor(options: SlotFeedOptions, dependencies: { clock: Clock; random: Random; onSlot: SlotHandler }) {
    this.#options = options;
    this.#clock = dependencies.clock;
    this.#onSlot = dependencies.onSlot;
    const track = (): Track => ({
      slot: null,
      subscribed: false,
      reportedAtMs: Number.NEGATIVE_INFINITY,
      noticedAtMs: Number.NEGATIVE_INFINITY,
      movedAtMs: Number.NEGATIVE_INFINITY,
    });
    this.#tracks = { processed: track(), confirmed: track(), finalized: track() };
    this.#client = new PubSubClient(
      { url: options.ws, headers: options.headers },
      { clock: this.#clock, random: dependencies.random, subscriptions: this.#subscriptions() },
    );
  }

  start(): void {
    this.#client.start();
    this.#timer ??= this.#clock.every(this.#options.pollMs ?? 400, () => this.#poll(), { keepsAlive: true });
    this.#poll();
  }

  slotOf(commitment: CommitmentName): bigint | null {
    return this.#tracks[commitment].slot;
  }

  /** True while the node reports new slots of this commitment: by notice, or by polling within a few slots' time. */
  isLive(commitment: CommitmentName): boolean {
    return this.#clock.monotonic() - this.#tracks[commitment].reportedAtMs < this.#silenceMs() * 2;
  }

  /** Milliseconds since the node last reported a slot; infinite when it never did. */
  silentForMs(): number {
    const reportedAtMs = Math.max(...Object.values(this.#tracks).map((track) => track.reportedAtMs));
    return this.#clock.monotonic() - reportedAtMs;
  }

  /** Milliseconds since the slot of this commitment last changed; infinite before the first. */
  stillForMs(commitment: CommitmentName): number {
    return this.#clock.monotonic() - this.#tracks[commitment].movedAtMs;
  }

  #silenceMs(): number {
    return this.#options.silenceMs ?? 2_500;
  }

  #subscriptions(): readonly PubSubSubscription[] {
    const subscription = (
      commitment: CommitmentName,
      method: string,
      slotIn: (result: ChainValue) => ChainValue | undefined,
    ): PubSubSubscription => ({
      method,
      params: "[]",
      notify: (result) => {
        const slot = slotIn(result);
        if (typeof slot !== "bigint") return;
        this.#tracks[commitment].noticedAtMs = this.#clock.monotonic();
        this.#report(commitment, slot);
        // A node without notices of confirmation is asked at each new slot, which is sooner than the next poll.
        if (commitment === "processed" && !this.#isFlowing("confirmed")) void this.#ask("confirmed");
      },
      active: (active) => {
        this.#tracks[commitment].subscribed = active;
        this.#tracks[commitment].noticedAtMs = this.#clock.monotonic();
      },
    });
    return [
      subscription("processed", "slotSubscribe", (result) => memberOf(result, "slot")),
      subscription("confirmed", "slotsUpdatesSubscribe", (result) =>
        memberOf(result, "type") === "optimisticConfirmation" ? memberOf(result, "slot") : undefined,
      ),
      subscription("finalized", "rootSubscribe", (result) => result),
    ];
  }

  #report(commitment: CommitmentName, slot: bigint): void {
    if (this.#closed) return;
    const track = this.#tracks[commitment];
    track.reportedAtMs = this.#clock.monotonic();
    if (track.slot === slot) return;
    track.slot = slot;
    track.movedAtMs = track.reportedAtMs;
    this.#onSlot(commitment, slot);
  }

  /** True when notices of this commitment can be relied upon; an accepted subscription that stays silent cannot. */
  #isFlowing(commitment: CommitmentName): boolean {
    const track = this.#tracks[commitment];
    return track.subscribed && this.#clock.monotonic() - track.noticedAtMs <= this.#silenceMs();
  }

  #poll(): void {
    for (const commitment of commitments) {
      if (!this.#isFlowing(commitment)) void this.#ask(commitment);
    }
  }

  async #ask(commitment: CommitmentName): Promise<void> {
    if (this.#closed || this.#polling.has(commitment)) return;
    this.#polling.add(commitment);
    const outcome = await callNode(this.#options, {
      method: "getSlot",
      params: `[{"commitment":"${commitment}"}]`,
      timeoutMs: pollTimeoutMs,
    });
    this.#polling.delete(commitment);
    if (outcome.ok && typeof outcome.result === "bigint") this.#report(commitment, outcome.result);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    this.#timer = null;
    await this.#client[Symbol.asyncDispose]();
  }
}
