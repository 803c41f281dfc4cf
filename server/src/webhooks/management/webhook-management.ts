import { SluiceError } from "@sluice/contract/errors";
import type {
  Webhook,
  WebhookCreate,
  WebhookCreated,
  WebhookFilters,
  WebhookList,
  WebhookSecret,
  WebhookUpdate,
} from "@sluice/contract/schemas";
import type { Network, PlatformTier } from "@sluice/contract/tiers";
import {
  includesTier,
  type WebhookEventName,
  webhookEventNames,
  webhookEventSpec,
  webhookLimits,
  webhooksPerAccount,
} from "@sluice/contract/webhooks";
import type { Clock } from "@sluice/lib";
import type { InputFault } from "../../http/index.ts";
import type {
  WebhookContent,
  WebhookContentChanges,
  WebhookRecord,
  WebhookRetryPolicy,
  WebhookStore,
} from "../../state/index.ts";
import type { WebhookSecrets } from "../model/webhook-secrets.ts";
import { filtersOf, webhookBody } from "./bodies.ts";
import { eventFaults, filterFaults } from "./filter-faults.ts";
import { type TargetRules, targetFault } from "./target-fault.ts";

/** Who manages webhooks. */
export interface WebhookOwner {
  readonly accountId: string;
  readonly tier: PlatformTier;
  /** Whether its key may be used for the network. */
  readonly allowsNetwork: (network: Network) => boolean;
}

export interface WebhookManagementOptions {
  readonly target: TargetRules;
}

export interface WebhookManagementDependencies {
  readonly clock: Pick<Clock, "now">;
  readonly store: WebhookStore;
  readonly secrets: WebhookSecrets;
  /** A webhook was deleted: what waited for it is to be cleaned away. */
  readonly deleted: () => void;
  /** A webhook was created or changed by this process. */
  readonly changed: () => void;
  /** The networks whose chains this installation follows: elsewhere nothing would ever be told. */
  readonly followed: () => readonly Network[];
  /** Whether a source of the network tells of accounts. */
  readonly hasAccountSource: (network: Network) => boolean;
}

type Content = Pick<WebhookCreate, "url" | "events" | "filters">;

/** The webhooks of owner accounts, as the API shows them. Every method throws SluiceError. */
export class WebhookManagement {
  readonly #options: WebhookManagementOptions;
  readonly #dependencies: WebhookManagementDependencies;

  constructor(options: WebhookManagementOptions, dependencies: WebhookManagementDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** @throws {SluiceError} TIER_REQUIRED, INVALID_INPUT, NETWORK_NOT_ALLOWED; CONFLICT over the limit of the tier */
  async create(owner: WebhookOwner, network: Network, input: WebhookCreate): Promise<WebhookCreated> {
    const { store, secrets } = this.#dependencies;
    requireTier(owner.tier, input.events);
    requireNetwork(owner, network);
    await this.#requireValid(network, input, this.#networkFaults(network));
    const id = store.newId();
    const secret = secrets.draw();
    const most = webhooksPerAccount[owner.tier];
    const record = await store.create(
      { id, accountId: owner.accountId, network, secret: secrets.seal(id, secret), ...contentOf(input) },
      most,
    );
    if (record === null) {
      const message = `The account has ${most} webhooks, and the tier ${owner.tier} includes no more than that`;
      throw new SluiceError("CONFLICT", { message });
    }
    this.#dependencies.changed();
    return { ...(await this.#body(record)), secret };
  }

  /** Without the notices of each webhook but those that hold now. `network` is null for all that the key may see. */
  async list(
    owner: WebhookOwner,
    {
      network,
      ...page
    }: { readonly network: Network | null; readonly limit: number; readonly cursor?: string | undefined },
  ): Promise<WebhookList> {
    const { store, clock } = this.#dependencies;
    const { accountId } = owner;
    const { items, nextCursor } = await store.list({
      accountId,
      limit: page.limit,
      ...(page.cursor === undefined ? {} : { cursor: page.cursor }),
      ...(network === null ? {} : { network }),
    });
    const seen = items.filter((record) => owner.allowsNetwork(record.network));
    const queues = new Map((await store.queues(seen.map(({ id }) => id))).map((queue) => [queue.webhookId, queue]));
    const nowMs = clock.now();
    const webhooks = seen.map((record) =>
      webhookBody(record, { queue: queues.get(record.id) ?? null, notices: [], nowMs }),
    );
    return { webhooks, next_cursor: nextCursor };
  }

  async get(owner: WebhookOwner, id: string): Promise<Webhook> {
    return await this.#body(await this.own(owner, id));
  }

  /** @throws {SluiceError} NOT_FOUND, TIER_REQUIRED, INVALID_INPUT */
  async update(owner: WebhookOwner, id: string, input: WebhookUpdate): Promise<Webhook> {
    const record = await this.own(owner, id);
    const content: Content = {
      url: input.url ?? record.url,
      events: input.events ?? eventsOf(record),
      filters: input.filters ?? filtersOf(record),
    };
    if (input.events !== undefined) requireTier(owner.tier, input.events);
    if (input.url !== undefined || input.events !== undefined || input.filters !== undefined) {
      await this.#requireValid(record.network, content);
    }
    return await this.#changed(this.#dependencies.store.update(owner.accountId, id, changesOf(input)));
  }

  async delete(owner: WebhookOwner, id: string): Promise<void> {
    await this.own(owner, id);
    await this.#dependencies.store.delete(owner.accountId, id);
    this.#dependencies.changed();
    this.#dependencies.deleted();
  }

  async pause(owner: WebhookOwner, id: string): Promise<Webhook> {
    await this.own(owner, id);
    return await this.#changed(this.#dependencies.store.setStatus(owner.accountId, id, "paused"));
  }

  /** Of a paused one, and of one that was disabled. @throws {SluiceError} NOT_FOUND, TIER_REQUIRED */
  async resume(owner: WebhookOwner, id: string): Promise<Webhook> {
    requireTier(owner.tier, eventsOf(await this.own(owner, id)));
    return await this.#changed(this.#dependencies.store.setStatus(owner.accountId, id, "active"));
  }

  /**
   * A new secret, which signs along at once and alone after a day.
   *
   * @throws {SluiceError} NOT_FOUND; CONFLICT where as many secrets sign as may
   */
  async rotateSecret(owner: WebhookOwner, id: string): Promise<WebhookSecret> {
    const { store, secrets, clock } = this.#dependencies;
    await this.own(owner, id);
    const at = clock.now();
    const secret = secrets.draw();
    const overlapEndsAt = at + webhookLimits.overlapMs;
    const rotation = { nextSecret: secrets.seal(id, secret), overlapEndsAt, at };
    const rotated = await store.rotateSecret(owner.accountId, id, rotation);
    if (rotated === null) throw noWebhook();
    if (rotated === "full") {
      const message = `${webhookLimits.secrets} secrets of the webhook sign by now: end the overlap, or wait until it ends`;
      throw new SluiceError("CONFLICT", { message });
    }
    this.#dependencies.changed();
    return { webhook_id: id, secret, overlap_ends_at: new Date(overlapEndsAt).toISOString() };
  }

  /** The new secret signs alone from now on. */
  async endOverlap(owner: WebhookOwner, id: string): Promise<Webhook> {
    await this.own(owner, id);
    return await this.#changed(this.#dependencies.store.endOverlap(owner.accountId, id));
  }

  /** The record of a webhook that the owner may see. @throws {SluiceError} NOT_FOUND, NETWORK_NOT_ALLOWED */
  async own(owner: WebhookOwner, id: string): Promise<WebhookRecord> {
    const record = await this.#dependencies.store.get(owner.accountId, id);
    if (record === null) throw noWebhook();
    requireNetwork(owner, record.network);
    return record;
  }

  #networkFaults(network: Network): InputFault[] {
    const followed = this.#dependencies.followed();
    if (followed.includes(network)) return [];
    const others = followed.length === 0 ? "" : `; it follows ${followed.join(", ")}`;
    return [{ path: "network", message: `this server has no nodes of ${network}${others}` }];
  }

  async #requireValid(
    network: Network,
    { url, events, filters }: Content,
    more: readonly InputFault[] = [],
  ): Promise<void> {
    const wrongUrl = targetFault(url, this.#options.target);
    const rules = { hasAccountSource: this.#dependencies.hasAccountSource(network) };
    const faults = [
      ...more,
      ...(wrongUrl === null ? [] : [{ path: "url", message: wrongUrl }]),
      ...eventFaults(events),
      ...(await filterFaults(events, filters, rules)),
    ];
    if (faults.length > 0) throw invalid(faults);
  }

  async #changed(change: Promise<WebhookRecord | null>): Promise<Webhook> {
    const record = await change;
    if (record === null) throw noWebhook();
    this.#dependencies.changed();
    return await this.#body(record);
  }

  async #body(record: WebhookRecord): Promise<Webhook> {
    const { store, clock } = this.#dependencies;
    const [queues, notices] = await Promise.all([store.queues([record.id]), store.notices(record.id)]);
    return webhookBody(record, { queue: queues[0] ?? null, notices, nowMs: clock.now() });
  }
}

const noWebhook = (): SluiceError => new SluiceError("NOT_FOUND", { message: "The account has no such webhook" });

const invalid = (errors: readonly InputFault[]): SluiceError =>
  new SluiceError("INVALID_INPUT", { details: { errors: [...errors] } });

function requireNetwork({ allowsNetwork }: WebhookOwner, network: Network): void {
  if (!allowsNetwork(network)) throw new SluiceError("NETWORK_NOT_ALLOWED");
}

/** @throws {SluiceError} TIER_REQUIRED, naming the first event that the tier lacks and the tier that has it */
function requireTier(tier: PlatformTier, events: readonly WebhookEventName[]): void {
  for (const event of events) {
    const needed = webhookEventSpec(event).tier;
    if (includesTier(tier, needed)) continue;
    throw new SluiceError("TIER_REQUIRED", {
      message: `The event ${event} is included from the tier ${needed}; the account has the tier ${tier}`,
      details: { event, tier: needed },
    });
  }
}

/** The events of a record: they were checked before they were stored. */
function eventsOf({ events }: WebhookRecord): WebhookEventName[] {
  return events.flatMap((name) => webhookEventNames.filter((known) => known === name));
}

const retryPolicyOf = ({ max_attempts, backoff_multiplier }: WebhookCreate["retry_policy"]) => ({
  maxAttempts: max_attempts,
  backoffMultiplier: backoff_multiplier,
});
const filterText = (filters: WebhookFilters): string => JSON.stringify(filters);

const contentOf = (input: WebhookCreate): WebhookContent => ({
  url: input.url,
  events: input.events,
  filters: filterText(input.filters),
  description: input.description,
  retryPolicy: retryPolicyOf(input.retry_policy),
  fifo: input.fifo,
});

const policyChangesOf = ({
  max_attempts: maxAttempts,
  backoff_multiplier: backoffMultiplier,
}: NonNullable<WebhookUpdate["retry_policy"]>): Partial<WebhookRetryPolicy> => ({
  ...(maxAttempts === undefined ? {} : { maxAttempts }),
  ...(backoffMultiplier === undefined ? {} : { backoffMultiplier }),
});

const changesOf = (input: WebhookUpdate): WebhookContentChanges => ({
  ...(input.url === undefined ? {} : { url: input.url }),
  ...(input.events === undefined ? {} : { events: input.events }),
  ...(input.filters === undefined ? {} : { filters: filterText(input.filters) }),
  ...(input.description === undefined ? {} : { description: input.description }),
  ...(input.retry_policy === undefined ? {} : { retryPolicy: policyChangesOf(input.retry_policy) }),
  ...(input.fifo === undefined ? {} : { fifo: input.fifo }),
});
