import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { until } from "@sluice/lib/testing";
import type { NewProcess } from "../../process-records.ts";
import type { ConformanceSubject } from "./subject.ts";

const long = 3_600_000;

const newProcess = (changes: Partial<NewProcess> = {}): NewProcess => ({
  id: randomUUID(),
  roles: ["gateway", "oracle"],
  version: "1.2.3",
  meters: true,
  sharesLedger: true,
  sharesHot: false,
  ledgerId: "ledger-1",
  hotId: null,
  masterKeys: ["0123456789abcdef", "fedcba9876543210"],
  ...changes,
});

export function processConformance({ state, replicas, clock }: ConformanceSubject): void {
  describe("processes on a database", () => {
    test("who joins is told of those before it, and is listed for every replica until it leaves", async () => {
      const [first, second] = [newProcess(), newProcess({ roles: ["engine"], meters: false, masterKeys: [] })];
      expect(await state().processes.join(first, long)).toEqual([]);
      const seen = await (replicas().at(-1) ?? state()).processes.join(second, long);
      expect(seen).toEqual([{ ...first, schema: expect.any(Number), startedAt: expect.any(Number), beats: 0 }]);
      await state().processes.identify(first.id, { ledgerId: "ledger-2", hotId: "hot-1" });
      expect(await state().processes.beat(first.id, long)).toBe(true);
      for (const replica of replicas()) {
        const listed = await replica.processes.list();
        expect(listed).toMatchObject([{ ...first, ledgerId: "ledger-2", hotId: "hot-1", beats: 1 }, second]);
      }
      await state().processes.leave(first.id);
      expect(await state().processes.beat(first.id, long)).toBe(false);
      expect((await state().processes.list()).map(({ id }) => id)).toEqual([second.id]);
      await state().processes.leave(second.id);
    });

    test("a registration ends when its process beats no more, and its process learns so", async () => {
      const [dead, next] = [newProcess({ masterKeys: null }), newProcess()];
      await state().processes.join(dead, 1);
      // By the database's clock, which on PostgreSQL goes by itself.
      clock.advance(1);
      await until(async () => (await state().processes.list()).length === 0);
      expect(await state().processes.beat(dead.id, long)).toBe(false);
      expect(await state().processes.join(next, long)).toEqual([]);
      await state().processes.leave(next.id);
    });

    test("what is held by a process that is neither registered nor the one that asks is left behind, until it is settled", async () => {
      const { credits, requests, accounts, leases, processes } = state();
      const before = await processes.leftBehind("nobody");
      const [living, dead, own] = [newProcess(), newProcess(), newProcess()];
      await processes.join(living, long);
      const { id: accountId } = await accounts.create({ name: "left behind" });
      const month = "2026-11";
      for (const [number, { id: holder }] of [living, dead, own].entries()) {
        await credits.lease(accountId, month, 100n, null, { holder, number });
        await leases.take(`left:${holder}`, holder, null);
      }
      await requests.oracle.lease(accountId, month, 7n, null, { holder: dead.id, number: 9 });
      const sinceBefore = async (asker: string) => {
        const { leases: held, books } = await processes.leftBehind(asker);
        const more = (meter: keyof typeof books) => [
          books[meter].processes - before.books[meter].processes,
          books[meter].amount - before.books[meter].amount,
        ];
        return [held - before.leases, more("credits"), more("oracle"), more("oracle-v2"), more("served")];
      };
      expect(await sinceBefore(own.id)).toEqual([1, [1, 100n], [1, 7n], [0, 0n], [0, 0n]]);
      expect(await sinceBefore("nobody")).toEqual([2, [2, 200n], [1, 7n], [0, 0n], [0, 0n]]);
      await credits.settle(accountId, month, { holder: dead.id, number: 1 }, null);
      await leases.release({ name: `left:${dead.id}`, epoch: 1n });
      expect(await sinceBefore(own.id)).toEqual([0, [0, 0n], [1, 7n], [0, 0n], [0, 0n]]);
      await processes.leave(living.id);
      expect(await sinceBefore(own.id)).toEqual([1, [1, 100n], [1, 7n], [0, 0n], [0, 0n]]);
    });

    test("of processes that join at once all but the first see another", async () => {
      const joining = Array.from({ length: 8 }, () => newProcess());
      const seen = await Promise.all(
        joining.map((process, index) => replicas()[index % replicas().length]?.processes.join(process, long)),
      );
      expect(seen.map((others) => others?.length).toSorted()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
      for (const { id } of joining) await state().processes.leave(id);
    });
  });
}
