import type { WebhookRecord } from "../../state/index.ts";
import { disabledNews, toldOf } from "../model/operational-events.ts";
import type { DeliveryDependencies } from "./interfaces.ts";
import type { StoreCalls } from "./store-calls.ts";

/** Without one success for so long a webhook is disabled. */
const failingMsMax = 5 * 86_400_000;
/** How exactly the time of the last success is kept. */
const successMs = 60_000;
/**
 * How often an owner is told what can be recovered, at most. A receiver that fails at every second event has no outage
 * of its own each time.
 */
const recoverableMs = 600_000;

interface HealthDependencies extends Pick<DeliveryDependencies, "clock" | "random" | "store" | "webhooks" | "events"> {
  readonly calls: StoreCalls;
  /** The webhook is not active any more. */
  readonly disabled: () => void;
}

/**
 * What a webhook's owner has to know of how its receiver fares: since when everything fails, that it works again and
 * what can be recovered, and that it was disabled.
 */
export class WebhookHealth {
  readonly #webhookId: string;
  readonly #dependencies: HealthDependencies;
  #failingSince: number | null;
  #lastSuccessAt: number;
  /** Whether something may have been given up of which its owner was not told. */
  #mayBeUntold = true;
  #work: Promise<void> | null = null;
  /** Of a success while something was being written; null where there was none. */
  #succeededAt: number | null = null;
  #isOver = false;

  constructor(webhook: Pick<WebhookRecord, "id" | "failingSince" | "lastSuccessAt">, dependencies: HealthDependencies) {
    this.#webhookId = webhook.id;
    this.#dependencies = dependencies;
    this.#failingSince = webhook.failingSince;
    this.#lastSuccessAt = webhook.lastSuccessAt ?? 0;
  }

  /** Its owner has made it active again: failures are counted anew. */
  renew(failingSince: number | null): void {
    this.#failingSince = failingSince;
  }

  /** A delivery was given up. */
  gaveUp(): void {
    this.#mayBeUntold = true;
  }

  succeeded(at: number): void {
    if (this.#work !== null) {
      // It may be the only one for days, while what is being written says that attempts fail.
      this.#succeededAt = at;
      return;
    }
    if (this.#failingSince === null && at - this.#lastSuccessAt < successMs) return;
    this.#run(async () => {
      const { store, calls } = this.#dependencies;
      const since = await calls.once("a success", () => store.succeeded(this.#webhookId, at));
      this.#failingSince = null;
      this.#lastSuccessAt = at;
      if (this.#mayBeUntold) await this.#tellRecoverable(since, at);
    });
  }

  async #tellRecoverable(failingSince: number | null, at: number): Promise<void> {
    const { store, calls } = this.#dependencies;
    this.#mayBeUntold = false;
    const outcome = await calls.once("what can be recovered", () =>
      store.tellRecoverable({
        webhookId: this.#webhookId,
        everyMs: recoverableMs,
        told: ({ deliveries, since }) => this.#recoverable(deliveries, Math.min(since, failingSince ?? since), at),
      }),
    );
    if (outcome === null || outcome === "later") this.#mayBeUntold = true;
  }

  failed(at: number): void {
    if (this.#work !== null) return;
    const since = this.#failingSince;
    if (since !== null && at - since >= failingMsMax) this.disable("failing", at);
    if (since !== null) return;
    this.#run(async () => {
      const { store, calls } = this.#dependencies;
      this.#failingSince = await calls.once("a failure", () => store.failing(this.#webhookId, at));
    });
  }

  /** `gone` for an answer of 410. */
  disable(reason: "failing" | "gone", at: number): void {
    const { store, calls, events, random, disabled } = this.#dependencies;
    disabled();
    const before = this.#work;
    this.#run(async () => {
      await before;
      const of = { webhookId: this.#webhookId, reason, at };
      const told = toldOf(disabledNews(this.#webhookId, reason, at), random);
      const isDisabled = await calls.until(
        "disabling",
        () => !this.#isOver,
        () => store.disable({ ...of, ...told }),
      );
      if (isDisabled === true) events.webhookDisabled(of);
    });
  }

  #recoverable(deliveries: number, since: number, at: number) {
    const failing_since = new Date(since).toISOString();
    const recovered_at = new Date(at).toISOString();
    const data = { deliveries, failing_since, recovered_at };
    const news = { webhookId: this.#webhookId, code: "recoverable", detail: { deliveries, since }, data } as const;
    return toldOf({ ...news, event: "webhook.recoverable" }, this.#dependencies.random);
  }

  #run(work: () => Promise<void>): void {
    const run = work().catch((error: unknown) => this.#dependencies.events.fault("the state of a webhook", error));
    this.#work = run.then(() => {
      this.#work = null;
      const succeededAt = this.#succeededAt;
      this.#succeededAt = null;
      if (succeededAt !== null && !this.#isOver) this.succeeded(succeededAt);
    });
  }

  get isBusy(): boolean {
    return this.#work !== null;
  }

  /** Repeats nothing more. */
  end(): void {
    this.#isOver = true;
  }

  /** Resolves when nothing is being written. */
  async settled(): Promise<void> {
    while (this.#work !== null) await this.#work;
  }
}
