import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { CreditStore } from "../../meter.ts";
import type { State } from "../../records.ts";
import { int64Max } from "../../values.ts";
import type { ConformanceSubject } from "./subject.ts";

const newAccount = async (state: State): Promise<string> => (await state.accounts.create({ name: "credits" })).id;
const month = "2026-11";
const sum = (values: readonly bigint[]): bigint => values.reduce((total, value) => total + value, 0n);

/** What the store must do, in a few lines of plain arithmetic. */
class CreditModel {
  #used = 0n;

  lease(want: bigint, allowance: bigint | null): bigint {
    const left = (allowance ?? int64Max) - this.#used;
    const granted = left <= 0n ? 0n : want < left ? want : left;
    this.#used += granted;
    return granted;
  }

  giveBack(unspent: bigint): void {
    this.#used = this.#used > unspent ? this.#used - unspent : 0n;
  }

  get used(): bigint {
    return this.#used;
  }
}

export function creditConformance(subject: ConformanceSubject): void {
  meterConformance("credits", subject, (state) => state.credits);
  meterConformance("requests of the oracle", subject, (state) => state.requests.oracle);
  meterConformance("served requests", subject, (state) => state.served);
  meterConformance("requests of the oracle's second variant", subject, (state) => state.requests["oracle-v2"]);
  test("credits and the requests of each product are counted apart", async () => {
    const state = subject.state();
    const accountId = await newAccount(state);
    await state.credits.lease(accountId, month, 1n, null);
    await state.requests.oracle.lease(accountId, month, 20n, null);
    await state.requests["oracle-v2"].lease(accountId, month, 300n, null);
    await state.requests.oracle.giveBack(accountId, month, 5n);
    expect(await state.credits.used(accountId, month)).toBe(1n);
    expect(await state.requests.oracle.used(accountId, month)).toBe(15n);
    expect(await state.requests["oracle-v2"].used(accountId, month)).toBe(300n);
  });
}

function meterConformance(
  name: string,
  { state, replicas }: ConformanceSubject,
  meter: (state: State) => CreditStore,
): void {
  describe(name, () => {
    test("any order of leases and give-backs does what plain arithmetic does", async () => {
      const amount = fc.oneof(fc.bigInt(0n, 50n), fc.constant(int64Max), fc.bigInt(0n, int64Max));
      const action = fc.oneof(
        fc.record({ want: amount, allowance: fc.option(amount) }),
        fc.record({ unspent: amount }),
      );
      const property = fc.asyncProperty(fc.array(action, { maxLength: 25 }), async (actions) => {
        const accountId = await newAccount(state());
        const model = new CreditModel();
        const results = actions.map((each) =>
          "want" in each
            ? meter(state()).lease(accountId, month, each.want, each.allowance)
            : meter(state()).giveBack(accountId, month, each.unspent),
        );
        for (const [index, each] of actions.entries()) {
          if ("want" in each) expect(await results[index]).toBe(model.lease(each.want, each.allowance));
          else model.giveBack(each.unspent);
        }
        await Promise.all(results);
        expect(await meter(state()).used(accountId, month)).toBe(model.used);
      });
      await fc.assert(property, { numRuns: 20, seed: 7 });
    });

    test("leases that run at once, from every replica, never grant more than the allowance in all", async () => {
      const accounts = [await newAccount(state()), await newAccount(state()), await newAccount(state())];
      const grants = await Promise.all(
        Array.from({ length: 300 }, async (_, index) => {
          const replica = replicas()[index % replicas().length] ?? state();
          const accountId = accounts[index % 3] ?? "";
          return { accountId, granted: await meter(replica).lease(accountId, month, 7n, 500n) };
        }),
      );
      for (const accountId of accounts) {
        const granted = sum(grants.filter((grant) => grant.accountId === accountId).map((grant) => grant.granted));
        expect(granted).toBe(500n);
        expect(await meter(state()).used(accountId, month)).toBe(500n);
      }
    });

    test("a lease for an account that is not there fails alone; those that share its commit are granted", async () => {
      const accountId = await newAccount(state());
      const results = await Promise.allSettled(
        Array.from({ length: 30 }, (_, index) =>
          meter(state()).lease(index % 10 === 3 ? `acct_none_${index}` : accountId, month, 2n, null),
        ),
      );
      const failed = results.filter((result) => result.status === "rejected");
      expect(failed.length).toBe(3);
      for (const { reason } of failed) expect(reason).toMatchObject({ code: "NOT_FOUND" });
      expect(await meter(state()).used(accountId, month)).toBe(54n);
    });

    test("months are apart from each other, and giving back never goes below zero", async () => {
      const accountId = await newAccount(state());
      await meter(state()).lease(accountId, "2026-11", 10n, 100n);
      await meter(state()).lease(accountId, "2026-12", 20n, 100n);
      await meter(state()).giveBack(accountId, "2026-11", int64Max);
      expect(await meter(state()).used(accountId, "2026-11")).toBe(0n);
      expect(await meter(state()).used(accountId, "2026-12")).toBe(20n);
      await meter(state()).giveBack(accountId, "2027-01", 5n);
      await meter(state()).giveBack("acct_none", "2027-01", 5n);
      expect(await meter(state()).used(accountId, "2027-01")).toBe(0n);
      expect(await meter(state()).used("acct_none", "2027-01")).toBe(0n);
    });

    test("an allowance lowered below what is used grants nothing and takes nothing away", async () => {
      const accountId = await newAccount(state());
      expect(await meter(state()).lease(accountId, month, 80n, 100n)).toBe(80n);
      expect(await meter(state()).lease(accountId, month, 10n, 50n)).toBe(0n);
      expect(await meter(state()).used(accountId, month)).toBe(80n);
      expect(await meter(state()).lease(accountId, month, 30n, 100n)).toBe(20n);
    });

    test("2^63-1 credits are leased exactly and the next one is not granted", async () => {
      const accountId = await newAccount(state());
      expect(await meter(state()).lease(accountId, month, int64Max - 1n, null)).toBe(int64Max - 1n);
      expect(await meter(state()).lease(accountId, month, 5n, null)).toBe(1n);
      expect(await meter(state()).used(accountId, month)).toBe(int64Max);
      expect(await meter(state()).lease(accountId, month, 1n, null)).toBe(0n);
    });

    test("amounts out of range and months that are none are refused", async () => {
      const accountId = await newAccount(state());
      for (const amount of [-1n, int64Max + 1n, 2n ** 64n - 1n]) {
        const credits = meter(state());
        await expect(credits.lease(accountId, month, amount, null)).rejects.toMatchObject({ code: "INVALID_INPUT" });
        await expect(credits.lease(accountId, month, 1n, amount)).rejects.toMatchObject({ code: "INVALID_INPUT" });
        await expect(credits.giveBack(accountId, month, amount)).rejects.toMatchObject({ code: "INVALID_INPUT" });
      }
      for (const wrong of ["2026-13", "2026-1", "202611", "2026-11-01"]) {
        await expect(meter(state()).used(accountId, wrong)).rejects.toMatchObject({ code: "INVALID_INPUT" });
      }
    });
  });
}
