import { counter, gauge, latency, type Observe } from "../../observe/index.ts";

export const webhookDeliveryMetrics = {
  attempts: counter("sluice_webhook_attempts_total", "Attempts to deliver events to webhooks, by what became of them", [
    "event",
    "outcome",
  ]),
  duration: latency(
    "sluice_webhook_attempt_duration_seconds",
    "Time of an exchange with a receiver, from looking up its name to the end of its answer",
    ["outcome"],
  ),
  delay: latency(
    "sluice_webhook_first_attempt_delay_seconds",
    "Time from the commit of a delivery to the begin of its first attempt",
    ["event"],
  ),
  queues: gauge("sluice_webhook_queues", "Queues of webhooks that this process holds"),
  waiting: gauge("sluice_webhook_waiting", "Deliveries that wait in the queues that this process holds"),
  underWay: gauge("sluice_webhook_attempts_under_way", "Attempts of this process that are under way"),
  open: gauge("sluice_webhook_circuits_open", "Queues of this process whose receivers are left alone as they fail"),
  aside: gauge(
    "sluice_webhook_events_set_aside",
    "Types of events in queues of this process that are left alone as their receivers refuse them",
  ),
  parked: gauge("sluice_webhook_parked", "Queues of this process that wait for credits"),
  taken: counter("sluice_webhook_queues_taken_total", "Queues that this process has taken"),
  freed: counter(
    "sluice_webhook_queues_freed_total",
    "Queues of workers that were seen to have died, freed by this one",
  ),
  lost: counter("sluice_webhook_queues_lost_total", "Queues that another process has taken from this one"),
  parkedGivenUp: counter(
    "sluice_webhook_parked_given_up_total",
    "Deliveries that were given up as they had waited for credits for 7 days",
  ),
  disabled: counter("sluice_webhook_disabled_total", "Webhooks that were disabled, by the reason", ["reason"]),
  postponed: counter("sluice_webhook_postponed_total", "Attempts that could not begin, by what was not to be had", [
    "reason",
  ]),
  storeFailures: counter("sluice_webhook_store_failures_total", "Calls of the store that failed and are repeated"),
  attemptsDropped: counter(
    "sluice_webhook_attempt_facts_dropped_total",
    "Facts of attempts that the ledger did not take in time; the deliveries are not affected",
  ),
} as const;

/** What a worker holds at one moment. */
export interface WorkerFigures {
  readonly queues: number;
  readonly waiting: number;
  readonly underWay: number;
  readonly open: number;
  /** Types of events of a webhook that are left alone. */
  readonly aside: number;
  readonly parked: number;
}

/** Why an attempt could not begin. */
export type Postponed = "data" | "credits" | "credits_unknown" | "place";

/** Every function is cheap and must not throw. */
export interface DeliveryEvents {
  attempted(of: {
    readonly event: string;
    readonly outcome: "delivered" | "failed" | "exhausted";
    readonly latencyMs: number;
  }): void;
  /** A first attempt begins so long after the delivery was made. */
  begun(event: string, delayMs: number): void;
  postponed(reason: Postponed): void;
  held(figures: WorkerFigures): void;
  queuesTaken(count: number): void;
  /** Another worker was not seen to beat for the time of a lease; so many queues of it are free. */
  workerDied(worker: string, queues: number): void;
  queueLost(webhookId: string): void;
  /** So many deliveries have waited for credits for too long. */
  parkedGivenUp(count: number): void;
  webhookDisabled(of: { readonly webhookId: string; readonly reason: string }): void;
  /** The secret of a webhook cannot be opened, so nothing is delivered to it. */
  secretClosed(webhookId: string, error: unknown): void;
  storeFailed(of: { readonly what: string; readonly error: unknown; readonly isFirst: boolean }): void;
  storeWorks(): void;
  factsDropped(count: number, error: unknown): void;
  /** An error of Sluice itself. */
  fault(what: string, error: unknown): void;
}

/** Registers the metrics of deliveries and gives the functions that feed them. */
export function createDeliveryEvents({ log, metrics }: Observe): DeliveryEvents {
  const families = metrics.register(webhookDeliveryMetrics);
  return {
    attempted: ({ event, outcome, latencyMs }) => {
      families.attempts.with(event, outcome).add();
      families.duration.with(outcome).observe(latencyMs / 1_000);
    },
    begun: (event, delayMs) => families.delay.with(event).observe(delayMs / 1_000),
    postponed: (reason) => families.postponed.with(reason).add(),
    held: ({ queues, waiting, underWay, open, aside, parked }) => {
      families.queues.with().set(queues);
      families.waiting.with().set(waiting);
      families.underWay.with().set(underWay);
      families.open.with().set(open);
      families.aside.with().set(aside);
      families.parked.with().set(parked);
    },
    queuesTaken: (count) => families.taken.with().add(count),
    workerDied: (worker, queues) => {
      families.freed.with().add(queues);
      log.info({ worker, queues }, "a worker of webhooks has died, and its queues are free");
    },
    queueLost: (webhookId) => {
      families.lost.with().add();
      log.warn({ webhookId }, "another process has taken the queue of a webhook from this one");
    },
    parkedGivenUp: (count) => families.parkedGivenUp.with().add(count),
    webhookDisabled: ({ webhookId, reason }) => {
      families.disabled.with(reason).add();
      log.info({ webhookId, reason }, "a webhook was disabled");
    },
    secretClosed: (webhookId, error) =>
      log.warn({ webhookId, error }, "the secret of a webhook cannot be opened, so nothing is delivered to it"),
    storeFailed: ({ what, error, isFirst }) => {
      families.storeFailures.with().add();
      if (isFirst) log.warn({ what, error }, "the store of deliveries fails; its calls are repeated");
    },
    storeWorks: () => log.info({}, "the store of deliveries works again"),
    factsDropped: (count, error) => {
      families.attemptsDropped.with().add(count);
      log.warn({ count, error }, "facts of webhook attempts were dropped, as the ledger did not take them");
    },
    fault: (what, error) => log.error({ what, error }, "the delivery of webhooks met an error and goes on"),
  };
}
