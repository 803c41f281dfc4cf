import type { StateDriver } from "../records.ts";
import { type Cell, RowStatement } from "../row-statement.ts";
import type { NewDelivery, WebhookStage } from "../webhook-schedule-records.ts";
import type { WebhookQueueRow } from "../webhook-tables.ts";

export type LockedQueue = Pick<
  WebhookQueueRow,
  "webhook_id" | "waiting" | "parked_at" | "behind_confirmed" | "behind_finalized"
>;

/** The cells of a delivery; `at` is when it is made. */
export const deliveryCells = (delivery: NewDelivery, at: bigint): readonly Cell[] => [
  delivery.deliveryId,
  delivery.webhookId,
  delivery.eventId,
  delivery.event,
  delivery.slot,
  delivery.blockhash,
  BigInt(delivery.ordinal),
  delivery.txIndex === null ? null : BigInt(delivery.txIndex),
  delivery.account,
  at,
  delivery.undecided,
];

const columnOf = { confirmed: "behind_confirmed", finalized: "behind_finalized" } as const;

/** What the scheduler writes of many webhooks at a time, in the words of one driver. */
export class ScheduleStatements {
  /** Cells of `deliveryCells`. One that is there already is left as it is. */
  readonly insert: RowStatement<never>;
  /** By webhook: an empty queue where there is none. */
  readonly addQueues: RowStatement<never>;
  /** By webhook. In one order everywhere, so that two that lock several queues never wait for each other. */
  readonly lockQueues: RowStatement<LockedQueue>;
  /** By webhook, with how many more wait. */
  readonly raise: RowStatement<never>;
  /** By webhook: counts what waits. */
  readonly count: RowStatement<never>;
  /** By webhook, with the cursor from which on it is behind and the present time. */
  readonly fallBehind: Readonly<Record<WebhookStage, RowStatement<never>>>;
  /** By webhook, with the cursor that it has come to. */
  readonly moveBehind: Readonly<Record<WebhookStage, RowStatement<never>>>;
  /** By webhook. */
  readonly join: Readonly<Record<WebhookStage, RowStatement<never>>>;

  constructor(driver: StateDriver) {
    const byStage = <Row>(make: (stage: WebhookStage) => RowStatement<Row>) => ({
      confirmed: make("confirmed"),
      finalized: make("finalized"),
    });
    this.insert = new RowStatement(
      driver,
      ["text", "text", "text", "text", "bigint", "text", "bigint", "bigint", "text", "bigint", "text"],
      (rows) => `insert into webhook_deliveries (delivery_id, webhook_id, event_id, event, slot, blockhash, ordinal,
          tx_index, account, created_at, undecided, status, attempts, due_at)
        select column1, column2, column3, column4, column5, column6, column7, column8, column9, column10, column11,
          'pending', 0, 0 from (${rows}) as v where true on conflict do nothing`,
    );
    this.addQueues = new RowStatement(
      driver,
      ["text"],
      (rows) => `insert into webhook_queues (webhook_id, holder, epoch, waiting)
        select column1, '', 0, 0 from (${rows}) as v where true on conflict do nothing`,
    );
    this.lockQueues = new RowStatement(
      driver,
      ["text"],
      (rows) => `select webhook_id, waiting, parked_at, behind_confirmed, behind_finalized from webhook_queues
        where webhook_id in (${rows}) order by webhook_id${driver === "postgres" ? " for update" : ""}`,
    );
    this.raise = new RowStatement(
      driver,
      ["text", "bigint"],
      (rows) => `update webhook_queues set waiting = waiting + v.column2 from (${rows}) as v
        where webhook_id = v.column1`,
    );
    this.count = new RowStatement(
      driver,
      ["text"],
      (rows) => `update webhook_queues set waiting = (select count(*) from webhook_deliveries as d
          where d.webhook_id = webhook_queues.webhook_id and d.status = 'pending')
        where webhook_id in (${rows})`,
    );
    this.fallBehind = byStage(
      (stage) =>
        new RowStatement(
          driver,
          ["text", "text", "bigint"],
          (rows) => `update webhook_queues set ${columnOf[stage]} = coalesce(${columnOf[stage]}, v.column2),
              behind_since = coalesce(behind_since, v.column3)
            from (${rows}) as v where webhook_id = v.column1`,
        ),
    );
    this.moveBehind = byStage(
      (stage) =>
        new RowStatement(
          driver,
          ["text", "text"],
          (rows) => `update webhook_queues set ${columnOf[stage]} = v.column2 from (${rows}) as v
            where webhook_id = v.column1`,
        ),
    );
    this.join = byStage((stage) => {
      const other = columnOf[stage === "confirmed" ? "finalized" : "confirmed"];
      return new RowStatement(
        driver,
        ["text"],
        (rows) => `update webhook_queues set ${columnOf[stage]} = null,
            behind_since = case when ${other} is null then null else behind_since end
          where webhook_id in (${rows})`,
      );
    });
  }
}
