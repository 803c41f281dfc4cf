import { describe, expect, test } from "bun:test";
import { int64Max } from "../../values.ts";
import type { ConformanceSubject } from "./subject.ts";

export function accountConformance({ state, clock }: ConformanceSubject): void {
  describe("accounts", () => {
    test("a new account has the smallest tiers and no overrides, and is read back as it was returned", async () => {
      const created = await state().accounts.create({ name: "Ünïcode 🦀 & Co" });
      expect(created).toEqual({
        id: created.id,
        name: "Ünïcode 🦀 & Co",
        createdAt: clock.now(),
        tiers: { platform: "free", oracle: "community", "oracle-v2": "community" },
        requestsPerSecond: null,
        creditsMonthly: null,
        disabledAt: null,
      });
      expect(created.id).toMatch(/^acct_[0-9a-z]{26}$/);
      expect(await state().accounts.get(created.id)).toEqual(created);
    });

    test("an unknown id gives null, also one that no row can have", async () => {
      for (const id of ["acct_unknown", "", "a\0b", "\ud800", "x".repeat(10_000)]) {
        expect(await state().accounts.get(id)).toBeNull();
        expect(await state().accounts.setTier(id, "platform", "free")).toBeNull();
        expect(await state().accounts.setOverrides(id, { requestsPerSecond: 1 })).toBeNull();
      }
    });

    test("an id that is taken is CONFLICT and leaves the first account as it was", async () => {
      const first = await state().accounts.create({ id: "acct_taken", name: "first" });
      await expect(state().accounts.create({ id: "acct_taken", name: "second" })).rejects.toMatchObject({
        code: "CONFLICT",
      });
      expect(await state().accounts.get("acct_taken")).toEqual(first);
    });

    test("each product's tier changes alone, and one that the product lacks is refused", async () => {
      const { id } = await state().accounts.create({ name: "tiers", tiers: { oracle: "ultra" } });
      await state().accounts.setTier(id, "platform", "enterprise");
      const changed = await state().accounts.setTier(id, "oracle-v2", "developer");
      expect(changed?.tiers).toEqual({ platform: "enterprise", oracle: "ultra", "oracle-v2": "developer" });
      const refused = state().accounts.setTier(id, "platform", "ultra" as "free");
      await expect(refused).rejects.toMatchObject({ code: "INVALID_INPUT" });
      expect((await state().accounts.get(id))?.tiers.platform).toBe("enterprise");
    });

    test("credits of 2^63-1 and of 2^53+1 are kept exactly", async () => {
      for (const creditsMonthly of [int64Max, 2n ** 53n + 1n, 0n]) {
        const { id } = await state().accounts.create({ name: "exact", creditsMonthly });
        expect((await state().accounts.get(id))?.creditsMonthly).toBe(creditsMonthly);
      }
    });

    test("credits over 2^63-1 or below 0 are refused instead of stored wrongly", async () => {
      const { id } = await state().accounts.create({ name: "range", creditsMonthly: 5n });
      for (const creditsMonthly of [int64Max + 1n, 2n ** 64n, -1n]) {
        const refused = state().accounts.setOverrides(id, { creditsMonthly });
        await expect(refused).rejects.toMatchObject({ code: "INVALID_INPUT" });
      }
      expect((await state().accounts.get(id))?.creditsMonthly).toBe(5n);
    });

    test("an override changes alone, and null takes it away", async () => {
      const { id } = await state().accounts.create({ name: "overrides", requestsPerSecond: 7, creditsMonthly: 9n });
      expect(await state().accounts.setOverrides(id, { creditsMonthly: null })).toMatchObject({
        requestsPerSecond: 7,
        creditsMonthly: null,
      });
      expect(await state().accounts.setOverrides(id, {})).toMatchObject({ requestsPerSecond: 7 });
    });

    test("a name changes alone", async () => {
      const { id } = await state().accounts.create({ name: "before", tiers: { platform: "business" } });
      expect(await state().accounts.rename(id, "after")).toMatchObject({
        id,
        name: "after",
        tiers: { platform: "business" },
      });
      expect((await state().accounts.get(id))?.name).toBe("after");
      expect(await state().accounts.rename("nobody", "after")).toBeNull();
      const refused = await state()
        .accounts.rename(id, "")
        .catch((error: Error) => error);
      expect(refused).toMatchObject({ code: "INVALID_INPUT" });
    });

    test("an account is disabled and enabled again, and its keys are found with it", async () => {
      const { id } = await state().accounts.create({ name: "paused" });
      expect(await state().accounts.setDisabled(id, true)).toMatchObject({ id, disabledAt: clock.now() });
      expect((await state().accounts.get(id))?.disabledAt).toBe(clock.now());
      expect(await state().accounts.setDisabled(id, false)).toMatchObject({ name: "paused", disabledAt: null });
      expect(await state().accounts.setDisabled("nobody", true)).toBeNull();
    });

    test("names that a driver could not give back are refused", async () => {
      for (const name of ["", "a\0b", "\ud800", "x".repeat(201)]) {
        await expect(state().accounts.create({ name })).rejects.toMatchObject({ code: "INVALID_INPUT" });
      }
    });
  });

  describe("pages", () => {
    test("following the cursors gives every account once, oldest first, also those made in one millisecond", async () => {
      const made: string[] = [];
      clock.advance(1);
      for (let index = 0; index < 7; index += 1) {
        if (index === 4) clock.advance(1);
        made.push((await state().accounts.create({ name: `page ${index}` })).id);
      }
      const seen: string[] = [];
      let cursor: string | null = null;
      do {
        const page: Awaited<ReturnType<ReturnType<typeof state>["accounts"]["list"]>> = await state().accounts.list({
          limit: 3,
          cursor,
        });
        expect(page.items.length).toBeLessThanOrEqual(3);
        seen.push(...page.items.map(({ id }) => id));
        cursor = page.nextCursor;
      } while (cursor !== null && seen.length < 1_000);
      expect(new Set(seen).size).toBe(seen.length);
      expect(seen.slice(-7)).toEqual(made);
    });

    test("an account made between two pages moves nothing", async () => {
      const first = await state().accounts.list({ limit: 2 });
      await state().accounts.create({ id: "acct_000", name: "sorts before the others by its id alone" });
      const second = await state().accounts.list({ limit: 2, cursor: first.nextCursor });
      const both = await state().accounts.list({ limit: 4 });
      expect([...first.items, ...second.items]).toEqual([...both.items]);
    });

    test("a limit outside 1 to 1000 and a cursor that is not of this list are refused", async () => {
      for (const limit of [0, 1_001, 1.5, Number.NaN, -1]) {
        await expect(state().accounts.list({ limit })).rejects.toMatchObject({ code: "INVALID_INPUT" });
      }
      const { nextCursor } = await state().accounts.list({ limit: 1 });
      await expect(state().audit.list({ cursor: nextCursor })).rejects.toMatchObject({ code: "INVALID_INPUT" });
      const parts: unknown = JSON.parse(Buffer.from(nextCursor ?? "", "base64url").toString());
      if (!Array.isArray(parts)) throw new Error("a cursor is a list");
      const altered = [["accounts", "x", "y"], [...parts, 1], parts.slice(0, 2)];
      const cursors = altered.map((list) => Buffer.from(JSON.stringify(list)).toString("base64url"));
      for (const cursor of ["", "x", "e30", `${nextCursor}!`, `${nextCursor}=`, ...cursors]) {
        await expect(state().accounts.list({ cursor })).rejects.toMatchObject({ code: "INVALID_INPUT" });
      }
    });
  });
}
