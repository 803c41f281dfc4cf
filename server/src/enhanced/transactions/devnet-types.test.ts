import { afterAll, beforeAll, expect, test } from "bun:test";
import { isVote } from "@sluice/encode";
import { parseTransaction, TransactionView } from "@sluice/parser";
import { programs } from "@sluice/wire/programs";
import {
  ammProgram,
  instructionTag,
  marketplaceProgram,
  metadataProgramAddress,
} from "../../../../devnet/chain/programs/index.ts";
import { type DevnetRun, runDevnet } from "../../history/testing/devnet-blocks.ts";

/** What traffic of the development chain calls, and what a transaction is by that; the first that is there counts. */
const meanings: readonly (readonly [type: string, program: string, begins: string])[] = [
  ["NFT_SALE", marketplaceProgram, tag("buy_legacy")],
  ["NFT_MINT", metadataProgramAddress, "11"],
  ["NFT_CANCEL_LISTING", marketplaceProgram, tag("delist_legacy")],
  ["NFT_LISTING", marketplaceProgram, tag("list_legacy")],
  ["SWAP", ammProgram, tag("swap_base_input")],
  ["STAKE", programs.stake, "02000000"],
  ["UNSTAKE", programs.stake, "05000000"],
  ["UNSTAKE", programs.stake, "04000000"],
];

function tag(name: string): string {
  return Buffer.from(instructionTag(name)).toString("hex");
}

let run: DevnetRun;
beforeAll(async () => {
  run = await runDevnet(120);
}, 120_000);
afterAll(() => run[Symbol.asyncDispose]());

const views = () =>
  run.blocks
    .flatMap(({ transactions }) => transactions.map((transaction) => new TransactionView(transaction)))
    .filter((view) => !isVote(view));

/** The type by the outer calls alone; null where traffic calls none of those programs. */
function meantBy(view: TransactionView): string | null {
  const called = view.calls.filter(({ inner }) => inner === null);
  const found = meanings.find(([, program, begins]) =>
    called.some(({ programId, data }) => programId === program && Buffer.from(data).toString("hex").startsWith(begins)),
  );
  return found?.[0] ?? null;
}

test("every transaction of the development chain's programs has the type that was meant, failed ones too", () => {
  const types = new Map<string, number>();
  for (const view of views()) {
    const meant = meantBy(view);
    if (meant === null) continue;
    const { type } = parseTransaction(view);
    expect({ signature: view.transaction.signature, type: String(type) }).toEqual({
      signature: view.transaction.signature,
      type: meant,
    });
    types.set(type, (types.get(type) ?? 0) + 1);
  }
  for (const [type] of meanings) expect([type, (types.get(type) ?? 0) > 0]).toEqual([type, true]);
});

test("a swap of the development chain gives what its pool's vaults got, and gets what they gave", () => {
  let swaps = 0;
  for (const view of views()) {
    const { type, swap } = parseTransaction(view);
    if (type !== "SWAP" || view.failed) continue;
    const call = view.calls.find(({ programId }) => programId === ammProgram);
    if (call === undefined) continue;
    const [input, output] = [6, 7].map((position) => {
      const vault = call.accounts[position];
      const held = (balances: NonNullable<typeof view.meta>["preTokenBalances"] | undefined): bigint =>
        balances?.find(({ accountIndex }) => accountIndex === vault)?.amount ?? 0n;
      return held(view.meta?.postTokenBalances) - held(view.meta?.preTokenBalances);
    });
    expect([swap?.hops.length, swap?.hops[0]?.input.amount, swap?.hops[0]?.output.amount]).toEqual([
      1,
      input,
      -(output ?? 0n),
    ]);
    expect([swap?.input?.amount, swap?.output?.amount]).toEqual([input, -(output ?? 0n)]);
    swaps += 1;
  }
  expect(swaps).toBeGreaterThan(5);
});

test("what remains is a transfer, an account that is opened or closed, or unknown", () => {
  const rest = new Set(views().flatMap((view) => (meantBy(view) === null ? [parseTransaction(view).type] : [])));
  // Mints of Token-2022 are NFTs by calls of the token program alone.
  rest.delete("NFT_MINT");
  const others: readonly string[] = ["CLOSE_ACCOUNT", "CREATE_ACCOUNT", "TRANSFER", "UNKNOWN"];
  expect([...rest].filter((type) => !others.includes(type))).toEqual([]);
  expect(rest.has("TRANSFER")).toBe(true);
});
