import { describe, expect, test } from "bun:test";
import { run as groupCommitCampaign } from "./group-commit.campaign.ts";
import { GroupCommit, type GroupKind } from "./group-commit.ts";

class ItemFailure extends Error {}

/** A database of one list, with transactions and savepoints, that counts its commits. */
class FakeDatabase {
  committed: string[] = [];
  commits = 0;
  failCommit: Error | null = null;
  /** Resolves the present commit; the next waits again. */
  #release: (() => void) | null = null;
  hold = false;

  async transaction<T>(work: (tx: string[]) => Promise<T>): Promise<T> {
    const tx = [...this.committed];
    const result = await work(tx);
    if (this.hold) await new Promise<void>((resolve) => (this.#release = resolve));
    if (this.failCommit !== null) throw this.failCommit;
    this.committed = tx;
    this.commits += 1;
    return result;
  }

  async isolate<T>(tx: string[], work: () => Promise<T>): Promise<T> {
    const before = tx.length;
    try {
      return await work();
    } catch (error) {
      tx.splice(before);
      throw error;
    }
  }

  isItemFailure(error: unknown): boolean {
    return error instanceof ItemFailure;
  }

  release(): void {
    this.#release?.();
  }
}

const append: GroupKind<string, number, string[]> = {
  apply: async (tx, items) =>
    items.map((item) => {
      tx.push(item);
      if (item.startsWith("bad")) throw new ItemFailure(item);
      if (item.startsWith("fatal")) throw new Error(item);
      return item.length;
    }),
};
const shout: GroupKind<string, string, string[]> = {
  apply: async (tx, items) => {
    tx.push(...items.map((item) => item.toUpperCase()));
    return items.map((item) => item.toUpperCase());
  },
};

const setUp = (options: { queueMax?: number; groupMax?: number } = {}) => {
  const database = new FakeDatabase();
  const group = new GroupCommit<string[]>({ queueMax: 100, groupMax: 50, ...options }, database);
  return { database, group };
};

describe("GroupCommit", () => {
  test("writes of one turn share one commit, and each gets its own result", async () => {
    const { database, group } = setUp();
    const results = await Promise.all([
      group.submit(append, "a"),
      group.submit(shout, "b"),
      group.submit(append, "ccc"),
      group.submit(shout, "d"),
    ]);
    expect(results).toEqual([1, "B", 3, "D"]);
    expect(database.commits).toBe(1);
    expect(database.committed).toEqual(["a", "ccc", "B", "D"]);
  });

  test("a promise is pending until the commit has returned", async () => {
    const { database, group } = setUp();
    database.hold = true;
    let settled = false;
    const pending = group.submit(append, "a").then(() => {
      settled = true;
    });
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(settled).toBe(false);
    database.release();
    await pending;
    expect(database.committed).toEqual(["a"]);
  });

  test("a bad item fails alone, and nothing that it wrote stays", async () => {
    const { database, group } = setUp();
    const results = await Promise.allSettled(
      ["a", "bad", "c", "bad too", "e"].map((item) => group.submit(append, item)),
    );
    expect(results.map(({ status }) => status)).toEqual([
      "fulfilled",
      "rejected",
      "fulfilled",
      "rejected",
      "fulfilled",
    ]);
    expect(database.committed).toEqual(["a", "c", "e"]);
    expect(await group.submit(append, "later")).toBe(5);
  });

  test("a failed commit acknowledges no write of its group, and the next group is tried afresh", async () => {
    const { database, group } = setUp();
    database.failCommit = new Error("the disk is full");
    const results = await Promise.allSettled(["a", "b"].map((item) => group.submit(append, item)));
    expect(results.map((result) => (result.status === "rejected" ? result.reason : null))).toEqual([
      database.failCommit,
      database.failCommit,
    ]);
    database.failCommit = null;
    await group.submit(append, "c");
    expect(database.committed).toEqual(["c"]);
  });

  test("a failure that is not an item's own fails the group once, without running it again", async () => {
    const { database, group } = setUp();
    const results = await Promise.allSettled(["a", "fatal", "c"].map((item) => group.submit(append, item)));
    expect(results.every(({ status }) => status === "rejected")).toBe(true);
    expect(database.committed).toEqual([]);
  });

  test("a failure of the database while a bad item is looked for fails the group: nothing of it is acknowledged or kept", async () => {
    const { database, group } = setUp();
    const results = await Promise.allSettled(["a", "bad", "fatal", "d"].map((item) => group.submit(append, item)));
    expect(results.map((result) => (result.status === "rejected" ? String(result.reason) : "kept"))).toEqual(
      Array(4).fill("Error: fatal"),
    );
    expect([database.committed, database.commits]).toEqual([[], 0]);
    expect(await group.submit(append, "later")).toBe(5);
  });

  test("one more than the queue holds is refused with OVERLOADED, and those in it are written", async () => {
    const { database, group } = setUp({ queueMax: 3, groupMax: 2 });
    const results = await Promise.allSettled(["a", "b", "c", "d"].map((item) => group.submit(append, item)));
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "fulfilled", "rejected"]);
    expect(results[3]).toMatchObject({ reason: { code: "OVERLOADED" } });
    expect(database.commits).toBe(2);
  });

  test("closing writes what is queued and refuses what comes after", async () => {
    const { database, group } = setUp();
    const queued = group.submit(append, "a");
    const closed = group[Symbol.asyncDispose]();
    await expect(group.submit(append, "late")).rejects.toMatchObject({ code: "OVERLOADED" });
    await closed;
    expect(await queued).toBe(1);
    expect(database.committed).toEqual(["a"]);
  });

  test("every write from many writers at once is in the database", async () => {
    const { passed, summary } = await groupCommitCampaign({ n: 100, seed: 1 });
    expect(summary).toContain("1100 written");
    expect(passed).toBe(true);
  });
});
