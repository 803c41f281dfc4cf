import { webhookLimits } from "@sluice/contract/webhooks";
import type { OverdueQueue, QueuedDelivery, TakenWebhookQueue, WebhookRecord } from "../../state/index.ts";
import { toldOf } from "../model/operational-events.ts";
import type { DeliveryDependencies } from "./interfaces.ts";
import { factOf } from "./outcome.ts";

export interface ParkedDeliveriesOptions {
  /** The worker of this process, which takes the queues meanwhile. */
  readonly worker: string;
}

/** Queues that are looked at in one go. */
const queuesMax = 100;
/** Deliveries that are given up together. */
const pageMax = 500;

/**
 * Gives up deliveries that have waited for credits for too long: they are failed then and can be recovered, and their
 * owner is told. Their queue is taken meanwhile, so whichever worker has them in memory does not send them any more.
 */
export class ParkedDeliveries {
  readonly #options: ParkedDeliveriesOptions;
  readonly #dependencies: Pick<DeliveryDependencies, "clock" | "random" | "store" | "attempts" | "events">;

  constructor(
    options: ParkedDeliveriesOptions,
    dependencies: Pick<DeliveryDependencies, "clock" | "random" | "store" | "attempts" | "events">,
  ) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** Rejects as the store does; what is left is given up by the next run. */
  async giveUp(): Promise<void> {
    const { clock, store } = this.#dependencies;
    const before = clock.now() - webhookLimits.parkedMs;
    for (const queue of await store.overdue(before, queuesMax)) await this.#giveUp(queue, before);
  }

  async #giveUp(queue: OverdueQueue, before: number): Promise<void> {
    const { store } = this.#dependencies;
    const [taken] = await store.take(this.#options.worker, [queue]);
    if (taken === undefined) return;
    try {
      const { webhook, parkedAt } = taken;
      // Its credits may have returned meanwhile.
      if (webhook === null || parkedAt === null || parkedAt > before) return;
      // Told first: what is told twice after a kill is known, and what is not told is not.
      await this.#tell(webhook.id, { deliveries: queue.deliveries, since: parkedAt });
      await this.#end(taken, { webhook, before });
    } finally {
      await store.release([taken]);
    }
  }

  async #tell(webhookId: string, { deliveries, since }: { readonly deliveries: number; readonly since: number }) {
    const { clock, random, store } = this.#dependencies;
    const [parked_since, given_up_at] = [since, clock.now()].map((at) => new Date(at).toISOString());
    const data = { deliveries, reason: "credits", parked_since, given_up_at };
    const news = { webhookId, code: "given_up", detail: { deliveries, since }, data } as const;
    await store.tell(toldOf({ ...news, event: "webhook.recoverable" }, random));
  }

  async #end(
    queue: TakenWebhookQueue,
    { webhook, before }: { readonly webhook: WebhookRecord; readonly before: number },
  ): Promise<void> {
    const { store, events } = this.#dependencies;
    for (;;) {
      const rows = await store.waitingSince(webhook.id, before, pageMax);
      const ended = await Promise.all(rows.map((row) => this.#endOne(queue, { webhook, row })));
      events.parkedGivenUp(ended.filter((isEnded) => isEnded).length);
      if (rows.length < pageMax || ended.includes(false)) return;
    }
  }

  /** False when another worker has taken the queue. */
  async #endOne(
    queue: TakenWebhookQueue,
    { webhook, row }: { readonly webhook: WebhookRecord; readonly row: QueuedDelivery },
  ): Promise<boolean> {
    const { clock, store, attempts } = this.#dependencies;
    const at = clock.now();
    const { deliveryId, attempts: made } = row;
    const ended = { deliveryId, attempts: made, at, statusCode: null, error: "CREDITS_EXHAUSTED" };
    const outcome = { kind: "exhausted", ...ended } as const;
    const fact = factOf({ row, webhook, outcome, exchanged: null, at, detail: null });
    const isEnded = await store.record(queue, outcome, attempts.kept(fact));
    if (isEnded) attempts.recorded(fact);
    return isEnded;
  }
}
