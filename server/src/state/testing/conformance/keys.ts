import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import type { KeyRecord, State } from "../../records.ts";
import type { ConformanceSubject } from "./subject.ts";

let created = 0;

/** A key that has not been inserted, different from every other. */
function newKey(accountId: string, changes: Partial<KeyRecord> = {}): KeyRecord {
  created += 1;
  const id = `key_${process.pid}_${String(created).padStart(6, "0")}`;
  return {
    id,
    accountId,
    name: "a key",
    hash: createHash("sha256").update(id).digest("hex"),
    hint: "sk_dev_AbC…xyz",
    environment: "dev",
    status: "active",
    restrictions: { networks: [], domains: [], ipRanges: [] },
    enhanced: false,
    enhancedRequestsPerSecond: null,
    permissions: ["read"],
    methods: [],
    requestsPerSecond: null,
    expiresAt: null,
    createdAt: 1_790_000_000_000 + created,
    lastUsedAt: null,
    ...changes,
  };
}

const newAccount = async (state: State): Promise<string> => (await state.accounts.create({ name: "keys" })).id;

export function keyConformance({ state }: ConformanceSubject): void {
  describe("keys", () => {
    test("a key with every field set is found by its hash together with its account", async () => {
      const accountId = await newAccount(state());
      const key = newKey(accountId, {
        environment: "live",
        restrictions: { networks: ["devnet"], domains: ["*.example.com"], ipRanges: ["2001:db8::/32", "10.0.0.0/8"] },
        enhanced: true,
        enhancedRequestsPerSecond: 12,
        permissions: ["read", "transactions:write", "admin"],
        methods: ["getBalance", "getToken*"],
        requestsPerSecond: 34,
        expiresAt: 1_890_000_000_000,
        lastUsedAt: 1_790_000_000_001,
      });
      expect(await state().keys.insert(key)).toEqual(key);
      const found = await state().keys.findByHash(key.hash);
      expect(found).toEqual({ key, account: (await state().accounts.get(accountId)) ?? expect.anything() });
      expect(await state().keys.get(key.id)).toEqual(key);
    });

    test("an unknown id or hash gives null", async () => {
      for (const id of ["nothing", "", "a\0b", "f".repeat(64)]) {
        expect(await state().keys.get(id)).toBeNull();
        expect(await state().keys.findByHash(id)).toBeNull();
        expect(await state().keys.setStatus(id, "active")).toBeNull();
        expect(await state().keys.update(id, { name: "n" })).toBeNull();
      }
    });

    test("a hash or an id that is taken is CONFLICT, an account that is not there NOT_FOUND", async () => {
      const accountId = await newAccount(state());
      const key = await state().keys.insert(newKey(accountId));
      await expect(state().keys.insert(newKey(accountId, { hash: key.hash }))).rejects.toMatchObject({
        code: "CONFLICT",
      });
      await expect(state().keys.insert(newKey(accountId, { id: key.id }))).rejects.toMatchObject({ code: "CONFLICT" });
      await expect(state().keys.insert(newKey("acct_none"))).rejects.toMatchObject({ code: "NOT_FOUND" });
    });

    test("a hash that is not SHA-256 in hexadecimal is refused, so that no key is ever stored as itself", async () => {
      const accountId = await newAccount(state());
      for (const hash of ["sk_dev_abc", "A".repeat(64), ""]) {
        await expect(state().keys.insert(newKey(accountId, { hash }))).rejects.toMatchObject({ code: "INVALID_INPUT" });
      }
    });

    test("a key can be disabled and enabled again, and stays revoked once it is", async () => {
      const key = await state().keys.insert(newKey(await newAccount(state())));
      for (const status of ["disabled", "active", "revoked", "revoked"] as const) {
        expect((await state().keys.setStatus(key.id, status))?.status).toBe(status);
      }
      for (const status of ["active", "disabled"] as const) {
        await expect(state().keys.setStatus(key.id, status)).rejects.toMatchObject({ code: "CONFLICT" });
      }
      expect((await state().keys.get(key.id))?.status).toBe("revoked");
    });

    test("an update changes what it names and nothing else", async () => {
      const key = await state().keys.insert(newKey(await newAccount(state()), { requestsPerSecond: 5 }));
      const restrictions = { networks: ["mainnet" as const], domains: [], ipRanges: ["192.0.2.0/24"] };
      const changes = { name: "renamed", restrictions, enhanced: true, expiresAt: 1_800_000_000_000 };
      expect(await state().keys.update(key.id, changes)).toEqual({ ...key, ...changes });
      expect(await state().keys.update(key.id, {})).toEqual({ ...key, ...changes });
      expect(await state().keys.update(key.id, { requestsPerSecond: null })).toMatchObject({ requestsPerSecond: null });
      for (const methods of [["getSlot", "get*"], []]) {
        expect((await state().keys.update(key.id, { methods }))?.methods).toEqual(methods);
      }
    });

    test("the last use only moves forward, for many keys and from many callers at once", async () => {
      const accountId = await newAccount(state());
      const keys = await Promise.all(Array.from({ length: 20 }, () => state().keys.insert(newKey(accountId))));
      const touches = Array.from({ length: 10 }, (_, round) => {
        const times = new Map(keys.map(({ id }, index) => [id, 1_000 + ((round * 7 + index) % 10)]));
        return state().keys.touch(times.set("key_unknown", 1).set("a\0b", 1));
      });
      await Promise.all(touches);
      for (const { id } of keys) expect((await state().keys.get(id))?.lastUsedAt).toBe(1_009);
      await state().keys.touch(new Map(keys.map(({ id }) => [id, 500])));
      for (const { id } of keys) expect((await state().keys.get(id))?.lastUsedAt).toBe(1_009);
    });

    test("touching more keys than a statement takes values works, and over 10,000 is refused", async () => {
      const key = await state().keys.insert(newKey(await newAccount(state())));
      const many = new Map(Array.from({ length: 2_500 }, (_, index) => [`key_none_${index}`, 1]));
      await state().keys.touch(many.set(key.id, 77));
      expect((await state().keys.get(key.id))?.lastUsedAt).toBe(77);
      const tooMany = new Map(Array.from({ length: 10_001 }, (_, index) => [`key_none_${index}`, 1]));
      await expect(state().keys.touch(tooMany)).rejects.toMatchObject({ code: "INVALID_INPUT" });
    });

    test("a list can be of one account, and is oldest first", async () => {
      const [mine, other] = [await newAccount(state()), await newAccount(state())];
      const ids: string[] = [];
      for (let index = 0; index < 5; index += 1) {
        ids.push((await state().keys.insert(newKey(mine))).id);
        await state().keys.insert(newKey(other));
      }
      const first = await state().keys.list({ accountId: mine, limit: 3 });
      const second = await state().keys.list({ accountId: mine, limit: 3, cursor: first.nextCursor });
      expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(ids);
      expect(second.nextCursor).toBeNull();
      expect((await state().keys.list({ accountId: "a\0b" })).items).toEqual([]);
    });
  });
}
