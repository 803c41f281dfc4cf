import type { Timer } from "@sluice/lib";
import type {
  HeldWebhookQueue,
  QueuedDelivery,
  TakenWebhookQueue,
  WebhookQueueCounts,
  WebhookRecord,
} from "../../state/index.ts";
import type { SigningSecrets } from "../model/webhook-secrets.ts";
import type { AttemptPlaces } from "./attempt-places.ts";
import { EndpointPace, type EndpointStanding } from "./endpoint-pace.ts";
import { EventCircuits } from "./event-circuits.ts";
import { EventData } from "./event-data.ts";
import type { Exchanged } from "./exchange.ts";
import type { DeliveryDependencies, DeliveryEndpoint } from "./interfaces.ts";
import { factOf, outcomeOf } from "./outcome.ts";
import { isCharged, type Prepared, prepared } from "./prepared.ts";
import { QueueReader } from "./queue-reader.ts";
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
/** The longest that it is waited for anything. */
const waitMsMax = 60_000;
/** How often the store is looked at for more while events are set aside, whose number is not known. */
const asideMs = 1_000;
const postponedMs = 1_000;
/** How often it is looked whether an account has credits again. */
const parkedMs = 30_000;
/** Longer than an exchange may last. */
const retiredMs = 10_000;

/**
 * Delivers one queue, which this process holds: takes its deliveries in the order of the chain, at the rate of each
 * event and the pace of the endpoint, and writes what becomes of each attempt. Whatever its receiver does, it holds
 * nothing that others need but a bounded number of places.
 */
export class QueueRunner {
  readonly queue: HeldWebhookQueue;
  readonly #dependencies: RunnerDependencies;
  readonly #rows = new QueueRows();
  readonly #circuits = new EventCircuits(this.#rows);
  readonly #reader: QueueReader;
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
  #asked: number;
  #doubtedAtMs = Number.NEGATIVE_INFINITY;
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
    const isInOrder = (): boolean => this.#isInOrder;
    this.#reader = new QueueReader(this.queue, { ...dependencies, rows: this.#rows, isInOrder, wake: this.#wake });
    this.#parkedAt = taken.parkedAt;
    this.#asked = taken.asked;
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

  /** Types of events that are left alone as the receiver refuses them. */
  get eventsAside(): number {
    return this.#rows.aside.length;
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

  get #isInOrder(): boolean {
    return this.#webhook?.fifo === true;
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
      this.#circuits.clear();
    } else if (webhook.fifo) this.#circuits.clear();
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
  counted({ waiting, asked }: Pick<WebhookQueueCounts, "waiting" | "asked">): void {
    const nowMs = this.#dependencies.clock.monotonic();
    if (waiting > 0) this.#busyAtMs = nowMs;
    this.#rows.age(nowMs);
    if (asked !== this.#asked) {
      this.#asked = asked;
      this.asked();
      return;
    }
    const isSeldom = this.#rows.aside.length > 0 && nowMs - this.#doubtedAtMs < asideMs;
    if (waiting > this.#rows.size && !this.#reader.isReading && !isSeldom) {
      this.#doubtedAtMs = nowMs;
      this.#rows.doubt();
    }
    this.pump();
  }

  /** Its owner has added something or made something due: it is tried now, though the endpoint may have failed. */
  asked(): void {
    this.#busyAtMs = this.#dependencies.clock.monotonic();
    this.#rows.ask();
    this.#pace.endRest();
    this.#circuits.callAll();
    this.pump();
  }

  /** Begins what may begin now, and sees to it that it is called again when more may. */
  pump(): void {
    if (this.#isOver || !this.#isActive || this.#parkedAt !== null || this.#secrets === null) return;
    this.#recall();
    this.#reader.refill();
    while (this.#dependencies.isHeld()) {
      const waitMs = this.#beginNext();
      if (waitMs === null) return;
      if (waitMs > 0) {
        this.#arm(waitMs);
        return;
      }
    }
  }

  /**
   * Brings back events that were set aside as their attempts failed. While the endpoint as a whole is left alone that
   * is the one that failed longest ago, once nothing of the others is left.
   */
  #recall(): void {
    const { clock } = this.#dependencies;
    const nowMs = clock.monotonic();
    if (!this.#pace.isOpen) this.#circuits.callRested(nowMs);
    else if (this.#onWire === 0 && this.#pace.restUntilMs <= nowMs && this.#rows.isEmpty(clock.now()))
      this.#circuits.callOldest();
  }

  /** 0 when an attempt was begun; how long to wait for the next one; null when something else calls `pump`. */
  #beginNext(): number | null {
    const { clock, places } = this.#dependencies;
    if (this.#open >= openMax || this.#onWire >= this.#pace.limit) return null;
    if (this.#isInOrder && this.#open > 0) return null;
    const nowMs = clock.monotonic();
    if (this.#pace.restUntilMs > nowMs) return this.#pace.restUntilMs - nowMs;
    const row = this.#next();
    if (typeof row === "number") return row;
    const bucket = this.#bucketOf(row.event, nowMs);
    const waitMs = bucket?.waitMs(nowMs) ?? 0;
    if (waitMs > 0) return waitMs;
    const { standing } = this.#pace;
    if (!places.take(standing, this.#wake)) {
      this.#dependencies.events.postponed("place");
      return null;
    }
    bucket?.take();
    this.#rows.take(row);
    this.#circuits.begun(row.event);
    this.#busyAtMs = nowMs;
    void this.#attempt(row, standing);
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
    const isBlocked = this.#isInOrder && (retryAt !== null || !this.#rows.knowsRetries);
    const fresh = isBlocked ? null : this.#rows.nextFresh;
    if (fresh !== null) return fresh;
    const restMs = this.#circuits.nextAtMs - this.#dependencies.clock.monotonic();
    return Math.max(1, Math.min((retryAt ?? Number.POSITIVE_INFINITY) - nowMs, readAt - nowMs, restMs));
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

  async #attempt(row: QueuedDelivery, standing: EndpointStanding): Promise<void> {
    this.#onWire += 1;
    this.#open += 1;
    try {
      const prepared = await this.#prepared(row).finally(() => {
        this.#onWire -= 1;
        this.#dependencies.places.give(standing);
      });
      await this.#settle(row, prepared);
    } catch (error) {
      this.#dependencies.events.fault("an attempt", error);
      this.#circuits.undecided(row.event);
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
    return await prepared({ row, webhook, secrets, endpoint: this.#endpoint, data: this.#data }, this.#dependencies);
  }

  async #settle(row: QueuedDelivery, prepared: Prepared): Promise<void> {
    const { clock, random, calls, charges, store, events, attempts } = this.#dependencies;
    const webhook = this.#webhook;
    if (prepared.kind === "exchanged") this.#adjust(row, prepared.exchanged);
    else this.#circuits.undecided(row.event);
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
    if (outcome.kind === "exhausted") this.#health?.gaveUp();
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
  #adjust({ event }: QueuedDelivery, { verdict, isSlow, retryAfterMs, latencyMs }: Exchanged): void {
    const nowMs = this.#dependencies.clock.monotonic();
    const decides = this.#pace.isOpen;
    const outcome = verdict === "delivered" ? "answered" : isSlow ? "slow" : "failed";
    this.#pace.ended({ outcome, latencyMs }, nowMs, this.#onWire + 1);
    if (retryAfterMs !== null) this.#pace.rest(nowMs + retryAfterMs);
    if (verdict === "delivered") this.#circuits.succeeded(event);
    // In order, all that comes behind waits for what fails.
    else if (!this.#isInOrder) this.#circuits.failed(event, nowMs, decides);
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
    if ((await isCharged(charges, webhook.accountId)) !== true) return;
    charges.refund(webhook.accountId, nowMs);
    const isUnparked = await calls.once("unparking", () => store.park(this.queue, null));
    if (isUnparked === false) this.#lose();
    if (isUnparked !== true) return;
    this.#parkedAt = null;
    this.#rows.doubt();
    this.pump();
  }

  #arm(delayMs: number): void {
    const { clock } = this.#dependencies;
    const armedMs = Math.max(1, Math.min(delayMs, waitMsMax));
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
