import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { SluiceError } from "@sluice/contract/errors";
import type { KeyRecord, State } from "../../records.ts";
import type { ConformanceSubject } from "./subject.ts";

let created = 0;

async function adminKey(state: State, changes: Partial<KeyRecord> = {}): Promise<KeyRecord> {
  created += 1;
  const account = await state.accounts.create({ name: "of admins" });
  const id = `key_change_${process.pid}_${created}`;
  return await state.keys.insert({
    id,
    accountId: account.id,
    name: "admin",
    hash: createHash("sha256").update(id).digest("hex"),
    hint: "sk_dev_AbC…xyz",
    environment: "dev",
    status: "active",
    restrictions: { networks: [], domains: [], ipRanges: [] },
    enhanced: false,
    enhancedRequestsPerSecond: null,
    permissions: ["admin"],
    methods: [],
    requestsPerSecond: null,
    expiresAt: null,
    createdAt: 1_790_000_000_000 + created,
    lastUsedAt: null,
    ...changes,
  });
}

export function changeConformance({ state, replicas }: ConformanceSubject): void {
  describe("changes", () => {
    test("a change and its trail are written together, or neither is", async () => {
      const { id } = await state().accounts.create({ name: "changed together" });
      await state().change(async ({ accounts, audit }) => {
        await accounts.setTier(id, "platform", "business");
        await audit.append({ actor: "key_1", action: "account.change", subject: id, detail: { tier: "business" } });
      });
      expect((await state().accounts.get(id))?.tiers.platform).toBe("business");
      expect((await state().audit.list({ subject: id })).items.map(({ detail }) => detail)).toEqual([
        { tier: "business" },
      ]);
      const failing = state().change(async ({ accounts, audit }) => {
        await accounts.setTier(id, "platform", "free");
        await audit.append({ actor: "key_1", action: "account.change", subject: id });
        throw new SluiceError("CONFLICT");
      });
      expect(await failing.catch((error: SluiceError) => error.code)).toBe("CONFLICT");
      expect((await state().accounts.get(id))?.tiers.platform).toBe("business");
      expect((await state().audit.list({ subject: id })).items).toHaveLength(1);
    });

    test("of two administrators that disable each other at the same time one is left", async () => {
      for (const { id } of await state().keys.lockAdmins()) await state().keys.setStatus(id, "disabled");
      const [one, other] = [await adminKey(state()), await adminKey(state())];
      await adminKey(state(), { permissions: ["read"] });
      await adminKey(state(), { status: "disabled" });
      expect((await state().keys.lockAdmins()).map(({ id }) => id)).toEqual([one.id, other.id].toSorted());
      const disable = (at: State | undefined, id: string) =>
        at?.change(async ({ keys }) => {
          const left = (await keys.lockAdmins()).filter((key) => key.id !== id);
          if (left.length === 0) return false;
          await keys.setStatus(id, "disabled");
          return true;
        });
      const outcomes = await Promise.all([disable(replicas()[0], one.id), disable(replicas().at(-1), other.id)]);
      expect(outcomes.toSorted()).toEqual([false, true]);
      expect(await state().keys.lockAdmins()).toHaveLength(1);
    });

    test("lock reads a key as get does", async () => {
      const key = await adminKey(state(), { permissions: ["read", "admin"] });
      expect(await state().change(({ keys }) => keys.lock(key.id))).toEqual(key);
      expect(await state().keys.lock("nobody")).toBeNull();
      expect(await state().keys.lock("a\0b")).toBeNull();
    });
  });

  describe("nodes that were added", () => {
    test("a label is taken once in its network, in a change with its trail as alone, and free again when it is removed", async () => {
      const nodes = state().upstreamNodes;
      const options = Uint8Array.of(0, 255, 7);
      expect(await nodes.add({ network: "devnet", label: "a", options })).toBe(true);
      expect(await nodes.add({ network: "devnet", label: "a", options: Uint8Array.of(1) })).toBe(false);
      expect(await nodes.add({ network: "mainnet", label: "a", options })).toBe(true);
      const taken = await state().change(({ upstreamNodes }) =>
        upstreamNodes.add({ network: "devnet", label: "a", options }),
      );
      expect(taken).toBe(false);
      for (const replica of replicas()) {
        expect((await replica.upstreamNodes.list()).map((node) => [node.network, node.label, node.options])).toEqual([
          ["devnet", "a", options],
          ["mainnet", "a", options],
        ]);
      }
      const large = nodes.add({ network: "devnet", label: "b", options: new Uint8Array(256 * 1024 + 1) });
      expect(await large.catch((error: SluiceError) => error.code)).toBe("INVALID_INPUT");
      expect([await nodes.remove("devnet", "a"), await nodes.remove("devnet", "a")]).toEqual([true, false]);
      expect([await nodes.remove("devnet", "a\0b"), await nodes.remove("mainnet", "a")]).toEqual([false, true]);
      expect(await nodes.list()).toEqual([]);
    });
  });

  describe("orders for nodes", () => {
    test("the last order for a node stands until it is cleared, by network and label", async () => {
      const orders = state().upstreamOrders;
      await orders.set({ network: "devnet", label: "a", order: "drained" });
      await orders.set({ network: "devnet", label: "a", order: "cordoned" });
      await orders.set({ network: "mainnet", label: "a", order: "drained" });
      const shown = (await orders.list()).map(({ network, label, order }) => [network, label, order]);
      expect(shown).toEqual([
        ["devnet", "a", "cordoned"],
        ["mainnet", "a", "drained"],
      ]);
      expect([await orders.clear("devnet", "a"), await orders.clear("devnet", "a")]).toEqual([true, false]);
      expect(await orders.clear("devnet", "a\0b")).toBe(false);
      expect((await orders.list()).map(({ network }) => network)).toEqual(["mainnet"]);
      await orders.clear("mainnet", "a");
    });

    test("an order that is none is refused", async () => {
      const set = (order: object) =>
        state()
          .upstreamOrders.set(order as Parameters<State["upstreamOrders"]["set"]>[0])
          .catch((error: SluiceError) => error.code);
      expect(await set({ network: "devnet", label: "a", order: "open" })).toBe("INVALID_INPUT");
      expect(await set({ network: "elsewhere", label: "a", order: "drained" })).toBe("INVALID_INPUT");
      expect(await set({ network: "devnet", label: "", order: "drained" })).toBe("INVALID_INPUT");
    });
  });
}
