import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { CreditStore, LeaseBook, SpentAdvance } from "../../meter.ts";
import type { State } from "../../records.ts";
import { int64Max } from "../../values.ts";
import type { ConformanceSubject } from "./subject.ts";

const month = "2026-11";
const newAccount = async (state: State): Promise<string> => (await state.accounts.create({ name: "books" })).id;
let holders = 0;
const newHolder = (): string => `holder-${++holders}`;

/** What the store must do with books, in a few lines of plain arithmetic. */
class BookModel {
  used = 0n;
  readonly books = new Map<number, bigint>();

  lease(want: bigint, allowance: bigint, number: number): bigint {
    const left = allowance - this.used;
    const granted = left <= 0n ? 0n : want < left ? want : left;
    this.used += granted;
    if (granted > 0n) this.books.set(number, (this.books.get(number) ?? 0n) + granted);
    return granted;
  }

  settle(number: number, spent: bigint | null): bigint | null {
    const leased = this.books.get(number);
    if (leased === undefined) return null;
    this.books.delete(number);
    const unspent = leased - (spent ?? leased);
    this.used = this.used > unspent ? this.used - unspent : 0n;
    return unspent;
  }
}

/**
 * Books of leases: what a holder has leased stands in them until they are closed, by itself or by the process that
 * finds it gone.
 */
export function leaseBookConformance(subject: ConformanceSubject): void {
  const meters: readonly (readonly [string, (state: State) => CreditStore])[] = [
    ["credits", (state) => state.credits],
    ["requests of the oracle", (state) => state.requests.oracle],
    ["requests of the oracle's second variant", (state) => state.requests["oracle-v2"]],
  ];
  for (const [name, meter] of meters) {
    describe(`books of ${name}`, () => booksOfOneMeter(subject, meter));
    describe(`an advance of ${name}`, () => advancesOfOneMeter(subject, meter));
  }
  test("books of the same holder and number in different meters are apart", async () => {
    const state = subject.state();
    const accountId = await newAccount(state);
    const book = { holder: newHolder(), number: 1 };
    for (const [, meter] of meters) await meter(state).lease(accountId, month, 10n, null, book);
    expect(await state.requests.oracle.settle(accountId, month, book, 3n)).toBe(7n);
    const used = await Promise.all(meters.map(([, meter]) => meter(state).used(accountId, month)));
    expect(used).toEqual([10n, 3n, 10n]);
  });
}

/** Advances: what was given out while no store answered, and is charged once however often that is said. */
function advancesOfOneMeter(
  { state, replicas, clock }: ConformanceSubject,
  meter: (state: State) => CreditStore,
): void {
  const bookedOnce = async (advance: SpentAdvance): Promise<number> => {
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, at) => meter(replicas()[at % replicas().length] ?? state()).bookAdvance(advance)),
    );
    return answers.filter(Boolean).length;
  };

  test("is charged once, by whoever comes first, in the month in which it was spent and beyond any allowance", async () => {
    const accountId = await newAccount(state());
    await meter(state()).lease(accountId, month, 100n, 100n);
    const advance = { accountId, month, holder: newHolder(), number: 4, spent: 7n };
    expect(await bookedOnce(advance)).toBe(1);
    expect(await bookedOnce({ ...advance, number: 5 })).toBe(1);
    expect(await meter(state()).bookAdvance({ ...advance, spent: 1_000n })).toBe(false);
    expect(await meter(state()).used(accountId, month)).toBe(114n);
    expect(await meter(state()).used(accountId, "2026-12")).toBe(0n);
    // It is no book of leases: there is nothing to settle.
    expect(await meter(state()).settle(accountId, month, { holder: advance.holder, number: 4 }, 0n)).toBeNull();
    expect(await meter(state()).lease(accountId, month, 1n, 100n)).toBe(0n);
  });

  test("opens a month of which nothing was leased, and stays booked for a year", async () => {
    const accountId = await newAccount(state());
    const advance = { accountId, month: "2025-01", holder: newHolder(), number: 1, spent: 3n };
    expect(await meter(state()).bookAdvance(advance)).toBe(true);
    await meter(state()).closeBooksBefore("2026-01");
    expect(await meter(state()).bookAdvance(advance)).toBe(false);
    expect(await meter(state()).used(accountId, "2025-01")).toBe(3n);
    clock.advance(401 * 86_400_000);
    await meter(state()).closeBooksBefore("2026-01");
    expect(await meter(state()).bookAdvance(advance)).toBe(true);
  });
}

function booksOfOneMeter({ state, replicas }: ConformanceSubject, meter: (state: State) => CreditStore): void {
  const credits = (): CreditStore => meter(state());

  test("any order of leases and settlements does what plain arithmetic does", async () => {
    const number = fc.integer({ min: 1, max: 3 });
    const amount = fc.bigInt(0n, 40n);
    const action = fc.oneof(
      fc.record({ number, want: amount, allowance: fc.bigInt(0n, 200n) }),
      fc.record({ number, spent: fc.option(amount) }),
    );
    const property = fc.asyncProperty(fc.array(action, { maxLength: 25 }), async (actions) => {
      const accountId = await newAccount(state());
      const holder = newHolder();
      const model = new BookModel();
      const results = actions.map((each) => {
        const book = { holder, number: each.number };
        return "want" in each
          ? credits().lease(accountId, month, each.want, each.allowance, book)
          : credits().settle(accountId, month, book, each.spent);
      });
      for (const [index, each] of actions.entries()) {
        if ("want" in each) expect(await results[index]).toBe(model.lease(each.want, each.allowance, each.number));
        else expect(await results[index]).toBe(model.settle(each.number, each.spent));
      }
      expect(await credits().used(accountId, month)).toBe(model.used);
      const open = await credits().openBooks(holder, 1_000);
      const expected = [...model.books].sort(([left], [right]) => left - right);
      expect(open.map((book): [number, bigint] => [book.number, book.leased])).toEqual(expected);
    });
    await fc.assert(property, { numRuns: 15, seed: 11 });
  });

  test("a book is settled once, however many settle it at once and from wherever", async () => {
    const accountId = await newAccount(state());
    const book: LeaseBook = { holder: newHolder(), number: 7 };
    await credits().lease(accountId, month, 60n, 100n, book);
    await credits().lease(accountId, month, 60n, 100n, book);
    expect([await credits().held(accountId, month), await credits().held(accountId, "1999-01")]).toEqual([100n, 0n]);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        meter(replicas()[index % replicas().length] ?? state()).settle(accountId, month, book, 25n),
      ),
    );
    expect(answers.filter((answer) => answer !== null)).toEqual([75n]);
    expect(await credits().settle(accountId, month, book, 0n)).toBeNull();
    expect(await credits().used(accountId, month)).toBe(25n);
    expect(await credits().held(accountId, month)).toBe(0n);
    expect(await credits().openBooks(book.holder, 10)).toEqual([]);
  });

  test("settling as spent in full gives nothing back, and more than was leased is charged", async () => {
    const accountId = await newAccount(state());
    const holder = newHolder();
    await credits().lease(accountId, month, 10n, null, { holder, number: 1 });
    await credits().lease(accountId, month, 10n, null, { holder, number: 2 });
    expect(await credits().settle(accountId, month, { holder, number: 1 }, null)).toBe(0n);
    expect(await credits().settle(accountId, month, { holder, number: 2 }, 14n)).toBe(-4n);
    expect(await credits().used(accountId, month)).toBe(24n);
  });

  test("a settlement under another account, month or holder than the lease's finds no book", async () => {
    const accountId = await newAccount(state());
    const other = await newAccount(state());
    const book: LeaseBook = { holder: newHolder(), number: 1 };
    await credits().lease(accountId, month, 10n, null, book);
    await credits().lease(other, month, 10n, null);
    expect(await credits().settle(other, month, book, 0n)).toBeNull();
    expect(await credits().settle(accountId, "2026-12", book, 0n)).toBeNull();
    expect(await credits().settle(accountId, month, { ...book, holder: newHolder() }, 0n)).toBeNull();
    expect(await credits().settle("acct_none", month, book, 0n)).toBeNull();
    expect(await credits().used(accountId, month)).toBe(10n);
  });

  test("open books are reported in pages and in order, each with its account, month and sum", async () => {
    const accounts = [await newAccount(state()), await newAccount(state())];
    const holder = newHolder();
    for (const number of [3, 1, 2]) {
      await credits().lease(accounts[number % 2] ?? "", month, BigInt(number), null, { holder, number });
    }
    const open = await credits().openBooks(holder, 2);
    expect(open).toEqual([
      { holder, number: 1, accountId: accounts[1] ?? "", month, leased: 1n },
      { holder, number: 2, accountId: accounts[0] ?? "", month, leased: 2n },
    ]);
    expect((await credits().openBooks(holder, 1_000)).length).toBe(3);
  });

  test("books of months that are over can be closed as they stand, and those of the present one stay", async () => {
    const accountId = await newAccount(state());
    const holder = newHolder();
    await credits().lease(accountId, "2026-09", 10n, null, { holder, number: 1 });
    await credits().lease(accountId, "2026-10", 10n, null, { holder, number: 2 });
    expect(await credits().closeBooksBefore("2026-10")).toBeGreaterThanOrEqual(1);
    expect((await credits().openBooks(holder, 10)).map(({ number }) => number)).toEqual([2]);
    expect(await credits().used(accountId, "2026-09")).toBe(10n);
  });

  test("books and spent amounts out of range are refused", async () => {
    const accountId = await newAccount(state());
    const holder = newHolder();
    const wrong = { code: "INVALID_INPUT" };
    for (const book of [
      { holder: "", number: 1 },
      { holder, number: -1 },
      { holder, number: 1.5 },
    ]) {
      await expect(credits().lease(accountId, month, 1n, null, book)).rejects.toMatchObject(wrong);
      await expect(credits().settle(accountId, month, book, 0n)).rejects.toMatchObject(wrong);
    }
    for (const spent of [-1n, int64Max + 1n]) {
      await expect(credits().settle(accountId, month, { holder, number: 1 }, spent)).rejects.toMatchObject(wrong);
    }
  });
}
