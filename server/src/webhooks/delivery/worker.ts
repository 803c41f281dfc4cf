import type { Network } from "@sluice/contract/tiers";
import { BackgroundTask } from "@sluice/lib";
import type { HeldWebhookQueue, QueuedDelivery } from "../../state/index.ts";
import { AttemptPlaces } from "./attempt-places.ts";
import type { DeliveryDependencies } from "./interfaces.ts";
import { LiveWorkers } from "./live-workers.ts";
import { QueueRunner, type RunnerDependencies } from "./queue-runner.ts";
import { StoreCalls } from "./store-calls.ts";

export interface WebhookWorkerOptions {
  /** Of this process and no other, never used before. */
  readonly worker: string;
  /** The networks whose blocks this process can read. */
  readonly networks: () => readonly Network[];
  /** The same in all processes: a worker that does not beat for so long is presumed dead. */
  readonly leaseMs: number;
  /** Attempts under way in this process. */
  readonly attemptsMax?: number;
  /** Queues that this process holds. */
  readonly queuesMax?: number;
}

const attemptsMaxDefault = 2_048;
const queuesMaxDefault = 100_000;
/** Queues that one transaction takes or gives up. */
const batchMax = 250;
/** Transactions that take queues in one look: a restart with 100,000 of them takes seconds. */
const takesMax = 20;
const beatMsMax = 500;
const lookMs = 200;
/** Where no other process can add anything, what this one was told is looked at again only now and then. */
const lookAloneMs = 1_000;
/** A queue without deliveries is kept for so long, so that the next ones need not wait for its being taken. */
const idleMs = 60_000;
const drainMsMax = 8_000;
/** A worker has more than its share only when it has so many more, so that queues do not go to and fro. */
const shareTolerance = 1.2;

/**
 * A process that delivers. It holds whole queues under one heartbeat; what it does not see beating it takes over. All
 * deliveries of a queue go through one runner, so that order, rates and the pace of an endpoint are exact.
 */
export class WebhookWorker implements AsyncDisposable {
  readonly #options: Required<WebhookWorkerOptions>;
  readonly #dependencies: DeliveryDependencies;
  readonly #calls: StoreCalls;
  readonly #places: AttemptPlaces;
  readonly #others: LiveWorkers;
  readonly #runners = new Map<string, QueueRunner>();
  readonly #revisions = new Map<Network, bigint>();
  /** Rows of queues that this process does not hold yet. */
  readonly #handed = new Map<string, QueuedDelivery[]>();
  readonly #beating: BackgroundTask;
  readonly #looking: BackgroundTask;
  readonly #taking: BackgroundTask;
  #heldUntilMs = 0;
  #looks = 0;
  #isClosing = false;

  constructor(options: WebhookWorkerOptions, dependencies: DeliveryDependencies) {
    this.#options = { attemptsMax: attemptsMaxDefault, queuesMax: queuesMaxDefault, ...options };
    this.#dependencies = dependencies;
    this.#calls = new StoreCalls(dependencies);
    this.#places = new AttemptPlaces({ max: this.#options.attemptsMax });
    this.#others = new LiveWorkers({ worker: options.worker, leaseMs: options.leaseMs }, dependencies);
    const { clock, events, store } = dependencies;
    const onError = (error: unknown): void => events.fault("a worker of webhooks", error);
    const beatMs = Math.min(beatMsMax, Math.floor(options.leaseMs / 5));
    this.#beating = new BackgroundTask({ everyMs: beatMs }, { clock, work: () => this.#beat(), onError });
    const everyMs = store.isShared ? lookMs : lookAloneMs;
    this.#looking = new BackgroundTask({ everyMs }, { clock, work: () => this.#look(), onError });
    this.#taking = new BackgroundTask({}, { clock, work: () => this.#takeHanded(), onError });
  }

  /** Begins to deliver. Never rejects: what the store does not take is repeated. */
  async start(): Promise<void> {
    await this.#beating.run();
    await this.#looking.run();
  }

  /** Rows that this process has just committed: they are delivered without another look at the store. */
  appended(rows: readonly QueuedDelivery[]): void {
    if (this.#isClosing) return;
    const byQueue = new Map<string, QueuedDelivery[]>();
    for (const row of rows) {
      const list = byQueue.get(row.webhookId);
      if (list === undefined) byQueue.set(row.webhookId, [row]);
      else list.push(row);
    }
    let isNew = false;
    for (const [webhookId, list] of byQueue) {
      const runner = this.#runners.get(webhookId);
      if (runner !== undefined) runner.offer(list);
      else {
        const before = this.#handed.get(webhookId);
        this.#handed.set(webhookId, before === undefined ? list : [...before, ...list]);
        isNew = true;
      }
    }
    if (isNew) void this.#taking.run();
  }

  /** Something was added to this queue, or made due, by this process. */
  added(webhookId: string): void {
    this.#runners.get(webhookId)?.asked();
    if (!this.#runners.has(webhookId)) this.#handed.set(webhookId, this.#handed.get(webhookId) ?? []);
    void this.#taking.run();
  }

  /** Webhooks may have been changed by this process: they are read at once. */
  changed(): void {
    void this.#looking.run();
  }

  get #isHeld(): boolean {
    return this.#dependencies.clock.monotonic() < this.#heldUntilMs;
  }

  async #beat(): Promise<void> {
    const { clock, store } = this.#dependencies;
    const beganMs = clock.monotonic();
    const { worker, leaseMs } = this.#options;
    const wasHeld = this.#isHeld;
    const beaten = await this.#calls.once("a beat", () => store.beat(worker).then(() => true));
    if (beaten !== true) return;
    this.#heldUntilMs = beganMs + leaseMs;
    if (!wasHeld) for (const runner of this.#runners.values()) runner.pump();
  }

  async #look(): Promise<void> {
    if (this.#isClosing || !this.#isHeld) return;
    this.#looks += 1;
    await this.#buryDead();
    await this.#readChanges();
    await this.#count();
    await this.#takeFree();
    await this.#giveUp();
    this.#report();
  }

  /** Others that were not seen to beat for the time of a lease: what they held is free. */
  async #buryDead(): Promise<void> {
    const { store, events } = this.#dependencies;
    const workers = await this.#calls.once("the workers", () => store.workers());
    if (workers === null) return;
    for (const dead of this.#others.seen(workers, store.isShared)) {
      const queues = await this.#calls.once("a dead worker", () => store.forget(dead));
      if (queues !== null) events.workerDied(dead, queues);
    }
  }

  async #readChanges(): Promise<void> {
    const { webhooks } = this.#dependencies;
    for (const network of this.#options.networks()) {
      const seen = this.#revisions.get(network);
      const changes = await this.#calls.once("changes of webhooks", () =>
        seen === undefined
          ? webhooks.revision(network).then((revision) => ({ revision, ids: null }))
          : webhooks.changedSince(network, seen),
      );
      if (changes === null) continue;
      const ids = changes.ids ?? [...this.#runners.keys()];
      if (await this.#readWebhooks(ids)) this.#revisions.set(network, changes.revision);
    }
  }

  /** False when the store did not answer. */
  async #readWebhooks(ids: readonly string[]): Promise<boolean> {
    const held = ids.filter((id) => this.#runners.has(id));
    for (let at = 0; at < held.length; at += 100) {
      const part = held.slice(at, at + 100);
      const found = await this.#calls.once("webhooks", () => this.#dependencies.webhooks.read(part));
      if (found === null) return false;
      const byId = new Map(found.map((webhook) => [webhook.id, webhook]));
      for (const id of part) this.#runners.get(id)?.changed(byId.get(id) ?? null);
    }
    return true;
  }

  /** What the store says of the queues that are held here. */
  async #count(): Promise<void> {
    const { store } = this.#dependencies;
    const before = new Set(this.#runners.values());
    const held = await this.#calls.once("the held queues", () => store.held(this.#options.worker));
    if (held === null) return;
    for (const runner of before) {
      const { webhookId, epoch } = runner.queue;
      const found = held.get(webhookId);
      if (found?.epoch === epoch) runner.counted(found);
      else if (this.#runners.get(webhookId) === runner) this.#lost(runner);
    }
  }

  async #takeFree(): Promise<void> {
    const { store } = this.#dependencies;
    for (let turn = 0; turn < takesMax; turn += 1) {
      const room = Math.min(batchMax, this.#options.queuesMax - this.#runners.size);
      if (room <= 0 || this.#isClosing) return;
      const free = await this.#calls.once("free queues", () => store.free(this.#options.networks(), room));
      if (free === null || free.length === 0) return;
      const share = Math.max(1, Math.ceil(free.length / this.#others.count));
      const taken = await this.#take(free.slice(0, share), new Map());
      if (taken === 0 || free.length < room) return;
    }
  }

  /** Queues of which this process has just committed rows. */
  async #takeHanded(): Promise<void> {
    while (this.#handed.size > 0 && !this.#isClosing) {
      const handed = new Map([...this.#handed].slice(0, batchMax));
      for (const [id, rows] of handed) {
        this.#handed.delete(id);
        // It was taken while these were on their way.
        this.#runners.get(id)?.offer(rows);
        if (this.#runners.has(id)) handed.delete(id);
      }
      if (!this.#isHeld) continue;
      const { store } = this.#dependencies;
      const found = await this.#calls.once("queues", () => store.find([...handed.keys()]));
      const free = (found ?? []).filter(({ holder }) => holder === "");
      await this.#take(free, handed);
    }
  }

  async #take(queues: readonly HeldWebhookQueue[], handed: ReadonlyMap<string, readonly QueuedDelivery[]>) {
    const { store, events } = this.#dependencies;
    if (queues.length === 0) return 0;
    const taken = await this.#calls.once("taking queues", () => store.take(this.#options.worker, queues));
    for (const queue of taken ?? []) {
      this.#runners.get(queue.webhookId)?.stop();
      const runner = new QueueRunner(queue, this.#runnerDependencies());
      this.#runners.set(queue.webhookId, runner);
      const rows = handed.get(queue.webhookId) ?? [];
      // What was committed since it was taken comes by `appended`.
      if (queue.waiting === rows.length) runner.begin(rows);
      else runner.pump();
    }
    events.queuesTaken(taken?.length ?? 0);
    return taken?.length ?? 0;
  }

  #runnerDependencies(): RunnerDependencies {
    return {
      ...this.#dependencies,
      calls: this.#calls,
      places: this.#places,
      isHeld: () => this.#isHeld,
      lost: (runner) => this.#lost(runner),
    };
  }

  #lost(runner: QueueRunner): void {
    const { webhookId } = runner.queue;
    runner.stop();
    if (this.#runners.get(webhookId) !== runner) return;
    this.#runners.delete(webhookId);
    this.#dependencies.events.queueLost(webhookId);
  }

  /** Queues without work, of webhooks that are not active, and those beyond this worker's share. */
  async #giveUp(): Promise<void> {
    const { clock, store } = this.#dependencies;
    const nowMs = clock.monotonic();
    const resting = [...this.#runners.values()].filter(({ isBusy }) => !isBusy);
    const idle = resting.filter(({ isActive, busyAtMs }) => !isActive || nowMs - busyAtMs >= idleMs);
    const given = new Set(idle.slice(0, batchMax));
    for (const runner of await this.#excess(given)) given.add(runner);
    if (given.size === 0) return;
    for (const runner of given) {
      await runner.drain(AbortSignal.abort());
      this.#runners.delete(runner.queue.webhookId);
    }
    const queues = [...given].map(({ queue }) => queue);
    await this.#calls.once("giving up queues", () => store.release(queues));
  }

  async #excess(given: ReadonlySet<QueueRunner>): Promise<readonly QueueRunner[]> {
    const { store } = this.#dependencies;
    const { count } = this.#others;
    if (count < 2 || this.#looks % 5 !== 0) return [];
    const total = await this.#calls.once("all held queues", () => store.heldQueues());
    if (total === null) return [];
    const share = Math.ceil(total / count);
    const excess = this.#runners.size - given.size - share;
    if (excess <= 0 || this.#runners.size < share * shareTolerance) return [];
    const chosen = [...this.#runners.values()]
      .filter((runner) => !given.has(runner))
      .slice(0, Math.min(excess, batchMax - given.size));
    const controller = new AbortController();
    const timer = this.#dependencies.clock.after(drainMsMax, () => controller.abort());
    await Promise.all(chosen.map((runner) => runner.drain(controller.signal)));
    timer.cancel();
    return chosen;
  }

  #report(): void {
    let [waiting, open, aside, parked] = [0, 0, 0, 0];
    for (const runner of this.#runners.values()) {
      waiting += runner.waiting;
      if (runner.isCircuitOpen) open += 1;
      aside += runner.eventsAside;
      if (runner.isParked) parked += 1;
    }
    const { taken: underWay } = this.#places;
    this.#dependencies.events.held({ queues: this.#runners.size, waiting, underWay, open, aside, parked });
  }

  /** Begins nothing more, waits for what is under way, and gives all queues up. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosing) return;
    this.#isClosing = true;
    for (const task of [this.#looking, this.#taking]) await task[Symbol.asyncDispose]();
    const { clock, store } = this.#dependencies;
    const controller = new AbortController();
    const timer = clock.after(drainMsMax, () => controller.abort());
    await Promise.all([...this.#runners.values()].map((runner) => runner.drain(controller.signal)));
    timer.cancel();
    this.#runners.clear();
    await this.#beating[Symbol.asyncDispose]();
    await this.#calls.once("the end of a worker", () => store.forget(this.#options.worker));
  }
}
