import type { Network } from "@sluice/contract/tiers";
import type { AccountDataEncoding } from "@sluice/contract/webhooks";
import type { Clock, Random } from "@sluice/lib";
import type { BlockReader } from "../../events/index.ts";
import type { PastBlocks } from "../../history/index.ts";
import { createLeaseEvents, LeaseHolder, leaseTimesOf, Succession, webhookSchedulerJob } from "../../leases/index.ts";
import type { ChainIdentity, ChainLog, ChainLogs } from "../../log/index.ts";
import type { Observe } from "../../observe/index.ts";
import type { LeaseRecord, LeaseStore, ScheduleStore, WebhookStore } from "../../state/index.ts";
import type { BlockMemory } from "../bodies/block-memory.ts";
import type { EventPrices } from "../bodies/event-prices.ts";
import type { SchedulingEvents } from "./events.ts";
import type { RowsListener } from "./rows-listener.ts";
import { ShardScheduler } from "./shard-scheduler.ts";
import { WebhookSet } from "./webhook-set.ts";

export interface WebhookSchedulersOptions {
  /** Into how many shards the webhooks of a network are divided; the same in all processes. */
  readonly shards: number;
  readonly leaseMs: number;
}

export interface WebhookSchedulersDependencies extends Observe {
  readonly chainLogs: Pick<ChainLogs, "networks" | "follow">;
  readonly leases: LeaseStore;
  readonly schedule: ScheduleStore;
  readonly webhooks: Pick<WebhookStore, "revision" | "changedSince" | "page" | "read" | "queues">;
  /** What the logs no longer hold; null where nothing else holds it. */
  readonly past: PastBlocks | null;
  readonly reader: BlockReader;
  readonly memory: BlockMemory;
  readonly prices: Pick<EventPrices, "at">;
  readonly listener: RowsListener;
  /** Accounts that a webhook watches, whose data are to be known before a block writes them. Must not throw. */
  readonly observe: (network: Network, accounts: readonly string[], encoding: AccountDataEncoding) => void;
  readonly clock: Clock;
  readonly random: Random;
  /** Of this process and no other. */
  readonly processId: string;
  readonly events: SchedulingEvents;
  readonly internalError: (where: string, error: unknown) => void;
}

/**
 * Makes deliveries of what happens on the chains whose logs are open: for each network and shard one process of
 * several, the one with the lease.
 */
export class WebhookSchedulers implements AsyncDisposable {
  readonly #options: WebhookSchedulersOptions;
  readonly #dependencies: WebhookSchedulersDependencies;
  readonly #successions: Succession<Term>[] = [];

  constructor(options: WebhookSchedulersOptions, dependencies: WebhookSchedulersDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** Asks for the leases; resolves when what this process has of them runs. */
  async begin(): Promise<void> {
    const { chainLogs } = this.#dependencies;
    for (const network of chainLogs.networks) {
      for (let shard = 0; shard < this.#options.shards; shard += 1) {
        const succession = this.#succession(network, shard);
        this.#successions.push(succession);
        await succession.begin();
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#successions.map((succession) => succession[Symbol.asyncDispose]()));
  }

  #succession(network: Network, shard: number): Succession<Term> {
    const { leaseMs } = this.#options;
    const { clock, log, leases, processId, chainLogs, internalError } = this.#dependencies;
    const job = webhookSchedulerJob(shard);
    const lease = new LeaseHolder(
      { network, job, leaseMs },
      {
        store: leases,
        clock,
        holder: processId,
        retryableError: (what, error) => log.warn({ what, error }, "an operation failed and is tried again"),
        events: createLeaseEvents(this.#dependencies, { network, job, nowMs: () => clock.monotonic() }),
      },
    );
    return new Succession(
      { ...leaseTimesOf(leaseMs), what: `making deliveries of ${network}`, retryRenewals: 0 },
      {
        clock,
        lease,
        open: async (record) => {
          const term = new Term(network, (chainLog, chain) => this.#open(record, { network, shard, chainLog, chain }));
          await term.begin(chainLogs);
          return term;
        },
        roleChanged: () => undefined,
        internalError,
      },
    );
  }

  #open(
    lease: LeaseRecord,
    of: {
      readonly network: Network;
      readonly shard: number;
      readonly chainLog: ChainLog;
      readonly chain: ChainIdentity;
    },
  ): ShardScheduler {
    const { network, shard, chainLog, chain } = of;
    const { shards } = this.#options;
    const { webhooks, schedule: store, random, events, observe } = this.#dependencies;
    const schedule = store.under(lease, { network, shard });
    const set = new WebhookSet(
      { network, shard, shards },
      { webhooks, schedule, random, events, observe: (accounts, encoding) => observe(network, accounts, encoding) },
    );
    const hasWebhooks = async (): Promise<boolean> => (await webhooks.page(network, "", 1)).length > 0;
    return new ShardScheduler(
      { shards, hasWebhooks },
      { ...this.#dependencies, network, shard, chain, log: chainLog, schedule, set },
    );
  }
}

/** While this process has the lease: the scheduler over the log that is open. */
class Term implements AsyncDisposable {
  readonly #network: Network;
  readonly #open: (log: ChainLog, chain: ChainIdentity) => ShardScheduler;
  #following: Disposable | null = null;
  #scheduler: ShardScheduler | null = null;
  #isClosed = false;

  constructor(network: Network, open: (log: ChainLog, chain: ChainIdentity) => ShardScheduler) {
    this.#network = network;
    this.#open = open;
  }

  async begin(chainLogs: Pick<ChainLogs, "follow">): Promise<void> {
    this.#following = await chainLogs.follow(async (network, log, chain) => {
      if (network !== this.#network) return;
      await this.#end();
      if (log !== null && !this.#isClosed) this.#scheduler = this.#open(log, chain);
    });
  }

  async #end(): Promise<void> {
    const present = this.#scheduler;
    this.#scheduler = null;
    await present?.[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#following?.[Symbol.dispose]();
    await this.#end();
  }
}
