import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { decodeAddress } from "@sluice/wire/base58";
import { addressOfBytes } from "@sluice/wire/identifiers";
import { programAddress } from "@sluice/wire/program-address";
import { programs } from "@sluice/wire/programs";
import { openTestLedger } from "../../history/testing/stand.ts";
import type { Ledger } from "../../ledger/index.ts";
import { playedPool } from "../testing/played-pool.ts";
import { PositionReader } from "./position-reader.ts";

const at = Date.UTC(2026, 10, 20);
const address = (index: number) => addressOfBytes(new Uint8Array(32).fill(index));
const [wallet, mint, pool, program] = [address(20), address(21), address(1), address(2)];
const sha256 = (bytes: Uint8Array) => new Uint8Array(createHash("sha256").update(bytes).digest());
const bytes = (text: string) => decodeAddress(text) ?? new Uint8Array(32);
const associated = programAddress([wallet, programs.token, mint].map(bytes), bytes(programs.associatedToken), sha256);
const of = { network: "devnet", chain: "genesis", pool } as const;
const { snapshot: played } = playedPool();
const snapshot = { ...played, pool: { ...played.pool, poolMint: mint, tokenProgram: programs.token } };

interface PlayedTransaction {
  readonly slot: number;
  readonly blockhash?: string;
  /** Account, mint, owner, before and after. */
  readonly changes: readonly (readonly [string, string, string, bigint, bigint])[];
  /** Tokens that were minted, for whom. */
  readonly minted?: readonly (readonly [string, bigint])[];
  /** False for one that failed. */
  readonly success?: boolean;
  readonly calls?: readonly { readonly accounts: readonly string[]; readonly data: Uint8Array }[];
}

const depositSol = (lamports: bigint, destination: string): { accounts: string[]; data: Uint8Array } => {
  const data = new Uint8Array(9);
  data[0] = 14;
  new DataView(data.buffer).setBigUint64(1, lamports, true);
  return { accounts: [pool, "authority", "reserve", "payer", destination], data };
};
const depositStake = {
  accounts: [pool, "l", "d", "w", "stake", "validator", "reserve", associated],
  data: Uint8Array.of(9),
};

let ledger: Ledger;

async function write(transactions: readonly PlayedTransaction[]): Promise<void> {
  const placed = transactions.map(({ slot, blockhash = `hash ${slot}`, ...rest }) => {
    const place = { network: "devnet", slot, transaction_index: 3, blockhash, at: at + slot * 60_000 };
    return { place, signature: `s${slot}`, ...rest, success: rest.success ?? true };
  });
  const insert = (table: string, rows: readonly object[]) => ledger.insert(table, rows);
  await insert(
    "transactions",
    placed.map(({ place, signature, success }) => ({ ...place, signature, success })),
  );
  await insert(
    "account_changes",
    placed.flatMap(({ place, changes }) =>
      changes.map(([account, of, owner, before, after], index) => {
        return { ...place, account_index: index, account, mint: of, owner, decimals: 9, before, after };
      }),
    ),
  );
  await insert(
    "transactions_by_address",
    placed.flatMap(({ place, changes, success }) =>
      changes.map(([account]) => ({ ...place, address: account, success })),
    ),
  );
  await insert(
    "token_movements",
    placed.flatMap(({ place, signature, minted = [] }) =>
      minted.map(([owner, amount], position) => {
        return { ...place, signature, position, kind: "mint", mint, amount, to_owner: owner };
      }),
    ),
  );
  await insert(
    "instructions",
    placed.flatMap(({ place, signature, success, calls = [] }) =>
      calls.map(({ accounts, data }, position) => {
        const text = Array.from(data, (byte) => String.fromCharCode(byte)).join("");
        return { ...place, signature, success, position, program_id: program, accounts, data: text };
      }),
    ),
  );
}

beforeAll(async () => {
  ledger = await openTestLedger();
  const first: PlayedTransaction = {
    slot: 10,
    changes: [
      [associated, mint, wallet, 0n, 1_000n],
      ["others", mint, "other", 5n, 55n],
      ["reserve", "", "", 7n, 1_207n],
    ],
    // Another's deposit in the same transaction is no cost of this wallet.
    minted: [
      [wallet, 1_000n],
      ["other", 50n],
    ],
    calls: [depositSol(1_100n, associated), depositSol(60n, "others")],
  };
  await write([
    first,
    // In a block that left the chain.
    {
      slot: 11,
      blockhash: "dead",
      changes: [[associated, mint, wallet, 1_000n, 9_000n]],
      minted: [[wallet, 8_000n]],
      calls: [depositSol(9_000n, associated)],
    },
    {
      slot: 20,
      changes: [
        [associated, mint, wallet, 1_000n, 1_500n],
        ["stake", "", "", 600n, 0n],
        ["validator", "", "", 10n, 600n],
        ["reserve", "", "", 0n, 10n],
      ],
      minted: [[wallet, 500n]],
      calls: [depositStake],
    },
    // Another token, and tokens that came from somebody a minute after a sample.
    {
      slot: 30,
      changes: [
        [associated, mint, wallet, 1_500n, 1_700n],
        ["coins", "coin", wallet, 0n, 9n],
      ],
    },
    // To a second account of the wallet, and half of all away.
    {
      slot: 40,
      changes: [
        [associated, mint, wallet, 1_700n, 700n],
        ["second", mint, wallet, 0n, 1_000n],
      ],
    },
    {
      slot: 50,
      changes: [
        ["second", mint, wallet, 1_000n, 150n],
        ["others", mint, "other", 55n, 905n],
      ],
    },
  ]);
  await write([first]);
  await write([{ slot: 35, success: false, changes: [["second", "", "", 9n, 8n]] }]);
  await ledger.command(
    "INSERT INTO dropped_blocks (network, slot, blockhash, dropped, version) VALUES ('devnet', 11, 'dead', true, 1)",
  );
  await ledger.insert("pool_samples", [
    { ...of, at: at + 29 * 60_000, slot: 29, total_lamports: 1_250, token_supply: 1_000, last_update_epoch: 1 },
  ]);
}, 60_000);
afterAll(async () => {
  await ledger[Symbol.asyncDispose]();
});

const read = (changes: Partial<Parameters<PositionReader["read"]>[0]> = {}) =>
  new PositionReader({
    chain: { ...ledger.chainReads, tokens: ledger.tokenReads },
    samples: ledger.poolSamples,
  }).read({ wallet, snapshot, of, held: { amount: 850n, accounts: [associated, "second" as never] }, ...changes });

test("a wallet's cost is that of its deposits and of what came at the rate of the time, less what left with tokens", async () => {
  const basis = await read();
  // 1,100 for 1,000, 600 for 500, and 200 at 1.25; then half of 1,700 tokens left with half of 1,950.
  expect(basis).toMatchObject({ known: 850n, unknown: 0n, lamports: 975n, sinceMs: at + 10 * 60_000 });
  const minutes = (1_100 * 10 + 600 * 20 + 250 * 30) / 1_950;
  expect(Math.abs(basis.heldSinceMs - (at + minutes * 60_000))).toBeLessThan(2);
  expect(basis.steps.map((line) => line.split(":")[0])).toEqual(["s10", "s20", "s30", "s50"]);
});

test("tokens that came when no sample was near, or on another chain, are of unknown cost", async () => {
  const basis = await read({ of: { ...of, chain: "other" } });
  expect(basis.known + basis.unknown).toBe(850n);
  expect(basis).toMatchObject({ unknown: 100n, known: 750n, lamports: 850n });
});

test("deposits into another pool cost nothing that is known here, and a wallet without tokens has no basis", async () => {
  const other = { ...snapshot, address: address(9) };
  expect(await read({ snapshot: other })).toMatchObject({ known: 100n, lamports: 125n, unknown: 750n });
  const nobody = { wallet: address(30), held: { amount: 0n, accounts: [] } };
  expect(await read(nobody)).toMatchObject({ known: 0n, unknown: 0n, lamports: 0n, sinceMs: null, steps: [] });
});

test("tokens that left by an account that is gone take their part of the cost with them", async () => {
  const basis = await read({ held: { amount: 1_000n, accounts: [associated] } });
  expect(basis).toMatchObject({ known: 1_000n, unknown: 0n, lamports: 1_148n });
  expect(basis.steps.at(-1)).toBe("700 tokens now that left without a movement with 802 lamports of cost");
});

test("one question asks for the transactions of all token accounts, at most of 32, without failed ones", async () => {
  const asked: { readonly addresses: readonly string[]; readonly found: readonly { readonly slot: bigint }[] }[] = [];
  const activity: ConstructorParameters<typeof PositionReader>[0]["chain"]["activity"] = {
    places: async (range, addresses, success) => {
      const found = await ledger.chainReads.activity.places(range, addresses, success);
      asked.push({ addresses, found });
      return found;
    },
  };
  const chain = { ...ledger.chainReads, activity, tokens: ledger.tokenReads };
  const others = Array.from({ length: 40 }, (_, index) => address(100 + index));
  const basis = await new PositionReader({ chain, samples: ledger.poolSamples }).read({
    ...{ wallet, snapshot, of },
    held: { amount: 850n, accounts: [associated, "second" as never, ...others] },
  });
  expect(basis).toMatchObject({ known: 850n, lamports: 975n });
  expect(asked).toHaveLength(1);
  expect(asked[0]?.addresses).toEqual([associated, "second", ...others.slice(0, 30)]);
  expect(asked[0]?.found.map(({ slot }) => Number(slot))).toEqual([50, 40, 30, 20, 10]);
});
