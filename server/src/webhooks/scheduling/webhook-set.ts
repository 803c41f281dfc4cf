import { createHash } from "node:crypto";
import type { Network } from "@sluice/contract/tiers";
import type { AccountDataEncoding } from "@sluice/contract/webhooks";
import { type Random, Serial, SingleFlight } from "@sluice/lib";
import type { BehindWebhook, ShardSchedule, WebhookRecord, WebhookStage, WebhookStore } from "../../state/index.ts";
import { type CompiledWebhook, compileWebhook } from "../model/compiled-webhook.ts";
import { WebhookIndex } from "../model/webhook-index.ts";
import type { SchedulingEvents } from "./events.ts";
import { shardOf } from "./shards.ts";

export interface WebhookSetOptions {
  readonly network: Network;
  readonly shard: number;
  readonly shards: number;
}

export interface WebhookSetDependencies {
  readonly webhooks: Pick<WebhookStore, "revision" | "changedSince" | "page" | "read">;
  readonly schedule: Pick<ShardSchedule, "behind" | "join">;
  readonly random: Random;
  readonly events: Pick<SchedulingEvents, "schedulerLoaded" | "schedulerUnreadable" | "schedulerBehind">;
  /** Accounts that a webhook watches, whose data are to be known before a block writes them. */
  readonly observe: (accounts: readonly string[], encoding: AccountDataEncoding) => void;
}

/** A webhook that is matched, and where it is where that is not with all others. */
export interface ScheduledWebhook {
  readonly id: string;
  /** The stages at which it is told anything. */
  readonly stages: ReadonlySet<WebhookStage>;
  /** The cursor up to which it was told; null where it goes with the others. */
  readonly behind: Record<WebhookStage, string | null>;
  behindSince: number;
  /** Of all that matching knows of it: other changes leave its place in the index. */
  readonly form: string;
}

const pageMax = 500;
const readMax = 100;
/** Accounts of one webhook that are observed before a block writes them; of others the first write is told. */
const observedMax = 1_000;

/** The active webhooks of a shard, as of one revision. */
export class WebhookSet {
  readonly #options: WebhookSetOptions;
  readonly #dependencies: WebhookSetDependencies;
  readonly #webhooks = new Map<string, ScheduledWebhook>();
  /** What changes who is behind, one after the other. */
  readonly #places = new Serial();
  readonly #reloading = new SingleFlight(() => this.#reload());
  readonly index: WebhookIndex;
  #revision: bigint | null = null;

  constructor(options: WebhookSetOptions, dependencies: WebhookSetDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.index = new WebhookIndex(dependencies.random);
  }

  /** What the index holds is as of it. */
  get revision(): bigint {
    return this.#revision ?? -1n;
  }

  find(id: string): ScheduledWebhook | undefined {
    return this.#webhooks.get(id);
  }

  /** Those that are told something at a stage and go with the others. */
  live(stage: WebhookStage): ScheduledWebhook[] {
    return [...this.#webhooks.values()].filter(({ stages, behind }) => stages.has(stage) && behind[stage] === null);
  }

  behind(stage: WebhookStage): ScheduledWebhook[] {
    return [...this.#webhooks.values()].filter(({ behind }) => behind[stage] !== null);
  }

  /** They are told nothing more with the others. */
  fallBehind(ids: readonly string[], at: { readonly stage: WebhookStage; readonly from: string; nowMs: number }): void {
    for (const id of ids) {
      const webhook = this.#webhooks.get(id);
      if (webhook === undefined) continue;
      if (webhook.behind.confirmed === null && webhook.behind.finalized === null) webhook.behindSince = at.nowMs;
      webhook.behind[at.stage] = at.from;
    }
    this.#report();
  }

  moved(ids: Iterable<string>, at: { readonly stage: WebhookStage; readonly cursor: string | null }): void {
    for (const id of ids) {
      const webhook = this.#webhooks.get(id);
      if (webhook !== undefined) webhook.behind[at.stage] = at.cursor;
    }
    this.#report();
  }

  /** Takes the changes since the present revision; all webhooks at first. */
  reload(): Promise<void> {
    return this.#reloading.run();
  }

  /** They go with the others from now on; false, and all is read again, where the store has them elsewhere. */
  async join(stage: WebhookStage, webhooks: readonly BehindWebhook[]): Promise<boolean> {
    const isJoined = await this.#places.run(async () => {
      if (!(await this.#dependencies.schedule.join(stage, webhooks))) return false;
      this.moved(
        webhooks.map(({ webhookId }) => webhookId),
        { stage, cursor: null },
      );
      return true;
    });
    if (!isJoined) await this.refreshBehind();
    return isJoined;
  }

  /** Reads again which webhooks are behind, and where. Apart from joining, which it would else take back. */
  async refreshBehind(): Promise<void> {
    await this.#places.run(() => this.#refreshBehind());
  }

  async #refreshBehind(): Promise<void> {
    const queues = await this.#dependencies.schedule.behind();
    const found = new Map(queues.map((queue) => [queue.webhookId, queue]));
    for (const webhook of this.#webhooks.values()) {
      const queue = found.get(webhook.id);
      webhook.behind.confirmed = queue?.cursors.confirmed ?? null;
      webhook.behind.finalized = queue?.cursors.finalized ?? null;
      webhook.behindSince = queue?.since ?? 0;
    }
    for (const { webhookId, cursors } of queues) {
      if (this.#webhooks.has(webhookId) || !this.#isOurs(webhookId)) continue;
      for (const stage of ["confirmed", "finalized"] as const) await this.#leave(webhookId, stage, cursors[stage]);
    }
    this.#report();
  }

  async #reload(): Promise<void> {
    const { network } = this.#options;
    const { webhooks } = this.#dependencies;
    if (this.#revision === null) return await this.#load();
    const { revision, ids } = await webhooks.changedSince(network, this.#revision);
    if (ids === null) return await this.#load();
    const ours = ids.filter((id) => this.#isOurs(id));
    for (let first = 0; first < ours.length; first += readMax) {
      const asked = ours.slice(first, first + readMax);
      const found = new Map((await webhooks.read(asked)).map((webhook) => [webhook.id, webhook]));
      for (const id of asked) await this.#take(id, found.get(id));
    }
    this.#revision = revision;
    this.#dependencies.events.schedulerLoaded(network, this.#webhooks.size);
  }

  async #load(): Promise<void> {
    const { network } = this.#options;
    const { webhooks, events } = this.#dependencies;
    // What changes while pages are read is among the changes after this revision.
    const revision = await webhooks.revision(network);
    const seen = new Set<string>();
    let after = "";
    for (;;) {
      const page = await webhooks.page(network, after, pageMax);
      for (const webhook of page) {
        if (!this.#isOurs(webhook.id)) continue;
        seen.add(webhook.id);
        await this.#take(webhook.id, webhook);
      }
      const last = page.at(-1);
      if (last === undefined) break;
      after = last.id;
    }
    for (const id of [...this.#webhooks.keys()]) if (!seen.has(id)) await this.#take(id, undefined);
    await this.refreshBehind();
    this.#revision = revision;
    events.schedulerLoaded(network, this.#webhooks.size);
  }

  #isOurs(id: string): boolean {
    return shardOf(id, this.#options.shards) === this.#options.shard;
  }

  /** A webhook as it is now; undefined where it was deleted. */
  async #take(id: string, webhook: WebhookRecord | undefined): Promise<void> {
    const present = this.#webhooks.get(id);
    const form = webhook?.status === "active" ? formOf(webhook) : null;
    if (form !== null && form === present?.form) return;
    const compiled = webhook?.status === "active" ? this.#compiled(webhook) : null;
    if (compiled === null || form === null) {
      this.index.remove(id);
      this.#webhooks.delete(id);
      if (present === undefined || webhook === undefined) return;
      // What a webhook that is not active has not been told is not told any more.
      for (const stage of ["confirmed", "finalized"] as const) await this.#leave(id, stage, present.behind[stage]);
      return;
    }
    this.index.add(compiled);
    const behind = present?.behind ?? { confirmed: null, finalized: null };
    const behindSince = present?.behindSince ?? 0;
    this.#webhooks.set(id, { id, stages: stagesOf(compiled), behind, behindSince, form });
    const { updates } = compiled;
    if (updates?.dataAlone === true) {
      this.#dependencies.observe(updates.accounts.slice(0, observedMax), updates.encoding);
    }
  }

  #compiled(webhook: WebhookRecord): CompiledWebhook | null {
    try {
      return compileWebhook(webhook);
    } catch (error) {
      this.#dependencies.events.schedulerUnreadable(this.#options.network, webhook.id, error);
      return null;
    }
  }

  async #leave(webhookId: string, stage: WebhookStage, from: string | null): Promise<void> {
    if (from !== null) await this.#dependencies.schedule.join(stage, [{ webhookId, from }]);
  }

  #report(): void {
    const { network } = this.#options;
    for (const stage of ["confirmed", "finalized"] as const) {
      this.#dependencies.events.schedulerBehind(network, stage, this.behind(stage).length);
    }
  }
}

function formOf({ events, filters, createdAt, statusAt }: WebhookRecord): string {
  const hash = createHash("sha256").update(`${createdAt} ${statusAt} ${events.join(" ")}\n`);
  return hash.update(filters).digest("base64");
}

function stagesOf({ transactions, updates, creations, closures, blocks }: CompiledWebhook): Set<WebhookStage> {
  const stages = new Set<WebhookStage>();
  if (updates !== null || creations !== null || closures !== null) stages.add("confirmed");
  for (const stage of ["confirmed", "finalized"] as const) {
    const isTold = transactions?.settled[stage] != null || transactions?.failedAt === stage;
    if (isTold || blocks?.events[stage] != null) stages.add(stage);
  }
  return stages;
}
