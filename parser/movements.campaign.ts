import { programs, wellKnownAddresses } from "@sluice/wire/programs";
import fc from "fast-check";
import { movementsOf } from "./neutral/movements.ts";
import { built, key, tokens, u64 } from "./testing/built.ts";
import { breaches } from "./testing/conservation.ts";
import { TransactionView } from "./transaction-view.ts";

const accounts = 6;
const called = [
  programs.system,
  programs.token,
  programs.token2022,
  programs.stake,
  programs.vote,
  programs.addressLookupTable,
  programs.bpfLoaderUpgradeable,
  programs.memo,
];
const keys = [
  ...Array.from({ length: accounts }, (_, n) => key(n + 1)),
  wellKnownAddresses.wrappedNativeMint,
  ...called,
];
const mints = [key(50), key(51), wellKnownAddresses.wrappedNativeMint];

/** Data that begin as instructions do: a tag of one or four bytes, then small numbers of eight bytes. */
const data = fc
  .tuple(
    fc.oneof(fc.integer({ min: 0, max: 46 }), fc.constantFrom(1, 3, 3, 3, 9, 12, 12, 17, 45, 255)),
    fc.constantFrom(1, 1, 4),
    fc.array(fc.oneof(fc.bigInt({ min: 0n, max: 5_000_000n }).map(u64), fc.array(fc.nat(255), { maxLength: 40 })), {
      maxLength: 6,
    }),
  )
  .map(([tag, width, rest]) => [tag, ...Array.from({ length: width - 1 }, () => 0), ...rest.flat()]);

const call = fc.record({
  program: fc.oneof(fc.nat(called.length - 1), fc.constantFrom(1, 2)).map((at) => accounts + 1 + at),
  accounts: fc.array(fc.nat(accounts), { maxLength: 6 }),
  data,
});

/** Balances of lamports before and after that differ by the fee in all; programs' keys keep theirs. */
const balances = fc.array(fc.nat(5_000_000), { minLength: accounts, maxLength: accounts }).chain((before) =>
  fc.array(fc.tuple(fc.nat(accounts - 1), fc.nat(accounts - 1), fc.nat(1_000_000)), { maxLength: 5 }).map((moves) => {
    const after = before.map((lamports, at) => BigInt(lamports) + (at === 0 ? 5_000_000n - 5000n : 0n));
    for (const [from, to, lamports] of moves) {
      const moved = after[from] ?? 0n;
      const share = moved < BigInt(lamports) ? moved : BigInt(lamports);
      after[from] = moved - share;
      after[to] = (after[to] ?? 0n) + share;
    }
    const others = keys.slice(accounts).map(() => 1n);
    const first = before.map((lamports, at) => BigInt(lamports) + (at === 0 ? 5_000_000n : 0n));
    return { preBalances: [...first, ...others], postBalances: [...after, ...others] };
  }),
);

/** Token accounts of three mints, of which some are there before, some after, some both. */
const holdings = fc.array(
  fc.record({
    mint: fc.constantFrom(...mints),
    before: fc.option(fc.bigInt({ min: 0n, max: 3_000_000n })),
    after: fc.option(fc.bigInt({ min: 0n, max: 9_000_000n })),
    programId: fc.constantFrom(programs.token, programs.token2022, null),
    owner: fc.option(fc.constantFrom(key(60), key(61))),
  }),
  { minLength: accounts, maxLength: accounts },
);

/** Reads `n` drawn transactions; passes when movements and fee are the change of every balance. */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  let movements = 0;
  const law = fc.property(fc.array(call, { maxLength: 6 }), balances, holdings, (calls, lamports, held) => {
    const of = (when: "before" | "after") =>
      held.flatMap(({ mint, programId, owner, [when]: amount }, account) =>
        amount === null ? [] : [tokens(account, amount, { mint, programId, owner })],
      );
    const meta = { ...lamports, preTokenBalances: of("before"), postTokenBalances: of("after") };
    const view = new TransactionView(built({ keys, calls, meta }));
    const moved = movementsOf(view);
    movements += moved.native.length + moved.tokens.length;
    const broken = breaches(view, moved);
    if (broken.length > 0) throw new Error(broken.join("; "));
  });
  const result = fc.check(law, { numRuns: n, seed });
  const summary = result.failed
    ? `${fc.stringify(result.counterexample)}: ${result.errorInstance}`
    : `${n} transactions, ${movements} movements`;
  return { passed: !result.failed, summary: `seed ${seed}: ${summary}` };
}
