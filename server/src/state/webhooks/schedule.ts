import { createHash } from "node:crypto";
import type { Network } from "@sluice/contract/tiers";
import { webhookLimits } from "@sluice/contract/webhooks";
import type { StoreConnection } from "../connection.ts";
import { FencedConnection } from "../fenced-connection.ts";
import type { GroupKind } from "../group-commit.ts";
import type { LeaseRecord } from "../lease-records.ts";
import { numberOf, oneOf } from "../rows.ts";
import type { Tx } from "../tables.ts";
import { checkIdentifier, checkJson, checkText, isIdentifier } from "../values.ts";
import type { WebhookTold } from "../webhook-delivery-records.ts";
import { webhookNoticesMax } from "../webhook-records.ts";
import {
  type BehindQueue,
  type BehindWebhook,
  type CatchUpStep,
  type NewDelivery,
  type ScheduleGap,
  type ScheduleStep,
  type ScheduleStore,
  type ShardSchedule,
  type StepRefusal,
  type WebhookCursor,
  type WebhookStage,
  webhookStages,
} from "../webhook-schedule-records.ts";
import { recordWebhookChange } from "./changes.ts";
import { deliveryCells, type LockedQueue, ScheduleStatements } from "./schedule-statements.ts";
import { listenersOf, tellOwner } from "./told.ts";

const cursorLengthMax = 8_192;
/** Webhooks of one statement about notices. */
const notedInOneGo = 500;

type StepResult = { readonly ok: true; readonly left: readonly string[] } | StepRefusal;

/** What one shard writes in one go; `from` is the cursor of the shard, or null for webhooks that are behind. */
interface Step extends Omit<ScheduleStep, "from"> {
  readonly from: string | null;
  readonly behind: readonly BehindWebhook[];
}

export class Schedules implements ScheduleStore {
  readonly #connection: StoreConnection;
  readonly #statements: ScheduleStatements;

  constructor(connection: StoreConnection) {
    this.#connection = connection;
    this.#statements = new ScheduleStatements(connection.driver);
  }

  under(lease: Pick<LeaseRecord, "name" | "epoch">, of: { network: Network; shard: number }): ShardSchedule {
    const connection = new FencedConnection(this.#connection, lease);
    return new Shard(connection, { ...of, epoch: lease.epoch, statements: this.#statements });
  }
}

interface ShardOptions {
  readonly network: Network;
  readonly shard: number;
  readonly epoch: bigint;
  readonly statements: ScheduleStatements;
}

class Shard implements ShardSchedule {
  readonly #connection: StoreConnection;
  readonly #options: ShardOptions;
  /** Steps share a commit with what deliveries write at that time. */
  readonly #steps: GroupKind<Step, StepResult, Tx>;

  constructor(connection: StoreConnection, options: ShardOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#steps = {
      apply: async (tx, steps) => {
        const results: StepResult[] = [];
        for (const step of steps) results.push(await this.#write(tx, step));
        return results;
      },
    };
  }

  async cursors(): Promise<readonly WebhookCursor[]> {
    return await this.#connection.run((db) => this.#read(db));
  }

  async layOut(next: readonly WebhookCursor[], seen: readonly WebhookCursor[]): Promise<boolean> {
    const { network, epoch } = this.#options;
    const rows = next.map(({ shard, stage, cursor }) => ({
      network,
      shard: BigInt(shard),
      stage,
      cursor: checkText("cursor", cursor, cursorLengthMax),
      epoch,
    }));
    return await this.#connection.transaction(async (tx) => {
      const found = await this.#read(tx, true);
      if (textOf(found) !== textOf(seen)) return false;
      await tx.deleteFrom("webhook_cursors").where("network", "=", network).execute();
      // Another shard that begins at the same time may have laid them out where there were none to lock.
      const { numInsertedOrUpdatedRows = 0n } = await tx
        .insertInto("webhook_cursors")
        .values(rows)
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      return Number(numInsertedOrUpdatedRows) === rows.length;
    });
  }

  async step(step: ScheduleStep): Promise<{ readonly ok: true; readonly behind: readonly string[] } | StepRefusal> {
    checkText("to", step.to, cursorLengthMax);
    const result = await this.#connection.group(this.#steps, { ...step, behind: [] });
    return result.ok ? { ok: true, behind: result.left } : result;
  }

  async move({ stage, from, to }: Pick<ScheduleStep, "stage" | "from" | "to">): Promise<boolean> {
    checkText("to", to, cursorLengthMax);
    return await this.#connection.transaction((tx) => this.#moveCursor(tx, { stage, from, to }));
  }

  async catchUp({
    webhooks,
    ...step
  }: CatchUpStep): Promise<{ readonly ok: true; readonly full: readonly string[] } | StepRefusal> {
    checkText("to", step.to, cursorLengthMax);
    const result = await this.#connection.group(this.#steps, { ...step, from: null, behind: webhooks });
    return result.ok ? { ok: true, full: result.left } : result;
  }

  async join(stage: WebhookStage, webhooks: readonly BehindWebhook[]): Promise<boolean> {
    const { statements } = this.#options;
    return await this.#connection.transaction(async (tx) => {
      const queues = await this.#lock(
        tx,
        webhooks.map(({ webhookId }) => webhookId),
      );
      if (!areWhereTheySay(stage, webhooks, queues)) return false;
      await statements.join[stage].change(
        tx,
        webhooks.map(({ webhookId }) => [webhookId]),
      );
      return true;
    });
  }

  async behind(): Promise<readonly BehindQueue[]> {
    const rows = await this.#connection.run((db) =>
      db
        .selectFrom("webhook_queues as q")
        .innerJoin("webhooks as w", "w.id", "q.webhook_id")
        .select(["q.webhook_id", "q.behind_confirmed", "q.behind_finalized", "q.behind_since"])
        .where("w.network", "=", this.#options.network)
        .where(({ eb, or }) => or([eb("q.behind_confirmed", "is not", null), eb("q.behind_finalized", "is not", null)]))
        .execute(),
    );
    return rows.map((row) => ({
      webhookId: row.webhook_id,
      cursors: { confirmed: row.behind_confirmed, finalized: row.behind_finalized },
      since: numberOf(row.behind_since ?? 0n),
    }));
  }

  async disableBehind(told: WebhookTold): Promise<boolean> {
    const { webhookId } = told;
    if (!isIdentifier(webhookId)) return false;
    const { network } = this.#options;
    const now = BigInt(this.#connection.clock.now());
    return await this.#connection.transaction(async (tx) => {
      const changed = await tx
        .updateTable("webhooks")
        .set({ status: "disabled", status_reason: "behind", status_at: now, updated_at: now })
        .where("id", "=", webhookId)
        .where("network", "=", network)
        .where("status", "=", "active")
        .executeTakeFirst();
      if (changed.numUpdatedRows === 0n) return false;
      // The revision before the queues, and these in the order of their webhooks, as whoever writes deliveries locks.
      await recordWebhookChange(tx, network, webhookId);
      await this.#lock(tx, [webhookId, ...(await listenersOf(tx, webhookId, told.event.event))]);
      await tx
        .updateTable("webhook_queues")
        .set({ behind_confirmed: null, behind_finalized: null, behind_since: null })
        .where("webhook_id", "=", webhookId)
        .execute();
      await tellOwner(tx, this.#connection, told);
      return true;
    });
  }

  async noteGap(webhookIds: readonly string[], { stage, from, to, reason }: ScheduleGap): Promise<void> {
    const detail = checkJson("detail", { stage, from: `${from}`, to: `${to}`, reason }, cursorLengthMax);
    const at = BigInt(this.#connection.clock.now());
    for (let first = 0; first < webhookIds.length; first += notedInOneGo) {
      const ids = webhookIds.slice(first, first + notedInOneGo);
      const rows = ids.map((webhook_id) => ({
        id: noticeIdOf(`gap ${webhook_id} ${stage} ${from} ${to}`),
        webhook_id: checkIdentifier("webhookId", webhook_id),
        at,
        code: "gap",
        detail,
      }));
      await this.#connection.transaction(async (tx) => {
        await tx
          .insertInto("webhook_notices")
          .values(rows)
          .onConflict((conflict) => conflict.doNothing())
          .execute();
        await dropOldNotices(tx, ids);
      });
    }
  }

  async #read(db: Parameters<Parameters<StoreConnection["run"]>[0]>[0] | Tx, locks = false): Promise<WebhookCursor[]> {
    const query = db
      .selectFrom("webhook_cursors")
      .select(["shard", "stage", "cursor"])
      .where("network", "=", this.#options.network)
      .orderBy("shard")
      .orderBy("stage");
    const rows = await (locks && this.#connection.driver === "postgres" ? query.forUpdate() : query).execute();
    return rows.map(({ shard, stage, cursor }) => ({
      shard: numberOf(shard),
      stage: oneOf("webhook_cursors.stage", stage, webhookStages),
      cursor,
    }));
  }

  async #write(tx: Tx, step: Step): Promise<StepResult> {
    if ((await this.#revision(tx)) !== step.revision) return { ok: false, code: "REVISION" };
    if (step.from !== null) {
      if (!(await this.#moveCursor(tx, { stage: step.stage, from: step.from, to: step.to }))) {
        return { ok: false, code: "CURSOR" };
      }
      return await this.#append(tx, step, step.from);
    }
    return await this.#appendBehind(tx, step);
  }

  /**
   * The lock is held against changes until the commit: a change that was acknowledged before is among those that the
   * blocks were matched with, and one that waits comes after them.
   */
  async #revision(tx: Tx): Promise<bigint> {
    const query = tx.selectFrom("webhook_revisions").select("revision").where("network", "=", this.#options.network);
    const row = await (this.#connection.driver === "postgres" ? query.forShare() : query).executeTakeFirst();
    return row?.revision ?? 0n;
  }

  async #moveCursor(tx: Tx, { stage, from, to }: Pick<ScheduleStep, "stage" | "from" | "to">): Promise<boolean> {
    const { network, shard, epoch } = this.#options;
    const { numUpdatedRows } = await tx
      .updateTable("webhook_cursors")
      .set({ cursor: to, epoch })
      .where("network", "=", network)
      .where("shard", "=", BigInt(shard))
      .where("stage", "=", stage)
      .where("cursor", "=", from)
      .executeTakeFirst();
    return numUpdatedRows === 1n;
  }

  /** Queues in the order of their webhooks; those that are missing are made. */
  async #lock(tx: Tx, webhookIds: readonly string[]): Promise<ReadonlyMap<string, LockedQueue>> {
    const { lockQueues, addQueues } = this.#options.statements;
    const ids = webhookIds.toSorted();
    const cells = ids.map((id) => [id]);
    let rows = await lockQueues.execute(tx, cells);
    if (rows.length < ids.length) {
      await addQueues.change(tx, cells);
      rows = await lockQueues.execute(tx, cells);
    }
    return new Map(rows.map((row) => [row.webhook_id, row]));
  }

  async #append(tx: Tx, { stage, deliveries }: Step, from: string): Promise<StepResult> {
    if (deliveries.length === 0) return { ok: true, left: [] };
    const counts = countsOf(deliveries);
    const queues = await this.#lock(tx, [...counts.keys()]);
    const isLeft = ([id, count]: readonly [string, number]): boolean => {
      const queue = queues.get(id);
      return !hasRoom(queue, count) || queue?.[`behind_${stage}`] !== null;
    };
    const left = [...counts].filter(isLeft).map(([id]) => id);
    if (left.length > 0) {
      const now = BigInt(this.#connection.clock.now());
      await this.#options.statements.fallBehind[stage].change(
        tx,
        left.map((id) => [id, from, now]),
      );
    }
    await this.#insert(tx, deliveries, { counts, left });
    return { ok: true, left };
  }

  async #appendBehind(tx: Tx, { stage, deliveries, behind, to }: Step): Promise<StepResult> {
    const counts = countsOf(deliveries);
    const queues = await this.#lock(
      tx,
      behind.map(({ webhookId }) => webhookId),
    );
    if (!areWhereTheySay(stage, behind, queues)) return { ok: false, code: "CURSOR" };
    const left = behind.map(({ webhookId }) => webhookId).filter((id) => !hasRoom(queues.get(id), counts.get(id) ?? 0));
    const without = new Set(left);
    await this.#options.statements.moveBehind[stage].change(
      tx,
      behind.filter(({ webhookId }) => !without.has(webhookId)).map(({ webhookId }) => [webhookId, to]),
    );
    await this.#insert(tx, deliveries, { counts, left });
    return { ok: true, left };
  }

  async #insert(
    tx: Tx,
    deliveries: readonly NewDelivery[],
    { counts, left }: { readonly counts: ReadonlyMap<string, number>; readonly left: readonly string[] },
  ): Promise<void> {
    const { insert, raise, count } = this.#options.statements;
    const without = new Set(left);
    const now = BigInt(this.#connection.clock.now());
    const rows = deliveries.filter(({ webhookId }) => !without.has(webhookId));
    if (rows.length === 0) return;
    const made = await insert.change(
      tx,
      rows.map((delivery) => deliveryCells(delivery, now)),
    );
    const raised = [...counts].filter(([id]) => !without.has(id));
    if (made === rows.length) {
      await raise.change(
        tx,
        raised.map(([id, more]) => [id, BigInt(more)]),
      );
      return;
    }
    // Some were there already: a block that is told again after a fork, or after a change of the number of shards.
    await count.change(
      tx,
      raised.map(([id]) => [id]),
    );
  }
}

const textOf = (cursors: readonly WebhookCursor[]): string =>
  cursors
    .map(({ shard, stage, cursor }) => `${shard} ${stage} ${cursor}`)
    .toSorted()
    .join("\n");

function countsOf(deliveries: readonly NewDelivery[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { webhookId } of deliveries) counts.set(webhookId, (counts.get(webhookId) ?? 0) + 1);
  return counts;
}

function hasRoom(queue: LockedQueue | undefined, more: number): boolean {
  if (queue === undefined || queue.parked_at !== null) return false;
  return Number(queue.waiting) + more <= webhookLimits.waiting;
}

function areWhereTheySay(
  stage: WebhookStage,
  webhooks: readonly BehindWebhook[],
  queues: ReadonlyMap<string, LockedQueue>,
): boolean {
  return webhooks.every(({ webhookId, from }) => queues.get(webhookId)?.[`behind_${stage}`] === from);
}

const noticeIdOf = (text: string): string => `notice_${createHash("sha256").update(text).digest("hex").slice(0, 32)}`;

async function dropOldNotices(tx: Tx, webhookIds: readonly string[]): Promise<void> {
  const ranked = tx
    .selectFrom("webhook_notices")
    .select(({ fn }) => [
      "id",
      fn
        .agg<bigint>("row_number")
        .over((over) => over.partitionBy("webhook_id").orderBy("at", "desc").orderBy("id", "desc"))
        .as("place"),
    ])
    .where("webhook_id", "in", webhookIds);
  await tx
    .deleteFrom("webhook_notices")
    .where("id", "in", (query) =>
      query.selectFrom(ranked.as("ranked")).select("ranked.id").where("ranked.place", ">", BigInt(webhookNoticesMax)),
    )
    .execute();
}
