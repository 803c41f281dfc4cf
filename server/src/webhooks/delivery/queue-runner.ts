import type { Timer } from "@sluice/lib";
import type { HeldWebhookQueue, QueuedDelivery, TakenWebhookQueue, WebhookRecord } from "../../state/index.ts";
import type { SigningSecrets } from "../model/webhook-secrets.ts";
import type { AttemptPlaces } from "./attempt-places.ts";
import { EndpointPace } from "./endpoint-pace.ts";
import { EventData } from "./event-data.ts";
import { type Exchanged, exchange } from "./exchange.ts";
import type { DeliveryDependencies, DeliveryEndpoint } from "./interfaces.ts";
import { factOf, outcomeOf } from "./outcome.ts";
import { QueueRows } from "./queue-rows.ts";
import { RateBucket } from "./rate-bucket.ts";
import type { StoreCalls } from "./store-calls.ts";
import { WebhookHealth } from "./webhook-health.ts";

export interface RunnerDependencies extends DeliveryDependencies {
  readonly calls: StoreCalls;
  readonly places: AttemptPlaces;
  /** Whether no other process can have taken the queues of this one yet. */
  readonly isHeld: () => boolean;
  /** It has stopped by itself: the queue is another worker's. */
  readonly lost: (runner: QueueRunner) => void;
}

/** Attempts whose outcome is not written yet, and so what may be delivered twice after a kill. */
const openMax = 512;
/** Connections to one endpoint. */
const connectionsMax = 128;
/** Retries that are due within this time are read. */
const horizonMs = 60_000;
const readAgainMs = 1_000;
const postponedMs = 1_000;
/** How often it is looked whether an account has credits again. */
const parkedMs = 30_000;
/** Longer than an exchange may last. */
const retiredMs = 10_000;

/** What an attempt needs before it can begin, or why it cannot. */
type Prepared =
  | {
      readonly kind: "exchanged";
      readonly exchanged: Exchanged;
      readonly at: number;
      readonly takenAt: number;
      /** With what is kept with it by now. */
      readonly row: QueuedDelivery;
      /** What of its data cannot be made again; null where all can. */
      readonly detail: string | null;
    }
  | { readonly kind: "hopeless"; readonly at: number; readonly takenAt: number }
  | { readonly kind: "void"; readonly takenAt: number }
  | { readonly kind: "postponed" }
  | { readonly kind: "parked" }
  | { readonly kind: "lost" };

/**
 * Delivers one queue, which this process holds: takes its deliveries in the order of the chain, at the rate of each
 * event and the pace of the endpoint, and writes what becomes of each attempt. Whatever its receiver does, it holds
 * nothing that others need but a bounded number of places.
 */
export class QueueRunner {
  readonly queue: HeldWebhookQueue;
  readonly #dependencies: RunnerDependencies;
  readonly #rows = new QueueRows();
  readonly #buckets = new Map<string, RateBucket>();
  readonly #data: EventData;
  readonly #wake = (): void => this.pump();
  #health: WebhookHealth | null = null;
  #pace = new EndpointPace();
  #webhook: WebhookRecord | null = null;
  #secrets: SigningSecrets | null = null;
  #endpoint: DeliveryEndpoint | null = null;
  #parkedAt: number | null;
  #isActive = false;
  #isOver = false;
  #isReading = false;
  #onWire = 0;
  #open = 0;
  #timer: Timer | null = null;
  #timerAtMs = Number.POSITIVE_INFINITY;
  #busyAtMs: number;
  #drained: (() => void) | null = null;

  constructor(taken: TakenWebhookQueue, dependencies: RunnerDependencies) {
    this.queue = { webhookId: taken.webhookId, epoch: taken.epoch };
    this.#dependencies = dependencies;
    this.#data = new EventData(this.queue, dependencies);
    this.#parkedAt = taken.parkedAt;
    this.#busyAtMs = dependencies.clock.monotonic();
    this.changed(taken.webhook);
    if (this.#parkedAt !== null) this.#arm(parkedMs);
  }

  get waiting(): number {
    return this.#rows.size;
  }

  get underWay(): number {
    return this.#onWire;
  }

  get isCircuitOpen(): boolean {
    return this.#pace.isOpen;
  }

  get isParked(): boolean {
    return this.#parkedAt !== null;
  }

  /** Whether it may deliver at all; a queue that may not is given up once its attempts have ended. */
  get isActive(): boolean {
    return this.#isActive;
  }

  /** Whether something of it is still to be written. */
  get isBusy(): boolean {
    return this.#open > 0 || this.#health?.isBusy === true;
  }

  /** Monotonic milliseconds when it had something to deliver last. */
  get busyAtMs(): number {
    return this.#busyAtMs;
  }

  /** Its webhook is set otherwise; null for one that is deleted. */
  changed(webhook: WebhookRecord | null): void {
    const before = this.#webhook;
    this.#webhook = webhook;
    this.#isActive = webhook?.status === "active";
    if (webhook === null) return;
    this.#secrets = this.#openSecrets(webhook);
    if (before?.url !== webhook.url) {
      this.#retire();
      this.#endpoint = this.#dependencies.openEndpoint(webhook.url, connectionsMax);
      this.#pace = new EndpointPace();
    }
    if (this.#health === null) {
      const disabled = (): void => {
        this.#isActive = false;
      };
      this.#health = new WebhookHealth(webhook, { ...this.#dependencies, disabled });
    } else if (before?.statusAt !== webhook.statusAt) this.#health.renew(webhook.failingSince);
    this.pump();
  }

  /** The whole queue, handed over by who has just committed it. */
  begin(rows: readonly QueuedDelivery[]): void {
    this.#rows.begin(rows);
    this.pump();
  }

  /** Rows that have just been committed. */
  offer(rows: readonly QueuedDelivery[]): void {
    this.#rows.offer(rows);
    this.pump();
  }

  /** The store has so many: more than are here means that another process has added some. */
  counted(waiting: number): void {
    const nowMs = this.#dependencies.clock.monotonic();
    if (waiting > 0) this.#busyAtMs = nowMs;
    this.#rows.age(nowMs);
    if (waiting > this.#rows.size && !this.#isReading) this.#rows.doubt();
    this.pump();
  }

  /** Begins what may begin now, and sees to it that it is called again when more may. */
  pump(): void {
    if (this.#isOver || !this.#isActive || this.#parkedAt !== null || this.#secrets === null) return;
    this.#refill();
    while (this.#dependencies.isHeld()) {
      const waitMs = this.#beginNext();
      if (waitMs === null) return;
      if (waitMs > 0) {
        this.#arm(waitMs);
        return;
      }
    }
  }

  /** 0 when an attempt was begun; how long to wait for the next one; null when something else calls `pump`. */
  #beginNext(): number | null {
    const { clock, places } = this.#dependencies;
    if (this.#open >= openMax || this.#onWire >= this.#pace.limit) return null;
    if (this.#webhook?.fifo === true && this.#open > 0) return null;
    const nowMs = clock.monotonic();
    if (this.#pace.restUntilMs > nowMs) return this.#pace.restUntilMs - nowMs;
    const row = this.#next();
    if (typeof row === "number") return row;
    const bucket = this.#bucketOf(row.event, nowMs);
    const waitMs = bucket?.waitMs(nowMs) ?? 0;
    if (waitMs > 0) return waitMs;
    const isSuspect = this.#pace.isSuspect;
    if (!places.take(isSuspect, this.#wake)) {
      this.#dependencies.events.postponed("place");
      return null;
    }
    bucket?.take();
    this.#rows.take(row);
    this.#busyAtMs = nowMs;
    void this.#attempt(row, isSuspect);
    return 0;
  }

  /** The next delivery, or how long until there may be one. */
  #next(): QueuedDelivery | number {
    const nowMs = this.#dependencies.clock.now();
    const due = this.#rows.dueRetry(nowMs);
    if (due !== null) return due;
    const retryAt = this.#rows.nextRetryAt;
    const readAt = this.#rows.retriesUntil;
    // In order, what is tried again stands before all that was not tried. What is read anew while more waits than is
    // in memory holds nothing up.
    const isBlocked = this.#webhook?.fifo === true && (retryAt !== null || !this.#rows.knowsRetries);
    const fresh = isBlocked ? null : this.#rows.nextFresh;
    if (fresh !== null) return fresh;
    return Math.max(1, Math.min(retryAt ?? Number.POSITIVE_INFINITY, readAt) - nowMs);
  }

  #bucketOf(event: string, nowMs: number): RateBucket | null {
    const known = this.#buckets.get(event);
    if (known !== undefined) return known;
    const rate = this.#dependencies.rateOf(event);
    if (rate === null) return null;
    const bucket = new RateBucket(rate, nowMs);
    this.#buckets.set(event, bucket);
    return bucket;
  }

  async #attempt(row: QueuedDelivery, isSuspect: boolean): Promise<void> {
    this.#onWire += 1;
    this.#open += 1;
    try {
      const prepared = await this.#prepared(row).finally(() => {
        this.#onWire -= 1;
        this.#dependencies.places.give(isSuspect);
      });
      await this.#settle(row, prepared);
    } catch (error) {
      this.#dependencies.events.fault("an attempt", error);
      this.#rows.putBack(row);
      this.#arm(postponedMs);
    } finally {
      this.#open -= 1;
      if (this.#open === 0) this.#drained?.();
      this.pump();
    }
  }

  async #prepared(row: QueuedDelivery): Promise<Prepared> {
    const webhook = this.#webhook;
    const secrets = this.#signing();
    if (webhook === null || secrets === null) return { kind: "postponed" };
    const { clock, charges, events } = this.#dependencies;
    const takenAt = clock.now();
    const taken = await settled(charges.take(webhook.accountId));
    if (taken !== true) events.postponed(taken === false ? "credits" : "credits_unknown");
    if (taken !== true) return { kind: taken === false ? "parked" : "postponed" };
    const found = await this.#data.of(row, webhook);
    if (found.kind === "hopeless") return { kind: "hopeless", at: clock.now(), takenAt };
    if (found.kind === "void") return { kind: "void", takenAt };
    if (found.kind !== "found") {
      charges.refund(webhook.accountId, takenAt);
      return { kind: found.kind === "lost" ? "lost" : "postponed" };
    }
    const at = clock.now();
    if (row.attempts === 0) events.begun(row.event, at - row.createdAt);
    const of = { webhook, delivery: row, body: found.body, secrets, endpoint: this.#endpoint };
    const exchanged = await exchange(of, { clock });
    if (exchanged !== "overloaded") {
      const { row: kept, body } = found;
      return { kind: "exchanged", exchanged, at, takenAt, row: kept, detail: body.detail };
    }
    charges.refund(webhook.accountId, takenAt);
    return { kind: "postponed" };
  }

  async #settle(row: QueuedDelivery, prepared: Prepared): Promise<void> {
    const { clock, random, calls, charges, store, events, attempts } = this.#dependencies;
    const webhook = this.#webhook;
    if (prepared.kind === "postponed") {
      const dueAt = Math.max(clock.now() + postponedMs, row.dueAt ?? 0);
      this.#rows.later({ ...row, dueAt });
      return;
    }
    if (prepared.kind === "parked") {
      this.#rows.putBack(row);
      await this.#park();
      return;
    }
    if (prepared.kind === "lost" || webhook === null) return this.#lose();
    if (prepared.kind === "void") return await this.#remove(row, webhook.accountId, prepared.takenAt);
    const exchanged = prepared.kind === "exchanged" ? prepared.exchanged : null;
    const { at, takenAt } = prepared;
    if (exchanged !== null) this.#adjust(exchanged);
    const outcome = outcomeOf({ row, exchanged, at: clock.now() }, webhook.retryPolicy, random);
    const detail = prepared.kind === "exchanged" ? prepared.detail : null;
    const fact = factOf({ row, webhook, outcome, exchanged, at, detail });
    const kept = attempts.kept(fact);
    const isRecorded = await calls.until(
      "the outcome of an attempt",
      () => !this.#isOver,
      () => store.record(this.queue, outcome, kept),
    );
    if (isRecorded !== true) return this.#lose();
    if (outcome.kind === "failed") {
      charges.refund(webhook.accountId, takenAt);
      const kept = prepared.kind === "exchanged" ? prepared.row : row;
      this.#rows.later({ ...kept, attempts: outcome.attempts, dueAt: outcome.dueAt });
    } else {
      this.#rows.settle(row.deliveryId);
      this.#data.forget(row.deliveryId);
    }
    const latencyMs = exchanged?.latencyMs ?? 0;
    events.attempted({ event: row.event, outcome: outcome.kind, latencyMs });
    attempts.recorded(fact);
    if (exchanged === null) return;
    if (exchanged.verdict === "gone") this.#health?.disable("gone", at);
    else if (exchanged.verdict === "failed") this.#health?.failed(at);
    else this.#health?.succeeded(at);
  }

  /** There is nothing to deliver: the delivery is gone as if it had never been made. */
  async #remove({ deliveryId }: QueuedDelivery, accountId: string, takenAt: number): Promise<void> {
    const { calls, charges, store } = this.#dependencies;
    charges.refund(accountId, takenAt);
    const isRemoved = await calls.until(
      "a delivery of nothing",
      () => !this.#isOver,
      () => store.record(this.queue, { kind: "delivered", deliveryId }),
    );
    if (isRemoved === true) this.#rows.settle(deliveryId);
    else this.#lose();
  }

  /** Only a success keeps the pace: what refuses everything quickly is left alone as well as what hangs. */
  #adjust({ verdict, isSlow, retryAfterMs, latencyMs }: Exchanged): void {
    const nowMs = this.#dependencies.clock.monotonic();
    const outcome = verdict === "delivered" ? "answered" : isSlow ? "slow" : "failed";
    this.#pace.ended({ outcome, latencyMs }, nowMs, this.#onWire + 1);
    if (retryAfterMs !== null) this.#pace.rest(nowMs + retryAfterMs);
  }

  async #park(): Promise<void> {
    if (this.#parkedAt !== null) return;
    const { clock, calls, store } = this.#dependencies;
    const parkedAt = clock.now();
    this.#parkedAt = parkedAt;
    this.#arm(parkedMs);
    const isParked = await calls.once("parking", () => store.park(this.queue, parkedAt));
    if (isParked === false) this.#lose();
  }

  /** Whether the account has credits again. */
  async #unpark(): Promise<void> {
    const { clock, calls, charges, store } = this.#dependencies;
    const webhook = this.#webhook;
    if (webhook === null) return;
    this.#arm(parkedMs);
    const nowMs = clock.now();
    if ((await settled(charges.take(webhook.accountId))) !== true) return;
    charges.refund(webhook.accountId, nowMs);
    const isUnparked = await calls.once("unparking", () => store.park(this.queue, null));
    if (isUnparked === false) this.#lose();
    if (isUnparked !== true) return;
    this.#parkedAt = null;
    this.#rows.doubt();
    this.pump();
  }

  #refill(): void {
    const nowMs = this.#dependencies.clock.now();
    const wantsRetries = this.#rows.wantsRetries(nowMs);
    if (this.#isReading || !(this.#rows.wantsFresh || wantsRetries)) return;
    this.#isReading = true;
    void this.#read(wantsRetries)
      .finally(() => {
        this.#isReading = false;
      })
      .then(this.#wake);
  }

  async #read(wantsRetries: boolean): Promise<void> {
    const { clock, store, calls } = this.#dependencies;
    const { webhookId } = this.queue;
    const rows = this.#rows;
    rows.beginRead();
    try {
      if (wantsRetries) {
        // In order, all that is tried again comes first, however late.
        const until = this.#webhook?.fifo === true ? Number.MAX_SAFE_INTEGER : clock.now() + horizonMs;
        const limit = rows.retryLimit;
        const found = await calls.once("retries", () => store.retries(webhookId, until, limit));
        if (found === null) return await this.#readLater();
        rows.loadRetries(found, until, limit);
      }
      if (!rows.wantsFresh) return;
      const limit = rows.freshLimit;
      const found = await calls.once("deliveries", () => store.fresh(webhookId, limit));
      if (found === null) return await this.#readLater();
      rows.loadFresh(found, limit);
    } finally {
      rows.endRead();
    }
  }

  /** While the store fails nothing is read again at once. */
  #readLater(): Promise<void> {
    return new Promise((resolve) => {
      this.#dependencies.clock.after(readAgainMs, resolve);
    });
  }

  #arm(delayMs: number): void {
    const { clock } = this.#dependencies;
    const armedMs = Math.max(1, Math.min(delayMs, horizonMs));
    const atMs = clock.monotonic() + armedMs;
    if (this.#isOver || (this.#timer !== null && this.#timerAtMs <= atMs)) return;
    this.#timer?.cancel();
    this.#timerAtMs = atMs;
    this.#timer = clock.after(armedMs, () => {
      this.#timer = null;
      if (this.#parkedAt !== null) void this.#unpark();
      else this.pump();
    });
  }

  /** What signs now; it is opened again only when the time of a secret ends. */
  #signing(): SigningSecrets | null {
    const untilMs = this.#secrets?.untilMs ?? Number.POSITIVE_INFINITY;
    if (this.#webhook !== null && untilMs <= this.#dependencies.clock.now()) {
      this.#secrets = this.#openSecrets(this.#webhook);
    }
    return this.#secrets;
  }

  #openSecrets(webhook: WebhookRecord): SigningSecrets | null {
    const { clock, events, secrets } = this.#dependencies;
    try {
      return secrets.signing(webhook, clock.now());
    } catch (error) {
      events.secretClosed(webhook.id, error);
      return null;
    }
  }

  /** What is under way over the connections of an endpoint ends before they are closed. */
  #retire(): void {
    const endpoint = this.#endpoint;
    this.#endpoint = null;
    if (endpoint !== null) this.#dependencies.clock.after(retiredMs, () => endpoint[Symbol.dispose]());
  }

  #lose(): void {
    if (this.#isOver) return;
    this.stop();
    this.#dependencies.lost(this);
  }

  /** Begins nothing more; what is under way is not written any more. */
  stop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#timer?.cancel();
    this.#timer = null;
    this.#dependencies.places.forget(this.#wake);
    this.#health?.end();
    this.#retire();
  }

  /** Begins nothing more, and waits until all that is under way has been written, or until `signal` says to give up. */
  async drain(signal: AbortSignal): Promise<void> {
    this.#isActive = false;
    const over = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener("abort", () => resolve(), { once: true });
    });
    const ended = new Promise<void>((resolve) => {
      if (this.#open === 0) resolve();
      else this.#drained = resolve;
    });
    await Promise.race([over, ended.then(() => this.#health?.settled())]);
    this.stop();
  }
}

/** A rejection says that it is not known. */
async function settled(taken: boolean | Promise<boolean>): Promise<boolean | null> {
  try {
    return await taken;
  } catch {
    return null;
  }
}
