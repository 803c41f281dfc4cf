import { describe, expect, test } from "bun:test";
import { createHash, randomUUID } from "node:crypto";
import type { GrantChange, KeyRecord, State } from "../../records.ts";
import type { ConformanceSubject } from "./subject.ts";

const newKey = (accountId: string): KeyRecord => {
  const id = `key_${randomUUID()}`;
  return {
    id,
    accountId,
    name: "counted",
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
    createdAt: 1_790_000_000_000,
    lastUsedAt: null,
  };
};

export function keyChangeConformance({ state, replicas, execute }: ConformanceSubject): void {
  describe("changes of keys and accounts", () => {
    /** What `work` has had counted. */
    async function changesOf(work: () => Promise<unknown>): Promise<readonly GrantChange[] | null> {
      const before = await state().keyChanges.revision();
      await work();
      const { revision, changes } = await state().keyChanges.since(before);
      if (changes !== null) expect(revision - before).toBe(BigInt(changes.length));
      return changes;
    }

    test("whatever changes what a key grants is counted with it, once; what changes nothing is not", async () => {
      const { id: accountId } = await state().accounts.create({ name: "counted" });
      const key = newKey(accountId);
      const ofKey: GrantChange = { kind: "key", hash: key.hash };
      const ofAccount: GrantChange = { kind: "account", accountId };
      const works: readonly (readonly [(at: State) => Promise<unknown>, readonly GrantChange[]])[] = [
        [(at) => at.keys.insert(key), [ofKey]],
        [(at) => at.keys.update(key.id, { methods: ["getSlot"] }), [ofKey]],
        [(at) => at.keys.setStatus(key.id, "disabled"), [ofKey]],
        [(at) => at.accounts.setTier(accountId, "platform", "business"), [ofAccount]],
        [(at) => at.accounts.setOverrides(accountId, { requestsPerSecond: 5 }), [ofAccount]],
        [(at) => at.accounts.setDisabled(accountId, true), [ofAccount]],
        [(at) => at.engine.searchers.link(`pubkey-${accountId}`, accountId), [ofAccount]],
        [(at) => at.engine.searchers.unlink(`pubkey-${accountId}`), [ofAccount]],
        [(at) => at.engine.searchers.unlink(`pubkey-${accountId}`), []],
        [(at) => at.keys.touch(new Map([[key.id, 1_790_000_000_001]])), []],
        [(at) => at.keys.update("nothing", { name: "x" }), []],
        [(at) => at.accounts.setDisabled("nothing", true), []],
      ];
      for (const [work, counted] of works) expect(await changesOf(() => work(state()))).toEqual([...counted]);
    });

    test("a change that is rolled back is not counted, and several of one commit are counted together", async () => {
      const { id } = await state().accounts.create({ name: "together" });
      const undone = () =>
        state().change(async ({ accounts }) => {
          await accounts.setDisabled(id, true);
          throw new Error("undone");
        });
      expect(await changesOf(() => undone().catch(() => undefined))).toEqual([]);
      const [first, second] = [newKey(id), newKey(id)];
      const both = async () =>
        await state().change(async ({ keys }) => {
          await keys.insert(first);
          await keys.insert(second);
        });
      expect(await changesOf(both)).toEqual([
        { kind: "key", hash: first.hash },
        { kind: "key", hash: second.hash },
      ]);
    });

    test("changes of several at once are each counted, and every replica reads the same", async () => {
      const accounts = await Promise.all(
        Array.from({ length: 8 }, (_, at) => state().accounts.create({ name: `at once ${at}` })),
      );
      const before = await state().keyChanges.revision();
      await Promise.all(
        accounts.map(({ id }, at) => (replicas()[at % replicas().length] ?? state()).accounts.setDisabled(id, true)),
      );
      const readings = await Promise.all(replicas().map((each) => each.keyChanges.since(before)));
      for (const reading of readings) expect(reading).toEqual(readings[0] ?? reading);
      expect(new Set(readings[0]?.changes?.map((change) => change.kind === "account" && change.accountId))).toEqual(
        new Set(accounts.map(({ id }) => id)),
      );
    });

    test("changes that are not kept any more, and a revision that lies ahead, are no list", async () => {
      const { id } = await state().accounts.create({ name: "forgotten" });
      await state().accounts.setDisabled(id, true);
      const revision = await state().keyChanges.revision();
      expect(await state().keyChanges.since(revision + 1n)).toEqual({ revision, changes: null });
      await execute(`delete from key_changes where revision = ${revision}`);
      expect(await state().keyChanges.since(revision - 1n)).toEqual({ revision, changes: null });
      expect(await state().keyChanges.since(revision)).toEqual({ revision, changes: [] });
    });
  });
}
