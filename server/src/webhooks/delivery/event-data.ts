import { type HeldWebhookQueue, type QueuedDelivery, shortDetailMax, type WebhookRecord } from "../../state/index.ts";
import type { EventBody } from "../bodies/webhook-bodies.ts";
import type { DeliveryDependencies } from "./interfaces.ts";
import type { StoreCalls } from "./store-calls.ts";

/** How long the data of an event is waited for. */
const dataMsMax = 600_000;

/** `later` is not to be had now, `hopeless` for too long, `void` that there is nothing to deliver. */
export type FoundData =
  | { readonly kind: "found"; readonly body: EventBody; readonly row: QueuedDelivery }
  | { readonly kind: "later" | "hopeless" | "void" | "lost" };

interface EventDataDependencies extends Pick<DeliveryDependencies, "clock" | "store" | "bodies" | "events"> {
  readonly calls: StoreCalls;
}

/**
 * What the deliveries of a queue say. What was read once for a delivery is kept with it before it is first sent, so
 * that all attempts say the same.
 */
export class EventData {
  readonly #queue: HeldWebhookQueue;
  readonly #dependencies: EventDataDependencies;
  /** Since when data was not to be had, in monotonic milliseconds, by delivery. */
  readonly #missing = new Map<string, number>();

  constructor(queue: HeldWebhookQueue, dependencies: EventDataDependencies) {
    this.#queue = queue;
    this.#dependencies = dependencies;
  }

  /** `row` of the result has what is kept with it by now. */
  async of(row: QueuedDelivery, webhook: WebhookRecord): Promise<FoundData> {
    const { calls, bodies } = this.#dependencies;
    const whole = row.hasLongDetail === true ? await this.#whole(row) : row;
    if (whole === null) return { kind: "later" };
    // A store that fails says nothing of the data.
    const read = await calls.once("the data of an event", async () => ({ body: await bodies.read(whole, webhook) }));
    if (read === null) return { kind: "later" };
    if (read.body === null) return this.#missed(row.deliveryId);
    this.#missing.delete(row.deliveryId);
    if (read.body === "void") return { kind: "void" };
    return await this.#kept(whole, read.body);
  }

  /** Nothing more is asked of it. */
  forget(deliveryId: string): void {
    this.#missing.delete(deliveryId);
  }

  async #whole(row: QueuedDelivery): Promise<QueuedDelivery | null> {
    const { calls, store } = this.#dependencies;
    const detail = await calls.once("a long detail", () => store.detail(row.deliveryId));
    return detail === null ? null : { ...row, detail };
  }

  #missed(deliveryId: string): FoundData {
    const { clock, events } = this.#dependencies;
    const nowMs = clock.monotonic();
    const since = this.#missing.get(deliveryId) ?? nowMs;
    this.#missing.set(deliveryId, since);
    if (nowMs - since >= dataMsMax) return { kind: "hopeless" };
    events.postponed("data");
    return { kind: "later" };
  }

  async #kept(row: QueuedDelivery, body: EventBody): Promise<FoundData> {
    const { detail } = body;
    if (detail === null || row.detail !== null) return { kind: "found", body, row: shortened(row) };
    const { calls, store } = this.#dependencies;
    const isKept = await calls.once("the data of an account", () =>
      store.keepDetail(this.#queue, row.deliveryId, detail),
    );
    if (isKept !== true) return { kind: isKept === false ? "lost" : "later" };
    return { kind: "found", body, row: shortened({ ...row, detail }) };
  }
}

/** As the store reads it along with others. */
function shortened(row: QueuedDelivery): QueuedDelivery {
  if (row.detail === null || row.detail.length <= shortDetailMax) return row;
  return { ...row, detail: null, hasLongDetail: true };
}
