import { type Network, networks } from "@sluice/contract/tiers";
import { webhookLimits } from "@sluice/contract/webhooks";
import type { StoreConnection } from "../connection.ts";
import type { PageRequest, RecordPage } from "../page.ts";
import { beyond, readPageRequest, toPage } from "../paging.ts";
import { numberOf, numberOrNull } from "../rows.ts";
import type { Db, Tx } from "../tables.ts";
import { checkCount, checkIdentifier, checkOneOf, checkText, checkWhole, isIdentifier } from "../values.ts";
import type {
  WebhookContent,
  WebhookContentChanges,
  WebhookNotice,
  WebhookQueueState,
  WebhookRecord,
  WebhookStatus,
  WebhookStore,
} from "../webhook-records.ts";
import type { WebhookQueueRow, WebhookRow } from "../webhook-tables.ts";
import { recordWebhookChange } from "./changes.ts";
import { addWebhookNotice, readWebhookNotices } from "./notices.ts";
import { retiredSecretsColumn, retryPolicyColumn, toWebhook } from "./rows.ts";

const urlLengthMax = 2_048;
const descriptionLengthMax = 500;
const filtersLengthMax = 8 * 1024 * 1024;
const eventsLengthMax = 4_096;
const secretBytesMax = 1_024;
const queuesMax = 1_000;
const readMax = 100;
/** Changes that are read at a time; with more it is cheaper to read all webhooks of the network. */
const changesMax = 1_000;

/** What one page holds of filters, and the rows that are read at a time, as their sizes are not known before. */
const pageBytesMax = 8 * 1024 * 1024;
const sliceRowsMin = 8;
const sliceRowsMax = 512;
const smallSliceBytes = 256 * 1024;

export class Webhooks implements WebhookStore {
  readonly #connection: StoreConnection;

  constructor(connection: StoreConnection) {
    this.#connection = connection;
  }

  newId(): string {
    return this.#connection.newId("wh");
  }

  async create(
    webhook: WebhookContent & Pick<WebhookRecord, "id" | "accountId" | "network" | "secret">,
    most: number,
  ): Promise<WebhookRecord | null> {
    const now = BigInt(this.#connection.clock.now());
    checkCount("secret", webhook.secret.length, secretBytesMax);
    const row: WebhookRow = {
      id: checkIdentifier("id", webhook.id),
      account_id: checkIdentifier("accountId", webhook.accountId),
      network: checkOneOf("network", webhook.network, networks),
      ...contentColumns(webhook),
      status: "active",
      status_reason: null,
      status_at: now,
      secret: webhook.secret,
      next_secret: null,
      overlap_ends_at: null,
      retired_secrets: null,
      created_at: now,
      updated_at: now,
      last_success_at: null,
      failing_since: null,
      recoverable_told_at: null,
    };
    return await this.#connection.transaction(async (tx) => {
      await this.#lockAccount(tx, row.account_id);
      const { count } = await tx
        .selectFrom("webhooks")
        .select(({ fn }) => fn.countAll<bigint>().as("count"))
        .where("account_id", "=", row.account_id)
        .executeTakeFirstOrThrow();
      if (Number(count) >= most) return null;
      await tx.insertInto("webhooks").values(row).execute();
      await tx.insertInto("webhook_queues").values(emptyQueue(row.id)).execute();
      await recordWebhookChange(tx, webhook.network, row.id);
      return toWebhook(row);
    });
  }

  async get(accountId: string, id: string): Promise<WebhookRecord | null> {
    if (!isIdentifier(accountId) || !isIdentifier(id)) return null;
    return await this.#connection.run(async (db) => {
      const row = await owned(db, accountId, id).executeTakeFirst();
      return row === undefined ? null : toWebhook(row);
    });
  }

  async list(
    page: PageRequest & { readonly accountId: string; readonly network?: Network },
  ): Promise<RecordPage<WebhookRecord>> {
    const { limit, after } = readPageRequest("webhooks", page);
    const { accountId, network } = page;
    if (!isIdentifier(accountId)) return { items: [], nextCursor: null };
    return await this.#connection.run(async (db) => {
      const { rows, ended } = await inSlices(limit + 1, (last, count) => {
        const from = last === null ? after : { time: last.created_at, id: last.id };
        let query = db.selectFrom("webhooks").selectAll().where("account_id", "=", accountId);
        if (network !== undefined) query = query.where("network", "=", network);
        query = query.where(beyond({ time: "created_at", id: "id" }, from, "asc"));
        return query.orderBy("created_at").orderBy("id").limit(count).execute();
      });
      // The last row only shows that there is another page.
      const shown = ended ? Math.min(limit, rows.length) : Math.min(limit, rows.length - 1);
      return toPage("webhooks", shown, rows, toWebhook, (row) => ({ time: row.created_at, id: row.id }));
    });
  }

  async update(accountId: string, id: string, changes: WebhookContentChanges): Promise<WebhookRecord | null> {
    const { description: _, ...matters } = changes;
    return await this.#change(accountId, id, {
      columns: (row) => ({ ...changedColumns(changes, row), updated_at: BigInt(this.#connection.clock.now()) }),
      isRevision: Object.values(matters).some((value) => value !== undefined),
    });
  }

  async setStatus(accountId: string, id: string, status: "active" | "paused"): Promise<WebhookRecord | null> {
    const now = BigInt(this.#connection.clock.now());
    const changed = { status, status_reason: null, status_at: now, updated_at: now, failing_since: null };
    return await this.#change(accountId, id, {
      columns: (row) => (row.status === status ? null : changed),
      isRevision: true,
    });
  }

  async rotateSecret(accountId: string, id: string, rotation: Rotation): Promise<WebhookRecord | "full" | null> {
    checkCount("nextSecret", rotation.nextSecret.length, secretBytesMax);
    checkWhole("overlapEndsAt", rotation.overlapEndsAt);
    let isFull = false;
    const record = await this.#change(accountId, id, {
      columns: (row) => {
        const columns = rotatedColumns(toWebhook(row), rotation);
        isFull = columns === null;
        return columns;
      },
      isRevision: true,
    });
    return isFull ? "full" : record;
  }

  async endOverlap(accountId: string, id: string): Promise<WebhookRecord | null> {
    return await this.#change(accountId, id, {
      columns: ({ next_secret }) =>
        next_secret === null
          ? null
          : { secret: next_secret, next_secret: null, overlap_ends_at: null, retired_secrets: null },
      isRevision: true,
    });
  }

  async delete(accountId: string, id: string): Promise<boolean> {
    if (!isIdentifier(accountId) || !isIdentifier(id)) return false;
    return await this.#connection.transaction(async (tx) => {
      const row = await tx
        .deleteFrom("webhooks")
        .where("account_id", "=", accountId)
        .where("id", "=", id)
        .returningAll()
        .executeTakeFirst();
      if (row === undefined) return false;
      await recordWebhookChange(tx, toWebhook(row).network, id);
      return true;
    });
  }

  async count(accountId: string): Promise<Readonly<Record<WebhookStatus, number>>> {
    const rows = await this.#connection.run((db) =>
      db
        .selectFrom("webhooks")
        .select(({ fn }) => ["status", fn.countAll<bigint>().as("count")])
        .where("account_id", "=", accountId)
        .groupBy("status")
        .execute(),
    );
    const of = (status: WebhookStatus): number => Number(rows.find((row) => row.status === status)?.count ?? 0n);
    return { active: of("active"), paused: of("paused"), disabled: of("disabled") };
  }

  async notices(webhookId: string): Promise<readonly WebhookNotice[]> {
    if (!isIdentifier(webhookId)) return [];
    return await this.#connection.run((db) => readWebhookNotices(db, webhookId));
  }

  async addNotice(webhookId: string, notice: Pick<WebhookNotice, "code" | "detail">): Promise<void> {
    const id = checkIdentifier("webhookId", webhookId);
    await this.#connection.transaction((tx) =>
      addWebhookNotice(tx, this.#connection, { webhookId: id, code: notice.code, detail: notice.detail }),
    );
  }

  async queues(ids: readonly string[]): Promise<readonly WebhookQueueState[]> {
    checkCount("ids", ids.length, queuesMax);
    if (ids.length === 0) return [];
    return await this.#connection.run(async (db) => {
      const rows = await db.selectFrom("webhook_queues").selectAll().where("webhook_id", "in", ids).execute();
      return rows.map(toQueueState);
    });
  }

  async revision(network: Network): Promise<bigint> {
    return await this.#connection.run((db) => revisionOf(db, network));
  }

  async changedSince(
    network: Network,
    seen: bigint,
  ): Promise<{ readonly revision: bigint; readonly ids: readonly string[] | null }> {
    const revision = await this.revision(network);
    const missed = revision - seen;
    if (missed === 0n) return { revision, ids: [] };
    // Fewer than were seen before: the database is another, or an earlier copy of this one.
    if (missed < 0n || missed > changesMax) return { revision, ids: null };
    const rows = await this.#connection.run((db) =>
      db
        .selectFrom("webhook_changes")
        .select("webhook_id")
        .where("network", "=", network)
        .where("revision", ">", seen)
        .where("revision", "<=", revision)
        .orderBy("revision")
        .limit(changesMax)
        .execute(),
    );
    if (BigInt(rows.length) !== missed) return { revision, ids: null };
    return { revision, ids: [...new Set(rows.map((row) => row.webhook_id))] };
  }

  async page(network: Network, after: string, limit: number): Promise<readonly WebhookRecord[]> {
    return await this.#connection.run(async (db) => {
      const { rows } = await inSlices(limit, (last, count) =>
        db
          .selectFrom("webhooks")
          .selectAll()
          .where("network", "=", network)
          .where("id", ">", last?.id ?? after)
          .orderBy("id")
          .limit(count)
          .execute(),
      );
      return rows.map(toWebhook);
    });
  }

  async read(ids: readonly string[]): Promise<readonly WebhookRecord[]> {
    checkCount("ids", ids.length, readMax);
    if (ids.length === 0) return [];
    return await this.#connection.run(async (db) => {
      const rows = await db.selectFrom("webhooks").selectAll().where("id", "in", ids).execute();
      return rows.map(toWebhook);
    });
  }

  async clean(most: number): Promise<number> {
    return await this.#connection.transaction(async (tx) => {
      const left = await tx
        .selectFrom("webhook_queues")
        .select("webhook_id")
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom("webhooks").select("webhooks.id").whereRef("webhooks.id", "=", "webhook_queues.webhook_id"),
            ),
          ),
        )
        .orderBy("webhook_id")
        .executeTakeFirst();
      if (left === undefined) return 0;
      const id = left.webhook_id;
      const found = await tx
        .selectFrom("webhook_deliveries")
        .select("delivery_id")
        .where("webhook_id", "=", id)
        .limit(most)
        .execute();
      if (found.length > 0) {
        const ids = found.map((row) => row.delivery_id);
        await tx.deleteFrom("webhook_deliveries").where("delivery_id", "in", ids).execute();
        return found.length;
      }
      await tx.deleteFrom("webhook_notices").where("webhook_id", "=", id).execute();
      await tx.deleteFrom("webhook_queues").where("webhook_id", "=", id).execute();
      return 1;
    });
  }

  /** Changes one webhook under its lock; `columns` gives null where there is nothing to change. */
  async #change(
    accountId: string,
    id: string,
    change: { readonly columns: (row: WebhookRow) => Partial<WebhookRow> | null; readonly isRevision: boolean },
  ): Promise<WebhookRecord | null> {
    if (!isIdentifier(accountId) || !isIdentifier(id)) return null;
    return await this.#connection.transaction(async (tx) => {
      const query = owned(tx, accountId, id);
      const row = await (this.#connection.driver === "postgres" ? query.forUpdate() : query).executeTakeFirst();
      if (row === undefined) return null;
      const columns = change.columns(row);
      if (columns === null) return toWebhook(row);
      await tx.updateTable("webhooks").set(columns).where("id", "=", id).execute();
      const record = toWebhook({ ...row, ...columns });
      if (change.isRevision) await recordWebhookChange(tx, record.network, id);
      return record;
    });
  }

  /** Two that create at once would both see room. */
  async #lockAccount(tx: Tx, accountId: string): Promise<void> {
    if (this.#connection.driver !== "postgres") return;
    await tx.selectFrom("accounts").select("id").where("id", "=", accountId).forUpdate().execute();
  }
}

type Rotation = Parameters<WebhookStore["rotateSecret"]>[2];

/** Null where as many secrets sign as may. */
function rotatedColumns(
  { secret, nextSecret, overlapEndsAt, retiredSecrets }: WebhookRecord,
  rotation: Rotation,
): Partial<WebhookRow> | null {
  const { at } = rotation;
  const set = {
    next_secret: rotation.nextSecret,
    overlap_ends_at: BigInt(rotation.overlapEndsAt),
    updated_at: BigInt(at),
  };
  const left = retiredSecrets.filter(({ endsAt }) => endsAt > at);
  if (nextSecret !== null && overlapEndsAt !== null && overlapEndsAt > at) left.push({ secret, endsAt: overlapEndsAt });
  // The present one, and the one that comes.
  if (left.length + 2 > webhookLimits.secrets) return null;
  return { ...set, secret: nextSecret ?? secret, retired_secrets: retiredSecretsColumn(left) };
}

const owned = (db: Db | Tx, accountId: string, id: string) =>
  db.selectFrom("webhooks").selectAll().where("account_id", "=", accountId).where("id", "=", id);

async function revisionOf(db: Db | Tx, network: Network): Promise<bigint> {
  const row = await db
    .selectFrom("webhook_revisions")
    .select("revision")
    .where("network", "=", network)
    .executeTakeFirst();
  return row?.revision ?? 0n;
}

const emptyQueue = (webhookId: string): WebhookQueueRow => ({
  webhook_id: webhookId,
  holder: "",
  epoch: 0n,
  waiting: 0n,
  parked_at: null,
  behind_confirmed: null,
  behind_finalized: null,
  behind_since: null,
  asked: null,
});

const toQueueState = (row: WebhookQueueRow): WebhookQueueState => ({
  webhookId: row.webhook_id,
  waiting: numberOf(row.waiting),
  parkedAt: numberOrNull(row.parked_at),
  behindSince: numberOrNull(row.behind_since),
});

const contentColumns = (content: WebhookContent) => ({
  url: checkText("url", content.url, urlLengthMax),
  events: checkText("events", JSON.stringify(content.events), eventsLengthMax),
  filters: checkText("filters", content.filters, filtersLengthMax),
  description: content.description === "" ? "" : checkText("description", content.description, descriptionLengthMax),
  retry_policy: retryPolicyColumn(content.retryPolicy),
  fifo: content.fifo ? 1n : 0n,
});

/** @param row - as it is under the lock of the change */
function changedColumns(changes: WebhookContentChanges, row: WebhookRow): Partial<WebhookRow> {
  const { url, events, filters, description, retryPolicy, fifo } = changes;
  return {
    ...(url === undefined ? {} : { url: checkText("url", url, urlLengthMax) }),
    ...(events === undefined ? {} : { events: checkText("events", JSON.stringify(events), eventsLengthMax) }),
    ...(filters === undefined ? {} : { filters: checkText("filters", filters, filtersLengthMax) }),
    ...(description === undefined
      ? {}
      : { description: description === "" ? "" : checkText("description", description, descriptionLengthMax) }),
    ...(retryPolicy === undefined
      ? {}
      : { retry_policy: retryPolicyColumn({ ...toWebhook(row).retryPolicy, ...retryPolicy }) }),
    ...(fifo === undefined ? {} : { fifo: fifo ? 1n : 0n }),
  };
}

/** Up to `limit` rows, few at a time while they are large; not `ended` where the bytes of a page ended it before. */
async function inSlices(
  limit: number,
  read: (last: WebhookRow | null, count: number) => Promise<readonly WebhookRow[]>,
): Promise<{ readonly rows: readonly WebhookRow[]; readonly ended: boolean }> {
  const rows: WebhookRow[] = [];
  let [bytes, size] = [0, sliceRowsMin];
  while (rows.length < limit) {
    const count = Math.min(size, limit - rows.length);
    const slice = await read(rows.at(-1) ?? null, count);
    rows.push(...slice);
    const sliceBytes = slice.reduce((sum, row) => sum + row.filters.length, 0);
    bytes += sliceBytes;
    if (slice.length < count) break;
    if (bytes >= pageBytesMax) return { rows, ended: false };
    size = sliceBytes <= smallSliceBytes ? Math.min(size * 2, sliceRowsMax) : sliceRowsMin;
  }
  return { rows, ended: true };
}
