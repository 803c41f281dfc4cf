import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SluiceError } from "@sluice/contract/errors";
import type { WebhookEventName } from "@sluice/contract/webhooks";
import { type ManualClock, seededRandom, systemRandom } from "@sluice/lib";
import { eventually, withRealTimers } from "@sluice/lib/testing";
import { BlockReader } from "../../events/index.ts";
import type { PastBlocks } from "../../history/index.ts";
import { blockRecord } from "../../history/testing/blocks.ts";
import type { LogRecord } from "../../log/index.ts";
import { chain } from "../../log/testing/chain-model.ts";
import { type MemoryLog, openMemoryLog } from "../../log/testing/memory-log.ts";
import { createLog, createMetrics } from "../../observe/index.ts";
import type { NewDelivery, ShardSchedule, State, WebhookStage } from "../../state/index.ts";
import { applyMigrations } from "../../state/migrate.ts";
import { migrations } from "../../state/migrations.ts";
import { createState } from "../../state/open.ts";
import { openPostgres } from "../../state/postgres.ts";
import { openSqlite } from "../../state/sqlite.ts";
import type { Db } from "../../state/tables.ts";
import { newSchema } from "../../state/testing/schema.ts";
import { BlockMemory } from "../bodies/block-memory.ts";
import { createSchedulingEvents } from "../scheduling/events.ts";
import { ShardScheduler } from "../scheduling/shard-scheduler.ts";
import { WebhookSet } from "../scheduling/webhook-set.ts";

const network = "devnet";
const silent = createLog({ level: "silent" });

/**
 * What a write of a scheduler meets: nothing, a process that is killed before or after the commit, or a commit whose
 * answer is lost.
 */
export type Kill = "before" | "after" | "unanswered" | null;

export interface ScheduledChainOptions {
  readonly clock: ManualClock;
  readonly databaseUrl: string | null;
  readonly past?: PastBlocks;
  readonly shards?: number;
}

/** A chain's log, a store and the schedulers of webhooks over them, which may be killed at any write. */
export class ScheduledChain implements AsyncDisposable {
  readonly state: State;
  readonly memory: MemoryLog;
  /** Deliveries that were committed, in their order. */
  readonly committed: NewDelivery[] = [];
  /** Those of which listeners were told. */
  readonly told: NewDelivery[] = [];
  readonly observed: string[] = [];
  killOf: () => Kill = () => null;
  readonly #options: ScheduledChainOptions;
  readonly #db: Db;
  readonly #end: () => Promise<void>;
  #running: readonly ShardScheduler[] = [];
  #accountId = "";

  private constructor(
    options: ScheduledChainOptions,
    of: { readonly state: State; readonly memory: MemoryLog; readonly db: Db; readonly end: () => Promise<void> },
  ) {
    this.#options = options;
    this.state = of.state;
    this.memory = of.memory;
    this.#db = of.db;
    this.#end = of.end;
  }

  static async open(options: ScheduledChainOptions): Promise<ScheduledChain> {
    const schema = options.databaseUrl === null ? null : await newSchema(options.databaseUrl);
    const directory = mkdtempSync(join(tmpdir(), "sluice-webhooks-"));
    const dependencies = { clock: withRealTimers(options.clock), random: systemRandom, log: silent };
    const opened =
      schema === null
        ? { ...(await openSqlite(directory)), driver: "sqlite" as const }
        : { ...openPostgres(schema.url, dependencies), driver: "postgres" as const };
    await applyMigrations(opened, migrations, dependencies);
    const state = createState(opened, dependencies);
    const memory = await openMemoryLog(chain);
    const end = async (): Promise<void> => {
      await memory.log[Symbol.asyncDispose]();
      await state[Symbol.asyncDispose]();
      await schema?.[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true });
    };
    const world = new ScheduledChain(options, { state, memory, db: opened.db, end });
    world.#accountId = (await state.accounts.create({ name: "of webhooks" })).id;
    return world;
  }

  /** @returns the webhook's id */
  async create(events: readonly WebhookEventName[], filters: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const id = this.state.webhooks.newId();
    await this.state.webhooks.create(
      {
        id,
        accountId: this.#accountId,
        network,
        url: "https://example.com",
        events,
        filters: JSON.stringify(filters),
        description: "",
        retryPolicy: { maxAttempts: 1, backoffMultiplier: 1 },
        fifo: false,
        secret: new Uint8Array(1),
      },
      1_000,
    );
    return id;
  }

  async update(id: string, changes: Parameters<State["webhooks"]["update"]>[2]): Promise<void> {
    await this.state.webhooks.update(this.#accountId, id, changes);
  }

  async setStatus(id: string, status: "active" | "paused"): Promise<void> {
    await this.state.webhooks.setStatus(this.#accountId, id, status);
  }

  async delete(id: string): Promise<void> {
    await this.state.webhooks.delete(this.#accountId, id);
  }

  /** As a worker does when the credits of the owner are out, or have returned. */
  async park(id: string, isParked: boolean): Promise<void> {
    const parked_at = isParked ? BigInt(this.#options.clock.now()) : null;
    await this.#db.updateTable("webhook_queues").set({ parked_at }).where("webhook_id", "=", id).execute();
  }

  /** The ids of deliveries that the store has for a webhook. */
  async stored(id: string): Promise<string[]> {
    const rows = await this.#db
      .selectFrom("webhook_deliveries")
      .select("delivery_id")
      .where("webhook_id", "=", id)
      .execute();
    return rows.map(({ delivery_id }) => delivery_id);
  }

  async append(records: readonly LogRecord[]): Promise<void> {
    for (const record of records) {
      await this.memory.log.append(record.kind === "block" ? blockRecord(record.header, record.stage) : record);
    }
  }

  /** Starts the scheduler of every shard, each under a new lease, and waits until all have cursors. */
  async start(shards = this.#options.shards ?? 1): Promise<void> {
    await this.begin(shards);
    await eventually("all shards have cursors", () => this.hasCursors(shards));
  }

  /** Whether the cursors of so many shards are laid out. */
  async hasCursors(shards = 1): Promise<boolean> {
    const rows = await this.#db.selectFrom("webhook_cursors").select("shard").execute();
    return rows.length === 2 * shards;
  }

  /** The same without waiting, of schedulers that may be killed at once. */
  async begin(shards = this.#options.shards ?? 1): Promise<void> {
    const running: ShardScheduler[] = [];
    for (let shard = 0; shard < shards; shard += 1) running.push(await this.#open(shard, shards));
    this.#running = running;
  }

  async stop(): Promise<void> {
    const running = this.#running;
    this.#running = [];
    for (const each of running) await each[Symbol.asyncDispose]();
  }

  async waiting(id: string): Promise<number> {
    return (await this.state.webhooks.queues([id]))[0]?.waiting ?? 0;
  }

  of(webhookId: string, event?: string): NewDelivery[] {
    return this.committed.filter((each) => each.webhookId === webhookId && (event ?? each.event) === each.event);
  }

  async #open(shard: number, shards: number): Promise<ShardScheduler> {
    const { state, memory } = this;
    const name = `${network}:webhook-scheduler-${shard}`;
    const lease = await state.leases.take(name, "test", await state.leases.find(name));
    if (lease === null) throw new Error("the lease was to be had");
    const schedule = this.#watched(state.webhookSchedule.under(lease, { network, shard }));
    const events = createSchedulingEvents({ log: silent, metrics: createMetrics() });
    const { webhooks } = state;
    const observe = (accounts: readonly string[]): void => void this.observed.push(...accounts);
    const set = new WebhookSet(
      { network, shard, shards },
      { webhooks, schedule, random: seededRandom(1), events, observe },
    );
    return new ShardScheduler(
      { shards, hasWebhooks: async () => (await webhooks.page(network, "", 1)).length > 0 },
      {
        network,
        shard,
        chain,
        log: memory.log,
        past: this.#options.past ?? null,
        schedule,
        webhooks,
        set,
        reader: new BlockReader(),
        memory: new BlockMemory(),
        prices: { at: async () => null },
        listener: { committed: ({ deliveries }) => void this.told.push(...deliveries) },
        clock: withRealTimers(this.#options.clock),
        random: seededRandom(2),
        events,
      },
    );
  }

  /** A schedule whose process may be killed at any write: nothing that it says is heard from then on. */
  #watched(inner: ShardSchedule): ShardSchedule {
    let isDead = false;
    const fail = (): never => {
      throw new SluiceError("OVERLOADED");
    };
    const write = async <T>(work: () => Promise<T>): Promise<T> => {
      if (isDead) fail();
      const kill = this.killOf();
      if (kill === "before") {
        isDead = true;
        fail();
      }
      const outcome = await work();
      if (kill === "after" || kill === "unanswered") {
        isDead = kill === "after";
        fail();
      }
      return outcome;
    };
    const noted = (deliveries: readonly NewDelivery[], left: readonly string[]): void => {
      this.committed.push(...deliveries.filter(({ webhookId }) => !left.includes(webhookId)));
    };
    return {
      cursors: () => inner.cursors(),
      layOut: (next, seen) => write(() => inner.layOut(next, seen)),
      step: (step) =>
        write(async () => {
          const outcome = await inner.step(step);
          if (outcome.ok) noted(step.deliveries, outcome.behind);
          return outcome;
        }),
      move: (step) => write(() => inner.move(step)),
      catchUp: (step) =>
        write(async () => {
          const outcome = await inner.catchUp(step);
          if (outcome.ok) noted(step.deliveries, outcome.full);
          return outcome;
        }),
      join: (stage: WebhookStage, webhooks) => write(() => inner.join(stage, webhooks)),
      behind: () => inner.behind(),
      disableBehind: (told) => write(() => inner.disableBehind(told)),
      noteGap: (ids, gap) => write(() => inner.noteGap(ids, gap)),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await this.#end();
  }
}
