import { BoundedMap } from "@sluice/lib";
import type { QueuedDelivery, WebhookRecord } from "../../state/index.ts";
import { type BodySwitches, switchesOf } from "../model/compiled-webhook.ts";
import type { EventBodies } from "./event-bodies.ts";

/** What a delivery says, apart from its envelope. */
export interface EventBody {
  /** The time of the block, Unix milliseconds; of the delivery for what is of no block or of one without a time. */
  readonly atMs: number;
  /** JSON text. */
  readonly data: string;
  /** What of it cannot be made again and has to be kept with the delivery; null where all can. */
  readonly detail: string | null;
}

/** Webhooks whose switches are remembered. */
const webhooksMax = 10_000;

interface Known {
  readonly filters: string;
  readonly switches: BodySwitches;
}

/** What deliveries say, in the form that their webhooks ask for. */
export class WebhookBodies {
  readonly #bodies: Pick<EventBodies, "data">;
  readonly #known = new BoundedMap<string, Known>({ max: webhooksMax, evicts: "least-recently-used" });

  constructor(bodies: Pick<EventBodies, "data">) {
    this.#bodies = bodies;
  }

  /** Null while it cannot be had; `void` where there is nothing to deliver, as there was no such event. */
  async read(delivery: QueuedDelivery, webhook: WebhookRecord): Promise<EventBody | null | "void"> {
    const { createdAt, detail, blockhash } = delivery;
    // What is of no block has its data with it.
    if (blockhash === "") return { atMs: createdAt, data: detail ?? "{}", detail };
    const made = await this.#bodies.data({ ...delivery, network: webhook.network }, this.#switchesOf(webhook));
    if (made.ok) return { atMs: made.timeMs ?? createdAt, data: made.data, detail: made.detail };
    return made.code === "NO_EVENT" ? "void" : null;
  }

  #switchesOf({ id, filters }: WebhookRecord): BodySwitches {
    const known = this.#known.get(id);
    if (known?.filters === filters) return known.switches;
    const switches = switchesOf(filters);
    this.#known.set(id, { filters, switches });
    return switches;
  }
}
