import { describe, expect, test } from "bun:test";
import { sqlLimits } from "@sluice/contract/sql";
import type { ConformanceSubject } from "./subject.ts";

const content = (name: string) => ({ name, query: "SELECT 1 -- ☃ ' \\ \n", parameters: '{"a":"1"}' });

export function savedQueryConformance({ state, clock, replicas }: ConformanceSubject): void {
  const account = async (name: string): Promise<string> => (await state().accounts.create({ name })).id;

  describe("saved queries", () => {
    test("are an account's own: created, read, listed by name, changed and deleted by it alone", async () => {
      const [one, two] = [await account("of queries"), await account("of none")];
      const { savedQueries } = state();
      const second = await savedQueries.create(one, content("b"));
      const first = await savedQueries.create(one, content("a"));
      if (first === null || second === null) throw new Error("there was room");
      expect(first).toMatchObject({ accountId: one, ...content("a"), createdAt: clock.now() });
      expect((await savedQueries.list(one)).map(({ name }) => name)).toEqual(["a", "b"]);
      expect(await savedQueries.get(two, first.id)).toBeNull();
      expect(await savedQueries.update(two, first.id, { name: "theirs" })).toBeNull();
      expect(await savedQueries.delete(two, first.id)).toBe(false);
      expect(await savedQueries.update(one, first.id, { query: "SELECT 2" })).toMatchObject({
        name: "a",
        query: "SELECT 2",
      });
      expect((await savedQueries.get(one, first.id))?.query).toBe("SELECT 2");
      expect(await savedQueries.delete(one, first.id)).toBe(true);
      expect(await savedQueries.get(one, first.id)).toBeNull();
      expect(await savedQueries.list(two)).toEqual([]);
    });

    test("have names of their own, and are bounded in number and size, also by two processes at once", async () => {
      const id = await account("of many queries");
      await state().savedQueries.create(id, content("taken"));
      await expect(state().savedQueries.create(id, content("taken"))).rejects.toMatchObject({ code: "CONFLICT" });
      const long = { ...content("long"), query: "x".repeat(sqlLimits.queryBytes + 1) };
      await expect(state().savedQueries.create(id, long)).rejects.toMatchObject({ code: "INVALID_INPUT" });
      const stores = replicas();
      const tried = Array.from({ length: sqlLimits.savedQueries + 5 }, (_, at) =>
        (stores[at % stores.length] ?? state()).savedQueries.create(id, content(`query ${at}`)),
      );
      const made = (await Promise.all(tried)).filter((record) => record !== null);
      expect(made.length).toBe(sqlLimits.savedQueries - 1);
      expect((await state().savedQueries.list(id)).length).toBe(sqlLimits.savedQueries);
    });
  });
}
