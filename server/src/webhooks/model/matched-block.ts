import type { ChainEventName } from "@sluice/contract/webhooks";
import type { ConfirmedBlock } from "@sluice/encode";
import type { NewDelivery, WebhookStage } from "../../state/index.ts";
import type { IndexedWebhook } from "./compiled-webhook.ts";
import { deliveryIdOf, eventIdOf } from "./event-ids.ts";

export interface MatchedBlockOptions {
  readonly stage: WebhookStage;
  readonly genesisHash: string;
  readonly takes: (webhook: IndexedWebhook) => boolean;
}

interface Happened {
  readonly event: ChainEventName;
  readonly txIndex: number | null;
  readonly account: string | null;
  readonly eventId: string;
  readonly ordinal: number;
}

/** Where in its block an event happened, and what of the webhook's filters the block does not decide. */
type Told = Partial<Pick<NewDelivery, "txIndex" | "account" | "undecided">>;

/** What a block says to webhooks, gathered in the order of the chain: its events, and a delivery for each webhook. */
export class MatchedBlock {
  readonly deliveries: NewDelivery[] = [];
  readonly #block: ConfirmedBlock;
  readonly #options: MatchedBlockOptions;
  #last: Happened | null = null;
  #ordinal = 0;
  /** Events of the transaction that is being told, by name. */
  readonly #ofTransaction = new Map<ChainEventName, Happened>();

  constructor(block: ConfirmedBlock, options: MatchedBlockOptions) {
    this.#block = block;
    this.#options = options;
  }

  get stage(): WebhookStage {
    return this.#options.stage;
  }

  /** One event for one webhook; those of one transaction or one account come after each other. */
  tell(
    webhook: IndexedWebhook,
    event: ChainEventName,
    { txIndex = null, account = null, undecided = null }: Told,
  ): void {
    if (!this.#options.takes(webhook)) return;
    const { slot, blockhash } = this.#block;
    const { eventId, ordinal } = this.#happened(event, txIndex, account);
    this.deliveries.push({
      deliveryId: deliveryIdOf(webhook.id, eventId),
      webhookId: webhook.id,
      eventId,
      event,
      slot,
      blockhash,
      ordinal,
      txIndex,
      account,
      undecided,
    });
  }

  #happened(event: ChainEventName, txIndex: number | null, account: string | null): Happened {
    if (this.#last?.txIndex !== txIndex || this.#last.account !== account) this.#ofTransaction.clear();
    const known = this.#ofTransaction.get(event);
    if (known !== undefined) return known;
    const { slot, blockhash } = this.#block;
    const eventId = eventIdOf(this.#options.genesisHash, { event, slot, blockhash, txIndex, account });
    const happened = { event, txIndex, account, eventId, ordinal: this.#ordinal++ };
    this.#ofTransaction.set(event, happened);
    this.#last = happened;
    return happened;
  }
}
