import { describe, expect, test } from "bun:test";
import { hashSessionToken } from "../../sessions.ts";
import type { ConformanceSubject } from "./subject.ts";

export function trailConformance({ state, clock, execute }: ConformanceSubject): void {
  describe("sessions", () => {
    test("a session is found by the hash of its token until it expires, and the token is not stored", async () => {
      const { id } = await state().accounts.create({ name: "sessions" });
      const expiresAt = clock.now() + 1_000;
      const { token, session } = await state().sessions.create({ accountId: id, keyId: null, expiresAt });
      expect(token).toMatch(/^ss_[A-Za-z0-9_-]{43}$/);
      expect(session).toEqual({
        hash: hashSessionToken(token),
        accountId: id,
        keyId: null,
        createdAt: clock.now(),
        expiresAt,
      });
      expect(await state().sessions.find(hashSessionToken(token))).toEqual(session);
      expect(await state().sessions.find(token)).toBeNull();
      clock.advance(1_000);
      expect(await state().sessions.find(hashSessionToken(token))).toBeNull();
    });

    test("deleting says whether there was one; expired ones are swept and others are kept", async () => {
      const { id } = await state().accounts.create({ name: "sweep" });
      await state().sessions.deleteExpired();
      const make = (livesMs: number) =>
        state().sessions.create({ accountId: id, keyId: null, expiresAt: clock.now() + livesMs });
      const [short, long, gone] = [await make(10), await make(10_000), await make(10_000)];
      expect(await state().sessions.delete(gone.session.hash)).toBe(true);
      expect(await state().sessions.delete(gone.session.hash)).toBe(false);
      expect(await state().sessions.delete("a\0b")).toBe(false);
      clock.advance(10);
      expect(await state().sessions.deleteExpired()).toBe(1);
      expect(await state().sessions.find(short.session.hash)).toBeNull();
      expect(await state().sessions.find(long.session.hash)).toEqual(long.session);
    });

    test("all expired sessions are swept at once, however many there are", async () => {
      const { id } = await state().accounts.create({ name: "many" });
      await state().sessions.deleteExpired();
      const rows = Array.from({ length: 2_100 }, (_, index) => `('${id}${index}', '${id}', null, 1, ${index + 1})`);
      await execute(`insert into sessions (hash, account_id, key_id, created_at, expires_at) values ${rows.join()}`);
      expect(await state().sessions.deleteExpired()).toBe(2_100);
      expect(await state().sessions.deleteExpired()).toBe(0);
    });

    test("an account has ten sessions at most: one more ends the oldest, and no other account's", async () => {
      const [mine, other] = [
        await state().accounts.create({ name: "a" }),
        await state().accounts.create({ name: "b" }),
      ];
      const make = async (accountId: string): Promise<string> => {
        clock.advance(1);
        const expiresAt = clock.now() + 1_000_000;
        return (await state().sessions.create({ accountId, keyId: null, expiresAt })).session.hash;
      };
      const isThere = async (hash: string) => (await state().sessions.find(hash)) !== null;
      const foreign = await make(other.id);
      const hashes: string[] = [];
      for (let index = 0; index < 12; index += 1) hashes.push(await make(mine.id));
      expect(await Promise.all(hashes.map(isThere))).toEqual([false, false, ...Array(10).fill(true)]);
      const together = await Promise.all(Array.from({ length: 15 }, () => make(mine.id)));
      const left = await Promise.all([...hashes, ...together].map(isThere));
      expect(left.filter(Boolean)).toHaveLength(10);
      expect(await isThere(foreign)).toBe(true);
    });

    test("a session of an account or key that is not there is NOT_FOUND", async () => {
      const { id } = await state().accounts.create({ name: "no key" });
      const expiresAt = clock.now() + 1_000;
      const { sessions } = state();
      await expect(sessions.create({ accountId: "acct_none", keyId: null, expiresAt })).rejects.toMatchObject({
        code: "NOT_FOUND",
      });
      await expect(sessions.create({ accountId: id, keyId: "key_none", expiresAt })).rejects.toMatchObject({
        code: "NOT_FOUND",
      });
    });
  });

  describe("audit", () => {
    test("entries come back newest first, also those appended at once in one millisecond", async () => {
      const subject = `subject ${clock.now()}`;
      const appended = await Promise.all(
        Array.from({ length: 25 }, (_, index) =>
          state().audit.append({
            actor: "operator",
            action: "key.created",
            subject,
            detail: { index, text: "a\0é🦀" },
          }),
        ),
      );
      const first = await state().audit.list({ subject, limit: 10 });
      const second = await state().audit.list({ subject, limit: 50, cursor: first.nextCursor });
      expect([...first.items, ...second.items]).toEqual(appended.toReversed());
      expect((await state().audit.list({ limit: 1 })).items).toEqual(appended.slice(-1));
    });

    test("the database refuses to change or delete an entry", async () => {
      const entry = await state().audit.append({ actor: "operator", action: "x", subject: "kept" });
      await expect(execute("update audit set actor = 'nobody'")).rejects.toThrow(/append-only/);
      await expect(execute("delete from audit")).rejects.toThrow(/append-only/);
      expect((await state().audit.list({ subject: "kept" })).items).toEqual([entry]);
    });

    test("a detail that is not JSON or over 64 KiB is refused", async () => {
      const base = { actor: "operator", action: "x", subject: "y" };
      for (const detail of [{ long: "x".repeat(66_000) }, { amount: 1n }]) {
        await expect(state().audit.append({ ...base, detail })).rejects.toMatchObject({ code: "INVALID_INPUT" });
      }
    });
  });

  test("an open database answers a ping", async () => {
    expect(await state().ping()).toBe(true);
  });
}
