import { backoffDelayMs, type Clock, type Random, sleep } from "@sluice/lib";
import { sql } from "kysely";
import { isConnectionLoss, isItemFailure, isSerializationFailure, toSluiceError } from "./errors.ts";
import { GroupCommit, type GroupKind } from "./group-commit.ts";
import { createIdFactory, type IdFactory } from "./ids.ts";
import type { StateDriver } from "./records.ts";
import type { Db, Tx } from "./tables.ts";

const groupOptions = { queueMax: 20_000, groupMax: 500 };
const transactionTriesMax = 4;
const retryBackoff = { baseMs: 5, maxMs: 100 };

/** What a store needs of its database: the one below, or a transaction that several stores take part in. */
export type StoreConnection = Pick<
  Connection,
  "driver" | "clock" | "random" | "newId" | "run" | "write" | "transaction" | "group"
>;

/** What the stores write through: statements, transactions and groups, with errors turned into SluiceError. */
export class Connection implements AsyncDisposable {
  readonly driver: StateDriver;
  readonly clock: Clock;
  readonly random: Random;
  readonly newId: IdFactory;
  readonly #db: Db;
  readonly #groups: GroupCommit<Tx>;

  constructor(options: { db: Db; driver: StateDriver }, dependencies: { clock: Clock; random: Random }) {
    this.driver = options.driver;
    this.#db = options.db;
    this.clock = dependencies.clock;
    this.random = dependencies.random;
    this.newId = createIdFactory(dependencies);
    this.#groups = new GroupCommit(groupOptions, {
      transaction: (work) => this.#retried(work),
      isolate: (tx, work) => inSavepoint(tx, work),
      isItemFailure,
    });
  }

  /** One statement, in a separate transaction. */
  async run<T>(work: (db: Db) => Promise<T>): Promise<T> {
    try {
      return await work(this.#db);
    } catch (error) {
      throw toSluiceError(error);
    }
  }

  /** One statement that writes; a fence may have to precede it. */
  write<T>(work: (db: Db) => Promise<T>): Promise<T> {
    return this.run(work);
  }

  /** Several statements in one transaction, which may run again from its beginning when the database asks for it. */
  async transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    try {
      return await this.#retried(work);
    } catch (error) {
      throw toSluiceError(error);
    }
  }

  /** A small write that shares its commit with others; resolves when that commit is durable. */
  async group<Item, Result>(kind: GroupKind<Item, Result, Tx>, item: Item): Promise<Result> {
    try {
      return await this.#groups.submit(kind, item);
    } catch (error) {
      throw toSluiceError(error);
    }
  }

  /**
   * What several stores write through in one transaction: all of it is written or nothing. Errors stay as the driver
   * gives them, since the enclosing transaction decides which of them are retried.
   */
  within(tx: Tx): StoreConnection {
    const { driver, clock, random, newId } = this;
    return {
      driver,
      clock,
      random,
      newId,
      run: (work) => work(tx),
      write: (work) => work(tx),
      transaction: (work) => work(tx),
      group: async (kind, item) => {
        const [result] = await kind.apply(tx, [item]);
        // A kind gives one result for each item, in their order.
        return result as Awaited<ReturnType<typeof kind.apply>>[number];
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#groups[Symbol.asyncDispose]();
  }

  /**
   * Runs again what the database gave up for another transaction, and what was lost with a connection before its first
   * statement ran. A connection lost later leaves it unknown whether the commit took place, so that is the caller's.
   */
  async #retried<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    for (let attempt = 0; ; attempt += 1) {
      let begun = false;
      try {
        return await this.#db.transaction().execute((tx) => {
          begun = true;
          return work(tx);
        });
      } catch (error) {
        const again = isSerializationFailure(error) || (!begun && isConnectionLoss(error));
        if (!again || attempt + 1 >= transactionTriesMax) throw error;
        await sleep(this.clock, backoffDelayMs(attempt, retryBackoff, this.random));
      }
    }
  }
}

async function inSavepoint<T>(tx: Tx, work: () => Promise<T>): Promise<T> {
  await sql`savepoint item`.execute(tx);
  try {
    const result = await work();
    await sql`release savepoint item`.execute(tx);
    return result;
  } catch (error) {
    await sql`rollback to savepoint item`.execute(tx);
    await sql`release savepoint item`.execute(tx);
    throw error;
  }
}
