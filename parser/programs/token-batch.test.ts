import { expect, test } from "bun:test";
import { programs } from "@sluice/wire/programs";
import { u64 } from "../testing/built.ts";
import { addressOf, parsedScenario, type ScenarioCall } from "../testing/scenario.ts";

type Packed = readonly [accounts: readonly string[], data: readonly number[]];

const batch = (packed: readonly Packed[]): ScenarioCall => ({
  program: programs.token,
  accounts: packed.flatMap(([accounts]) => accounts),
  data: Buffer.from([255, ...packed.flatMap(([accounts, data]) => [accounts.length, data.length, ...data])]).toString(
    "hex",
  ),
});
const held = (before: bigint, after: bigint, decimals = 6) => ({
  mint: "mint",
  owner: "payer",
  before,
  after,
  decimals,
});
const mintTo = (amount: bigint): Packed => [
  ["mint", "token", "payer"],
  [7, ...u64(amount)],
];
const close: Packed = [["token", "payer", "payer"], [9]];

test("units that a batch mints are counted, and are no transfer", () => {
  const parsed = parsedScenario({ calls: [batch([mintTo(5n), mintTo(7n)])], tokens: { token: held(1n, 13n) } });
  expect(parsed.movements.tokens.map(({ kind, amount, toAccount }) => [kind, amount, toAccount])).toEqual([
    ["mint", 5n, addressOf("token")],
    ["mint", 7n, addressOf("token")],
  ]);
  expect([parsed.type, parsed.transfers]).toEqual(["UNKNOWN", []]);
});

test("a batch that makes a mint, its only unit, and ends its authority is the mint of an NFT", () => {
  const parsed = parsedScenario({
    calls: [
      batch([
        [["mint"], [20, 0, ...new Uint8Array(32).fill(5), 0]],
        mintTo(1n),
        [
          ["mint", "payer"],
          [6, 0, 0],
        ],
      ]),
    ],
    tokens: { token: held(0n, 1n, 0) },
  });
  expect(parsed.type).toBe("NFT_MINT");
  expect(parsed.nfts).toMatchObject([{ mint: addressOf("mint"), buyer: addressOf("payer"), source: "spl_token" }]);
});

test("a batch with a transfer is one, whatever else it packs", () => {
  const transfer: Packed = [
    ["token", "theirs", "payer"],
    [3, ...u64(4n)],
  ];
  const parsed = parsedScenario({
    calls: [batch([mintTo(5n), transfer])],
    tokens: { token: held(1n, 2n), theirs: { mint: "mint", owner: "friend", before: 0n, after: 4n } },
  });
  expect(parsed.type).toBe("TRANSFER");
  expect(parsed.transfers).toMatchObject([{ from: addressOf("payer"), to: addressOf("friend"), amount: 4n }]);
});

test("accounts that a batch closes are told, each with who closed it and what it held", () => {
  const parsed = parsedScenario({
    calls: [batch([close, [["other", "payer", "payer"], [9]]])],
    lamports: { token: [20n, 0n], other: [30n, 0n], payer: [10_000n, 5050n] },
  });
  expect(parsed.type).toBe("CLOSE_ACCOUNT");
  expect(parsed.closed).toEqual(
    [["token", 20n] as const, ["other", 30n] as const].map(([account, lamports]) => ({
      account: addressOf(account),
      rentTo: addressOf("payer"),
      owner: addressOf("payer"),
      lamports,
    })),
  );
});
