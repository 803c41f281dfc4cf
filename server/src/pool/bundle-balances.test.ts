import { afterAll, beforeAll, expect, test } from "bun:test";
import { wellKnownAddresses } from "@sluice/wire/programs";
import { openTestLedger } from "../history/testing/stand.ts";
import type { Ledger } from "../ledger/index.ts";

const at = Date.UTC(2026, 10, 20);
let ledger: Ledger;

interface PlayedTransaction {
  readonly signature: string;
  readonly slot: number;
  readonly fee: bigint;
  readonly signers: readonly string[];
  /** Account, mint, owner, before and after. */
  readonly changes: readonly (readonly [string, string, string, bigint, bigint])[];
  readonly blockhash?: string;
}

async function write(transactions: readonly PlayedTransaction[]): Promise<void> {
  const placed = transactions.map(({ slot, blockhash = `hash ${slot}`, ...rest }) => {
    return { place: { network: "devnet", slot, transaction_index: 3, blockhash, at }, ...rest };
  });
  await ledger.insert(
    "transactions",
    placed.map(({ place, signature, fee, signers }) => ({ ...place, signature, success: true, fee, signers })),
  );
  await ledger.insert(
    "account_changes",
    placed.flatMap(({ place, changes }) =>
      changes.map(([account, mint, owner, before, after], index) => {
        return { ...place, account_index: index, account, mint, owner, decimals: 9, before, after };
      }),
    ),
  );
}

interface PlayedBundle {
  readonly id: string;
  readonly account: string;
  readonly type: string;
  readonly signatures: readonly string[];
  readonly slot: number;
  readonly tip: bigint;
  readonly state?: string;
  readonly network?: string;
}

const outcome = ({
  id,
  account,
  type,
  signatures,
  slot,
  tip,
  state = "finalized",
  network = "devnet",
}: PlayedBundle) => ({
  at: at + slot,
  id,
  network,
  searcher_id: account,
  account_id: account,
  door: "rest",
  mev_type: type,
  state,
  tip,
  tip_seen: tip,
  signatures,
  accepted_at: at,
  landed_slot: slot,
});

const tipAccounts = ["tips", "other tips"];
const asked = { network: "devnet", fromMs: at, untilMs: at + 1_000, accountId: null, mevType: null } as const;
const question = { ...asked, tipAccounts };
const wrapped = wellKnownAddresses.wrappedNativeMint;

/**
 * A sandwich of erin around a payment of somebody who pays a tip of their own, with the tip at its end or with none. In
 * the middle erin gains by what she does not sign.
 */
function sandwich(name: string, slot: number, isTipped = true): readonly PlayedTransaction[] {
  const erin = { slot, fee: 5_000n, signers: ["erin"] };
  const paid: PlayedTransaction["changes"] = isTipped ? [["other tips", "", "", 1n, 101n]] : [];
  return [
    { ...erin, signature: `${name}1`, blockhash: `hash ${name}1`, changes: [["erin", "", "", 10_000n, 4_000n]] },
    {
      ...{ slot, fee: 9_000n, signers: ["victim"], signature: `${name}2`, blockhash: `hash ${name}2` },
      changes: [
        ["victim", "", "", 90_000n, 20_000n],
        ["victims wrapped", wrapped, "victim", 0n, 50_000n],
        ["erin", "", "", 4_000n, 4_500n],
        ...(isTipped ? ([["tips", "", "", 0n, 7n]] as const) : []),
      ],
    },
    {
      ...{ ...erin, signature: `${name}3`, blockhash: `hash ${name}3` },
      changes: [["erin", "", "", 4_500n, 31_000n], ...paid],
    },
  ];
}

beforeAll(async () => {
  ledger = await openTestLedger();
  // Two signers, one with wrapped tokens; what others gain does not count.
  const first: PlayedTransaction = {
    signature: "s1",
    slot: 10,
    blockhash: "hash a",
    fee: 5_000n,
    signers: ["alice", "bob"],
    changes: [
      ["alice", "", "", 1_000_000n, 700_000n],
      ["bob", "", "", 5n, 10n],
      ["alices wrapped", "", "", 0n, 2_039_280n],
      ["alices wrapped", wrapped, "alice", 0n, 900_000n],
      ["carols wrapped", wrapped, "carol", 0n, 77n],
      ["alices coins", "mint", "alice", 0n, 1_000n],
      ["tips", "", "", 0n, 10_000n],
    ],
  };
  const own: Pick<PlayedTransaction, "fee" | "signers"> = { fee: 7_000n, signers: ["dave"] };
  await write([
    first,
    { signature: "s2", slot: 10, fee: 6_000n, signers: ["bob"], changes: [["bob", "", "", 10n, 4n]] },
    { ...own, signature: "s3", slot: 12, changes: [["dave", "", "", 9n, 2_000n]] },
    // Another block of the slot, which left the chain.
    { ...own, signature: "s3", slot: 12, changes: [["dave", "", "", 9n, 1_000n]], blockhash: "dead" },
  ]);
  await write(sandwich("a", 500));
  await write(sandwich("b", 501, false));
  await write([first]);
  await ledger.command(
    "INSERT INTO dropped_blocks (network, slot, blockhash, dropped, version) VALUES ('devnet', 12, 'dead', true, 1)",
  );
  await ledger.insert("bundle_outcomes", [
    outcome({ id: "both", account: "one", type: "arbitrage", signatures: ["s1", "s2"], slot: 10, tip: 10_000n }),
    outcome({ id: "half", account: "one", type: "arbitrage", signatures: ["s1", "not there"], slot: 10, tip: 1n }),
    outcome({ id: "dave", account: "two", type: "jit", signatures: ["s3"], slot: 12, tip: 20_000n }),
    ...["a", "b"].map((id, index) => {
      const signatures = [1, 2, 3].map((place) => `${id}${place}`);
      return outcome({ id, account: "four", type: "sandwich", signatures, slot: 500 + index, tip: 100n });
    }),
    outcome({ id: "lost", account: "two", type: "jit", signatures: ["s3"], slot: 12, tip: 3n, state: "dropped" }),
    outcome({ id: "else", account: "two", type: "jit", signatures: ["s3"], slot: 12, tip: 3n, network: "testnet" }),
  ]);
}, 60_000);
afterAll(async () => {
  await ledger[Symbol.asyncDispose]();
});

test("a bundle's owners gain what their native and wrapped balances gained, once however often it was written", async () => {
  const one = { bundles: 1n, gained: -300_000n + 5n + 900_000n - 6n, fees: 11_000n, tips: 10_000n };
  expect(await ledger.bundles.balances({ ...question, accountId: "one" })).toEqual(one);
  expect(await ledger.bundles.balances({ ...question, mevType: "arbitrage" })).toEqual(one);
});

test("a sandwich brings its owner what the owner gained, and nothing of what the one in its middle lost and paid", async () => {
  const each = { gained: 21_000n, fees: 10_000n, tip: 100n };
  const own = { ...question, accountId: "four" };
  expect(await ledger.bundles.gains(own, 10)).toEqual([
    { id: "b", slot: 501n, ...each },
    { id: "a", slot: 500n, ...each },
  ]);
  expect(await ledger.bundles.balances(own)).toEqual({ bundles: 2n, gained: 42_000n, fees: 20_000n, tips: 200n });
});

test("everybody's are the sum, without bundles that did not land, of another chain, or half unknown", async () => {
  const all = { bundles: 2n, gained: 599_999n + 1_991n, fees: 18_000n, tips: 30_000n };
  expect(await ledger.bundles.balances({ ...question, untilMs: at + 500 })).toEqual(all);
});

test("what the sums are of is told of each bundle, the newest first, as many as are asked for", async () => {
  const dave = { id: "dave", slot: 12n, gained: 1_991n, fees: 7_000n, tip: 20_000n };
  const both = { id: "both", slot: 10n, gained: 599_999n, fees: 11_000n, tip: 10_000n };
  const early = { ...question, untilMs: at + 500 };
  expect(await ledger.bundles.gains(early, 10)).toEqual([dave, both]);
  expect(await ledger.bundles.gains(early, 1)).toEqual([dave]);
  expect(await ledger.bundles.gains({ ...question, accountId: "one" }, 10)).toEqual([both]);
});

test("who has none has zeros, and a period without a bundle too", async () => {
  const none = { bundles: 0n, gained: 0n, fees: 0n, tips: 0n };
  expect(await ledger.bundles.balances({ ...question, accountId: "three" })).toEqual(none);
  expect(await ledger.bundles.balances({ ...question, fromMs: at + 600 })).toEqual(none);
});

test("the first outcome of a network is where its figures begin", async () => {
  expect(await ledger.bundles.firstAtMs("devnet")).toBe(at + 10);
  expect(await ledger.bundles.firstAtMs("testnet")).toBe(at + 12);
});
