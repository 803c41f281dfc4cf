import { SluiceError } from "@sluice/contract/errors";
import type { StoreConnection } from "./connection.ts";
import { newStateError } from "./errors.ts";
import type { GroupKind } from "./group-commit.ts";
import type { LeaseRecord } from "./lease-records.ts";
import type { Db, Tx } from "./tables.ts";

type AnyKind = GroupKind<unknown, unknown, Tx>;

/**
 * What the holder of a lease writes through. Each write looks in its own transaction whether the lease still is in the
 * holder's epoch, under a lock that a successor's taking waits for and that waits for it: a holder that was stopped and
 * wakes up finds the epoch gone on, and what it had begun was on disk before the successor looked. Beats do not meet
 * that lock.
 *
 * It costs one more statement for each group of writes, not for each write: a look by primary key.
 */
export class FencedConnection implements StoreConnection {
  readonly #inner: StoreConnection;
  readonly #lease: Pick<LeaseRecord, "name" | "epoch">;
  readonly #kinds = new WeakMap<AnyKind, AnyKind>();

  constructor(inner: StoreConnection, lease: Pick<LeaseRecord, "name" | "epoch">) {
    this.#inner = inner;
    this.#lease = lease;
  }

  get driver() {
    return this.#inner.driver;
  }

  get clock() {
    return this.#inner.clock;
  }

  get random() {
    return this.#inner.random;
  }

  get newId() {
    return this.#inner.newId;
  }

  run<T>(work: (db: Db) => Promise<T>): Promise<T> {
    return this.#inner.run(work);
  }

  write<T>(work: (db: Db) => Promise<T>): Promise<T> {
    return this.transaction(work);
  }

  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#inner.transaction(async (tx) => {
      await this.#check(tx);
      return await work(tx);
    });
  }

  group<Item, Result>(kind: GroupKind<Item, Result, Tx>, item: Item): Promise<Result> {
    return this.#inner.group(this.#fenced(kind), item);
  }

  /** One for each kind, since a group writes together what is of one kind. */
  #fenced<Item, Result>(kind: GroupKind<Item, Result, Tx>): GroupKind<Item, Result, Tx> {
    const present = this.#kinds.get(kind);
    if (present !== undefined) return present as GroupKind<Item, Result, Tx>;
    const fenced: GroupKind<Item, Result, Tx> = {
      apply: async (tx, items) => {
        await this.#check(tx);
        return await kind.apply(tx, items);
      },
    };
    this.#kinds.set(kind, fenced);
    return fenced;
  }

  async #check(tx: Tx): Promise<void> {
    const { name, epoch } = this.#lease;
    const query = tx.selectFrom("leases").select("epoch").where("name", "=", name);
    const row = await (this.driver === "postgres" ? query.forKeyShare() : query).executeTakeFirst();
    if (row?.epoch !== epoch) throw new SluiceError("OVERLOADED", { cause: newStateError("FENCED") });
  }
}
