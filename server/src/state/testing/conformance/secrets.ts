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
