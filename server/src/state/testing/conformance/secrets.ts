import { describe, expect, test } from "bun:test";
import type { StoredSecret } from "../../secret-records.ts";
import type { ConformanceSubject } from "./subject.ts";

const bytes = (fill: number): Uint8Array => new Uint8Array(20).fill(fill);

export function secretConformance({ state, replicas }: ConformanceSubject): void {
  const ownOf = (list: readonly StoredSecret[]): StoredSecret[] =>
    list.filter(({ place }) => place.includes("secret-test"));

  describe("stored secrets", () => {
    test("of nodes and of encryption keys are listed in pages, in one order on every replica", async () => {
      const { upstreamNodes, engine } = state();
      for (const label of ["secret-test-b", "secret-test-a"]) {
        await upstreamNodes.add({ network: "testnet", label, options: bytes(1) });
      }
      const key = { createdAt: 1, validFrom: 0n, validUntil: 9n, publicKey: bytes(3), privateKey: bytes(4) };
      await engine.of("testnet").encryptionKeys.insert({ id: "secret-test-key", ...key });
      const all = ownOf(await state().secrets.list(null, 1_000));
      expect(all).toEqual([
        ...["secret-test-a", "secret-test-b"].map((label) => ({
          kind: "node" as const,
          place: `testnet/${label}`,
          secretId: `upstream:testnet/${label}`,
          stored: bytes(1),
        })),
        { kind: "encryption key", place: "secret-test-key", secretId: "secret-test-key", stored: bytes(4) },
      ]);
      for (const replica of replicas()) {
        const paged: StoredSecret[] = [];
        for (let after: StoredSecret | null = null; ; ) {
          const [next]: readonly StoredSecret[] = await replica.secrets.list(after, 1);
          if (next === undefined) break;
          paged.push(next);
          after = next;
        }
        expect(ownOf(paged)).toEqual(all);
      }
    });

    test("of webhooks are those that sign and those that are rotated in, and take their webhook along", async () => {
      const { accounts, webhooks, secrets } = state();
      const { id: accountId } = await accounts.create({ name: "of webhook secrets" });
      const made = { url: "https://a", events: ["block.confirmed"], filters: "{}", description: "", fifo: false };
      const retryPolicy = { maxAttempts: 1, backoffMultiplier: 1 };
      for (const id of ["wh-secret-test-a", "wh-secret-test-b"]) {
        await webhooks.create({ ...made, id, retryPolicy, accountId, network: "testnet", secret: bytes(1) }, 9);
      }
      for (const fill of [5, 6, 2]) {
        const rotation = { nextSecret: bytes(fill), overlapEndsAt: 9, at: 1 };
        await webhooks.rotateSecret(accountId, "wh-secret-test-a", rotation);
      }
      const own = async () =>
        (await secrets.list({ kind: "webhook", place: "wh-secret-" }, 1_000)).filter(({ kind }) => kind === "webhook");
      const named = (await own()).map(({ place, secretId, stored }) => [place, secretId, stored[0]]);
      expect(named).toEqual([
        ["wh-secret-test-a", "webhook:wh-secret-test-a", 6],
        ["wh-secret-test-a/next", "webhook:wh-secret-test-a", 2],
        ["wh-secret-test-a/old/0", "webhook:wh-secret-test-a", 1],
        ["wh-secret-test-a/old/1", "webhook:wh-secret-test-a", 5],
        ["wh-secret-test-b", "webhook:wh-secret-test-b", 1],
      ]);
      const paged: string[] = [];
      for (let after: Pick<StoredSecret, "kind" | "place"> = { kind: "webhook", place: "wh-secret-" }; ; ) {
        const [next]: readonly StoredSecret[] = await secrets.list(after, 1);
        if (next === undefined) break;
        paged.push(next.place);
        after = next;
      }
      expect(paged).toEqual(named.map(([place]) => String(place)));
      const before = await own();
      expect(await secrets.replace(before.map((secret) => ({ secret, stored: bytes(7) })))).toBe(5);
      expect(await secrets.remove(before)).toBe(0);
      expect(await secrets.remove((await own()).filter(({ place }) => place.endsWith("/old/1")))).toBe(1);
      expect(await secrets.remove((await own()).filter(({ place }) => place.endsWith("/next")))).toBe(1);
      expect(await webhooks.get(accountId, "wh-secret-test-a")).toMatchObject({
        secret: bytes(7),
        nextSecret: null,
        retiredSecrets: [{ secret: bytes(7), endsAt: 9 }],
      });
      expect(await secrets.remove(await own())).toBe(2);
      expect((await webhooks.list({ accountId })).items).toEqual([]);
    });

    test("are replaced and removed only as they were read", async () => {
      const { secrets } = state();
      const before = ownOf(await secrets.list(null, 1_000));
      expect(await secrets.replace(before.map((secret) => ({ secret, stored: bytes(7) })))).toBe(3);
      expect(ownOf(await secrets.list(null, 1_000)).map(({ stored }) => stored[0])).toEqual([7, 7, 7]);
      expect(await secrets.replace(before.map((secret) => ({ secret, stored: bytes(8) })))).toBe(0);
      expect(await secrets.remove(before)).toBe(0);
      const after = ownOf(await secrets.list(null, 1_000));
      expect(await secrets.remove(after)).toBe(3);
      expect(ownOf(await secrets.list(null, 1_000))).toEqual([]);
    });
  });
}
