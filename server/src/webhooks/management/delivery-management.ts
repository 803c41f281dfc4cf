import { SluiceError } from "@sluice/contract/errors";
import type {
  WebhookAccepted,
  WebhookDeliveries,
  WebhookDeliveryDetail,
  WebhookDeliveryQuery,
  WebhookRecovered,
  WebhookTest,
} from "@sluice/contract/schemas";
import { webhookLimits } from "@sluice/contract/webhooks";
import type { Clock } from "@sluice/lib";
import type { WebhookRecord } from "../../state/index.ts";
import type { AcceptedDelivery, DeliveryControl } from "../model/delivery-control.ts";
import { deliveryBody, deliveryDetailBody } from "./bodies.ts";
import { exampleData } from "./example-data.ts";
import type { WebhookManagement, WebhookOwner } from "./webhook-management.ts";

export interface DeliveryManagementDependencies {
  readonly clock: Pick<Clock, "now">;
  readonly webhooks: Pick<WebhookManagement, "own">;
  readonly deliveries: DeliveryControl;
}

/** What owners do with deliveries, as the API shows it. Every method throws SluiceError. */
export class DeliveryManagement {
  readonly #dependencies: DeliveryManagementDependencies;

  constructor(dependencies: DeliveryManagementDependencies) {
    this.#dependencies = dependencies;
  }

  async test(owner: WebhookOwner, id: string, { event, test_data: members }: WebhookTest): Promise<WebhookAccepted> {
    const { webhooks, deliveries } = this.#dependencies;
    const record = await webhooks.own(owner, id);
    return acceptedBody(await deliveries.test(record, { event, data: exampleData(event, members) }));
  }

  /** @throws {SluiceError} INVALID_INPUT for a time that is to come or over 14 days ago */
  async recover(owner: WebhookOwner, id: string, since: string): Promise<WebhookRecovered> {
    const { webhooks, deliveries, clock } = this.#dependencies;
    const record = await webhooks.own(owner, id);
    const [from, now] = [Date.parse(since), clock.now()];
    if (from < now - webhookLimits.exhaustedMs) throw wrongSince("must be at most 14 days ago");
    if (from > now) throw wrongSince("must not be in the future");
    return { recovered: await deliveries.recover(record, from) };
  }

  async list(owner: WebhookOwner, id: string, query: WebhookDeliveryQuery): Promise<WebhookDeliveries> {
    const record = await this.#dependencies.webhooks.own(owner, id);
    const { deliveries, nextCursor } = await this.#dependencies.deliveries.list(record, {
      limit: query.limit,
      cursor: query.cursor ?? null,
      pending: query.include === "pending",
      status: query.status ?? null,
    });
    return { deliveries: deliveries.map(deliveryBody), next_cursor: nextCursor };
  }

  async get(owner: WebhookOwner, deliveryId: string): Promise<WebhookDeliveryDetail> {
    const record = await this.#ownerOf(owner, deliveryId);
    const report = await this.#dependencies.deliveries.report(record, deliveryId);
    if (report === null) throw noDelivery();
    return deliveryDetailBody(report.delivery, report.attempts);
  }

  async retry(owner: WebhookOwner, deliveryId: string): Promise<WebhookAccepted> {
    const record = await this.#ownerOf(owner, deliveryId);
    const accepted = await this.#dependencies.deliveries.retry(record, deliveryId);
    if (accepted === null) throw noDelivery();
    return acceptedBody(accepted);
  }

  /** A delivery of another account's webhook is as one that is not there. */
  async #ownerOf(owner: WebhookOwner, deliveryId: string): Promise<WebhookRecord> {
    const webhookId = await this.#dependencies.deliveries.webhookOf(deliveryId);
    if (webhookId === null) throw noDelivery();
    try {
      return await this.#dependencies.webhooks.own(owner, webhookId);
    } catch (error) {
      if (error instanceof SluiceError && error.code === "NOT_FOUND") throw noDelivery();
      throw error;
    }
  }
}

const noDelivery = (): SluiceError =>
  new SluiceError("NOT_FOUND", { message: "No webhook of the account has such a delivery, or it is no longer kept" });

const wrongSince = (message: string): SluiceError =>
  new SluiceError("INVALID_INPUT", { details: { errors: [{ path: "since", message }] } });

const acceptedBody = ({ deliveryId, eventId }: AcceptedDelivery): WebhookAccepted => ({
  delivery_id: deliveryId,
  event_id: eventId,
});
