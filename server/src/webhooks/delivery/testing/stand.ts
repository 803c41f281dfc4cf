import { ManualClock, seededRandom } from "@sluice/lib";
import { withRealTimers } from "@sluice/lib/testing";
import type { EgressOutcome } from "../../../net/index.ts";
import { openWebhookState, type WebhookState } from "../../../state/testing/webhook-state.ts";
import { WebhookSecrets } from "../../model/webhook-secrets.ts";
import type { AttemptFact } from "../attempt-fact.ts";
import type { DeliveryEvents } from "../events.ts";
import type { DeliveryDependencies, DeliveryEndpoint } from "../interfaces.ts";
import type { DeliveryRate } from "../rate-bucket.ts";
import { WebhookWorker, type WebhookWorkerOptions } from "../worker.ts";

/** A call that a receiver was made, and how it is answered. */
export interface ReceivedCall {
  readonly url: string;
  readonly fields: ReadonlyMap<string, string>;
  readonly body: string;
  readonly deliveryId: string;
  readonly eventId: string;
  readonly attempt: number;
}

export type Receive = (call: ReceivedCall) => EgressOutcome | Promise<EgressOutcome>;

export const answered = (status: number, retryAfter: string | null = null, text = ""): EgressOutcome => ({
  kind: "answered",
  status,
  retryAfter,
  location: null,
  bytes: Buffer.from(text),
  isCut: false,
});

/** The object with some of its methods replaced. */
export function replaced<T extends object>(object: T, methods: Partial<T>): T {
  return new Proxy(object, {
    get: (target, name) => {
      const own: unknown = Reflect.get(methods, name);
      if (own !== undefined) return own;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

export interface StandOptions {
  readonly databaseUrl?: string | null;
  readonly receive?: Receive;
  readonly rateOf?: (event: string) => DeliveryRate | null;
}

export const silentEvents: DeliveryEvents = {
  attempted: () => undefined,
  begun: () => undefined,
  postponed: () => undefined,
  held: () => undefined,
  queuesTaken: () => undefined,
  workerDied: () => undefined,
  queueLost: () => undefined,
  webhookDisabled: () => undefined,
  secretClosed: () => undefined,
  storeFailed: () => undefined,
  storeWorks: () => undefined,
  factsDropped: () => undefined,
  parkedGivenUp: () => undefined,
  fault: (what, error) => {
    throw new Error(`a fault: ${what}`, { cause: error });
  },
};

/** Seals nothing. */
const openVault = {
  wrap: (_: string, secret: Uint8Array) => secret,
  unwrap: (_: string, stored: Uint8Array) => stored,
};
const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const log = { ...quiet, child: () => log };

/** Deliveries over a real store and a clock that is moved by hand, to receivers in memory. */
export class DeliveryStand implements AsyncDisposable {
  readonly clock: ManualClock;
  readonly opened: WebhookState;
  readonly received: ReceivedCall[] = [];
  readonly facts: AttemptFact[] = [];
  readonly told: string[] = [];
  readonly workers: WebhookWorker[] = [];
  receive: Receive;
  /** Credits that are left; null without an end. */
  credits: number | null = null;
  spent = 0;
  /** Whether the data of events is to be had. */
  hasData = true;
  /** Detail that reading the data of an event yields. */
  detail: string | null = null;
  dataReads = 0;
  readonly #rateOf: (event: string) => DeliveryRate | null;
  #drawn = 0;

  private constructor(opened: WebhookState, clock: ManualClock, options: StandOptions) {
    this.opened = opened;
    this.clock = clock;
    this.receive = options.receive ?? (() => answered(200));
    this.#rateOf = options.rateOf ?? (() => null);
  }

  static async open(options: StandOptions = {}): Promise<DeliveryStand> {
    const clock = new ManualClock(1_790_000_000_000);
    return new DeliveryStand(
      await openWebhookState(options.databaseUrl ?? null, withRealTimers(clock)),
      clock,
      options,
    );
  }

  get store() {
    return this.opened.state.webhookDeliveries;
  }

  async worker(
    options: Partial<WebhookWorkerOptions> = {},
    replace: Partial<DeliveryDependencies> = {},
  ): Promise<WebhookWorker> {
    this.#drawn += 1;
    const worker = new WebhookWorker(
      { worker: `worker-${this.#drawn}`, networks: () => ["devnet"], leaseMs: 5_000, ...options },
      { ...this.dependencies(), ...replace },
    );
    this.workers.push(worker);
    await worker.start();
    return worker;
  }

  dependencies(): DeliveryDependencies {
    const { state } = this.opened;
    return {
      clock: this.clock,
      random: seededRandom(7),
      log,
      store: state.webhookDeliveries,
      webhooks: state.webhooks,
      bodies: {
        read: async (delivery) => {
          this.dataReads += 1;
          if (!this.hasData) return null;
          const data = delivery.detail ?? this.detail ?? `{"slot":${delivery.slot}}`;
          return { atMs: 1_790_000_000_000 + Number(delivery.slot), data, detail: this.detail };
        },
      },
      charges: {
        take: () => {
          if (this.credits !== null && this.credits <= 0) return false;
          if (this.credits !== null) this.credits -= 1;
          this.spent += 1;
          return true;
        },
        refund: () => {
          if (this.credits !== null) this.credits += 1;
          this.spent -= 1;
        },
      },
      secrets: new WebhookSecrets({ random: seededRandom(8), vault: openVault }),
      openEndpoint: (url) => this.#endpoint(url),
      attempts: { kept: () => null, recorded: (fact) => void this.facts.push(fact) },
      events: {
        ...silentEvents,
        webhookDisabled: ({ webhookId, reason }) => void this.told.push(`disabled ${webhookId} ${reason}`),
        queueLost: (webhookId) => void this.told.push(`lost ${webhookId}`),
        storeFailed: ({ what }) => void this.told.push(`failed ${what}`),
      },
      rateOf: this.#rateOf,
    };
  }

  #endpoint(url: string): DeliveryEndpoint {
    return {
      post: async ({ fields, body }) => {
        const named = new Map(fields);
        const call = {
          url,
          fields: named,
          body,
          deliveryId: named.get("X-Service-Delivery-ID") ?? "",
          eventId: named.get("X-Service-Event-ID") ?? "",
          attempt: Number(named.get("X-Service-Attempt")),
        };
        this.received.push(call);
        return await this.receive(call);
      },
      [Symbol.dispose]: () => undefined,
    };
  }

  /** Lets everything run that needs no time of the clock. */
  async settle(turns = 60): Promise<void> {
    for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Moves the clock in steps, so that what waits for timers goes on between them. */
  async pass(durationMs: number, stepMs = 250): Promise<void> {
    for (let passed = 0; passed < durationMs; passed += stepMs) {
      this.clock.advance(Math.min(stepMs, durationMs - passed));
      await this.settle(20);
    }
    await this.settle();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const worker of this.workers) {
      const ended = worker[Symbol.asyncDispose]();
      // What hangs is given up by the clock.
      for (let step = 0; step < 40; step += 1) {
        this.clock.advance(500);
        await this.settle(5);
      }
      await ended;
    }
    await this.opened[Symbol.asyncDispose]();
  }
}
