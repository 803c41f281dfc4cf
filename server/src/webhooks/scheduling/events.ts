import type { Network } from "@sluice/contract/tiers";
import { counter, gauge, latency, type Observe } from "../../observe/index.ts";
import { stateErrorCodeOf, type WebhookStage } from "../../state/index.ts";

const ofStage = ["network", "stage"] as const;

/** The metrics of what makes deliveries of blocks. */
export const webhookSchedulingMetrics = {
  webhooks: gauge("sluice_webhook_scheduler_webhooks", "Active webhooks that this process matches", ["network"]),
  behind: gauge(
    "sluice_webhook_scheduler_behind",
    "Webhooks for which no deliveries are made at the head, as too many wait or they are parked",
    ofStage,
  ),
  blocks: counter("sluice_webhook_scheduler_blocks_total", "Blocks that were matched with webhooks", ofStage),
  deliveries: counter("sluice_webhook_scheduler_deliveries_total", "Deliveries that were made, by their event", [
    "network",
    "event",
  ]),
  matching: counter(
    "sluice_webhook_scheduler_matching_seconds_total",
    "Time in which blocks were matched with webhooks",
    ofStage,
  ),
  delay: latency(
    "sluice_webhook_scheduler_duration_seconds",
    "Time from the moment that the scheduler has a block until its deliveries are on disk",
    ofStage,
  ),
  lagSlots: gauge(
    "sluice_webhook_scheduler_lag_slots",
    "Slots that the scheduler is behind the newest block of the stage",
    ofStage,
  ),
  again: counter(
    "sluice_webhook_scheduler_again_total",
    "Blocks that were matched again, as webhooks had changed meanwhile",
    ofStage,
  ),
  gaps: counter("sluice_webhook_scheduler_gaps_total", "Gaps of the chain that owners of webhooks were told", ofStage),
  failures: counter(
    "sluice_webhook_scheduler_failures_total",
    "Failures to read the log or to write deliveries; they are repeated",
    ofStage,
  ),
  pricesAway: counter(
    "sluice_webhook_scheduler_prices_away_total",
    "Blocks that were matched while prices could not be read; what asks for them is decided before its first attempt",
    ofStage,
  ),
  unpriced: counter(
    "sluice_webhook_scheduler_unpriced_total",
    "Trades whose value a webhook asks for and of which no token has a price; they are not told",
    ofStage,
  ),
  refused: counter("sluice_webhook_scheduler_unreadable_total", "Webhooks whose filters cannot be read", ["network"]),
  disabled: counter(
    "sluice_webhook_scheduler_disabled_total",
    "Webhooks that were disabled as they were behind for too long",
    ["network"],
  ),
} as const;

/** Blocks whose deliveries are on disk. */
export interface WrittenBlocks {
  readonly stage: WebhookStage;
  readonly blocks: number;
  readonly deliveries: readonly { readonly event: string }[];
  /** From the moment that the scheduler had the first of them. */
  readonly delayMs: number;
}

/** Every function is cheap and must not throw. */
export interface SchedulingEvents {
  schedulerLoaded(network: Network, webhooks: number): void;
  schedulerBehind(network: Network, stage: WebhookStage, webhooks: number): void;
  schedulerMatched(
    network: Network,
    of: { readonly stage: WebhookStage; readonly blocks: number; readonly ms: number },
  ): void;
  schedulerMatchedAgain(network: Network, stage: WebhookStage): void;
  schedulerWrote(network: Network, written: WrittenBlocks): void;
  schedulerLag(network: Network, stage: WebhookStage, slots: number): void;
  schedulerGap(network: Network, stage: WebhookStage, of: { from: bigint; to: bigint; reason: string }): void;
  schedulerPricesAway(network: Network, stage: WebhookStage): void;
  /** Trades whose value was asked for and is not known; the same one counts for each webhook that asks. */
  schedulerUnpriced(network: Network, stage: WebhookStage, trades: number): void;
  /** The log or the store cannot be used now; the scheduler tries again. */
  schedulerFailed(network: Network, stage: WebhookStage, error: unknown): void;
  /** A webhook that this version cannot read; it is told nothing. */
  schedulerUnreadable(network: Network, webhookId: string, error: unknown): void;
  schedulerDisabled(network: Network, webhookId: string): void;
  /** The cursors are of another chain: the scheduler begins with what the log holds. */
  schedulerChainChanged(network: Network, stage: WebhookStage): void;
}

/** Registers the metrics of the scheduler and gives the functions that feed them. */
export function createSchedulingEvents({ log, metrics }: Observe): SchedulingEvents {
  const of = metrics.register(webhookSchedulingMetrics);
  return {
    schedulerLoaded: (network, webhooks) => of.webhooks.with(network).set(webhooks),
    schedulerBehind: (network, stage, webhooks) => of.behind.with(network, stage).set(webhooks),
    schedulerMatched: (network, { stage, blocks, ms }) => {
      of.blocks.with(network, stage).add(blocks);
      of.matching.with(network, stage).add(ms / 1_000);
    },
    schedulerMatchedAgain: (network, stage) => of.again.with(network, stage).add(),
    schedulerWrote: (network, { stage, deliveries, delayMs }) => {
      for (const { event } of deliveries) of.deliveries.with(network, event).add();
      of.delay.with(network, stage).observe(delayMs / 1_000);
    },
    schedulerLag: (network, stage, slots) => of.lagSlots.with(network, stage).set(slots),
    schedulerGap: (network, stage, { from, to, reason }) => {
      of.gaps.with(network, stage).add();
      log.warn(
        { network, stage, from: String(from), to: String(to), reason },
        "webhooks are told nothing of some slots, as their blocks cannot be had",
      );
    },
    schedulerPricesAway: (network, stage) => of.pricesAway.with(network, stage).add(),
    schedulerUnpriced: (network, stage, trades) => of.unpriced.with(network, stage).add(trades),
    schedulerFailed: (network, stage, error) => {
      of.failures.with(network, stage).add();
      const reason = stateErrorCodeOf(error) ?? String(error);
      log.warn({ network, stage, reason }, "blocks cannot be matched with webhooks now; it is tried again");
    },
    schedulerUnreadable: (network, webhookId, error) => {
      of.refused.with(network).add();
      log.error({ network, webhookId, error: String(error) }, "the filters of a webhook cannot be read");
    },
    schedulerDisabled: (network, webhookId) => {
      of.disabled.with(network).add();
      log.info({ network, webhookId }, "a webhook was disabled, as it was behind for too long");
    },
    schedulerChainChanged: (network, stage) =>
      log.warn({ network, stage }, "the cursor of webhooks is of another chain; they begin with what the log holds"),
  };
}
