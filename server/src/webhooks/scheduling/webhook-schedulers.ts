import type { Network } from "@sluice/contract/tiers";
import type { AccountDataEncoding } from "@sluice/contract/webhooks";
import type { Clock, Random } from "@sluice/lib";
import type { BlockReader } from "../../events/index.ts";
import type { PastBlocks } from "../../history/index.ts";
import { ChainTerms, type TermChain, webhookSchedulerJob } from "../../leases/index.ts";
import type { ChainLogs } from "../../log/index.ts";
import type { Observe } from "../../observe/index.ts";
import type { LeaseStore, ScheduleStore, WebhookStore } from "../../state/index.ts";
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
  readonly chainLogs: Pick<ChainLogs, "follow" | "followNetworks">;
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
  readonly #terms: readonly ChainTerms<ShardScheduler>[];

  constructor(options: WebhookSchedulersOptions, dependencies: WebhookSchedulersDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    const { leaseMs, shards } = options;
    this.#terms = Array.from({ length: shards }, (_, shard) => {
      const job = webhookSchedulerJob(shard);
      const open = (of: TermChain): ShardScheduler => this.#open(of, shard);
      return new ChainTerms({ job, what: "making deliveries of", leaseMs }, { ...dependencies, open });
    });
  }

  /** Asks for the leases; resolves when what this process has of them runs. */
  async begin(): Promise<void> {
    for (const terms of this.#terms) await terms.begin();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#terms.map((terms) => terms[Symbol.asyncDispose]()));
  }

  #open({ network, chainLog, chain, lease }: TermChain, shard: number): ShardScheduler {
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
