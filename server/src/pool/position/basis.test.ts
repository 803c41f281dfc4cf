import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { basisOf, type PositionMovement } from "./basis.ts";

const plain = { signature: "s", slot: 1n, atMs: 1_000, deposited: null, rate: null };
const move = (before: bigint, after: bigint, more: Partial<PositionMovement> = {}): PositionMovement => ({
  ...plain,
  changes: [{ account: "a", before, after }],
  ...more,
});

describe("what a wallet's tokens cost", () => {
  test("is what their deposits cost, and the same part of it leaves with tokens that leave", () => {
    const movements = [
      move(0n, 100n, { atMs: 1_000, deposited: { tokens: 100n, lamports: 110n } }),
      move(100n, 200n, { atMs: 3_000, deposited: { tokens: 100n, lamports: 130n } }),
      move(200n, 150n, { atMs: 9_000 }),
    ];
    const basis = basisOf(movements, 150n);
    expect(basis).toMatchObject({ known: 150n, unknown: 0n, lamports: 180n, sinceMs: 1_000 });
    // (110 · 1000 + 130 · 3000) / 240
    expect(basis.heldSinceMs).toBe(2_083);
  });

  test("is their value by the sample before, where they came otherwise, and not known without one", () => {
    const rate = { lamports: 12n, tokens: 10n, atMs: 5 };
    expect(basisOf([move(0n, 101n, { rate })], 101n)).toMatchObject({ known: 101n, lamports: 121n, unknown: 0n });
    expect(basisOf([move(0n, 101n)], 101n)).toMatchObject({ known: 0n, lamports: 0n, unknown: 101n, heldSinceMs: 0 });
  });

  test("of a deposit some of whose tokens went on at once is the part of those that stayed", () => {
    const deposited = { tokens: 100n, lamports: 120n };
    expect(basisOf([move(0n, 25n, { deposited })], 25n)).toMatchObject({ known: 25n, lamports: 30n });
    const rate = { lamports: 2n, tokens: 1n, atMs: 0 };
    // Thirty others came beside it.
    expect(basisOf([move(0n, 130n, { deposited, rate })], 130n)).toMatchObject({ known: 130n, lamports: 180n });
  });

  test("is not known of tokens that no movement explains: before the first, between two, and after the last", () => {
    const bought = { deposited: { tokens: 100n, lamports: 100n } };
    expect(basisOf([move(7n, 107n, bought)], 107n)).toMatchObject({ known: 100n, unknown: 7n, lamports: 100n });
    expect(basisOf([move(0n, 100n, bought), move(130n, 130n)], 130n)).toMatchObject({ known: 100n, unknown: 30n });
    expect(basisOf([move(0n, 100n, bought)], 150n)).toMatchObject({ known: 100n, unknown: 50n });
    expect(basisOf([move(0n, 100n, bought)], 40n)).toMatchObject({ known: 40n, unknown: 0n, lamports: 40n });
    expect(basisOf([], 5n)).toMatchObject({ known: 0n, unknown: 5n, sinceMs: null });
  });

  test("stays when tokens go from one account of the wallet to another", () => {
    const split = {
      ...plain,
      changes: [
        { account: "a", before: 100n, after: 30n },
        { account: "b", before: 0n, after: 70n },
      ],
    };
    const movements = [move(0n, 100n, { deposited: { tokens: 100n, lamports: 105n } }), split];
    expect(basisOf(movements, 100n)).toMatchObject({ known: 100n, lamports: 105n, unknown: 0n });
  });
});

/** What a movement is drawn from: tokens that come with a cost, without one, or leave by a share of all. */
const drawn = fc.array(
  fc.record({
    kind: fc.constantFrom("deposit" as const, "unknown" as const, "leave" as const),
    tokens: fc.bigInt({ min: 1n, max: 10n ** 15n }),
    lamports: fc.bigInt({ min: 1n, max: 10n ** 15n }),
    share: fc.integer({ min: 0, max: 1_000 }),
  }),
  { maxLength: 30 },
);

test("a computation by each token's own fraction of cost comes to the same, but for a unit of each step", () => {
  fc.assert(
    fc.property(drawn, (draws) => {
      // Fractions: cost and both kinds of tokens as doubles of exact ratios, independent of the order of rounding.
      let balance = 0n;
      let [known, unknown, cost] = [0, 0, 0];
      const movements: PositionMovement[] = [];
      for (const { kind, tokens, lamports, share } of draws) {
        const before = balance;
        if (kind === "leave") {
          const gone = (balance * BigInt(share)) / 1_000n;
          const kept = balance === 0n ? 1 : Number(balance - gone) / Number(balance);
          [known, unknown, cost] = [known * kept, unknown * kept, cost * kept];
          balance -= gone;
          movements.push(move(before, balance));
          continue;
        }
        balance += tokens;
        if (kind === "deposit") [known, cost] = [known + Number(tokens), cost + Number(lamports)];
        else unknown += Number(tokens);
        movements.push(move(before, balance, { deposited: kind === "deposit" ? { tokens, lamports } : null }));
      }
      const basis = basisOf(movements, balance);
      expect(basis.known + basis.unknown).toBe(balance);
      const near = (one: bigint, other: number, ratio: number): boolean =>
        Math.abs(Number(one) - other) <= draws.length * (1 + ratio) + other * 1e-9;
      // A token more or less takes its part of the cost with it, a lamport of rounding at each step included.
      const prices = draws.map(({ tokens, lamports }) => Number(lamports) / Number(tokens));
      const price = Math.max(0, ...prices) + draws.length;
      return near(basis.known, known, 0) && near(basis.unknown, unknown, 0) && near(basis.lamports, cost, price);
    }),
  );
});
