/** Forms in which Agave answers and that clients were seen to depend on. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { sysvars } from "@sluice/wire/programs";
import { Connection, Keypair, PublicKey, SystemProgram, Transaction } from "@solana/web3.js";
import type { ChainNode } from "../node.ts";
import { bootNode, call } from "../testing/boot.ts";
import { walletKeypair } from "../testing/wallets.ts";

const sol = 1_000_000_000;

let node: ChainNode;
let connection: Connection;
beforeAll(async () => {
  node = await bootNode({ slotMs: 0 });
  connection = new Connection(node.rpcUrl, { commitment: "processed", wsEndpoint: node.wsUrl });
});
afterAll(() => node[Symbol.asyncDispose]());

async function closeSlot(): Promise<void> {
  await node.chain.settled();
  await node.closeSlot();
}

test("an airdrop is one transfer, and equal airdrops of one blockhash are each another transaction", async () => {
  const { publicKey } = Keypair.generate();
  const first = await connection.requestAirdrop(publicKey, sol);
  const second = await connection.requestAirdrop(publicKey, sol);
  const other = await connection.requestAirdrop(publicKey, 2 * sol);
  expect(new Set([first, second, other]).size).toBe(3);
  await closeSlot();
  await closeSlot();
  expect(await connection.getBalance(publicKey)).toBe(4 * sol);
  const instructions = async (signature: string) => {
    const found = await connection.getTransaction(signature, {
      commitment: "confirmed",
      maxSupportedTransactionVersion: 0,
    });
    return [found?.transaction.message.compiledInstructions.length, found?.meta?.logMessages?.length];
  };
  expect(await instructions(first)).toEqual([1, 2]);
  expect(await instructions(other)).toEqual([1, 2]);
  expect(await instructions(second)).toEqual([2, 4]);
});

test("getVoteAccounts shows the commission in basis points beside the percentage", async () => {
  const { result } = await call(node.rpcUrl, "getVoteAccounts");
  const [row] = (result as { current: { commission: number; inflationRewardsCommissionBps: number }[] }).current;
  expect(row?.inflationRewardsCommissionBps).toBe((row?.commission ?? Number.NaN) * 100);
});

async function preflight(payer: Keypair, lamports: number) {
  const { blockhash } = await connection.getLatestBlockhash();
  const transaction = new Transaction({ feePayer: payer.publicKey, recentBlockhash: blockhash }).add(
    SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: payer.publicKey, lamports }),
  );
  transaction.sign(payer);
  const options = { encoding: "base64", preflightCommitment: "processed" };
  const { error } = await call(node.rpcUrl, "sendTransaction", [transaction.serialize().toString("base64"), options]);
  return error?.data as Record<string, unknown>;
}

test("a preflight failure of an unfunded payer loaded nothing, one of a program loaded accounts", async () => {
  expect(await preflight(Keypair.generate(), 1)).toMatchObject({ err: "AccountNotFound", loadedAccountsDataSize: 0 });
  const poor = Keypair.generate();
  await connection.requestAirdrop(poor.publicKey, 890_885);
  await closeSlot();
  expect(await preflight(poor, 1)).toMatchObject({ err: { InsufficientFundsForRent: { account_index: 0 } } });
  expect(await preflight(poor, 1)).toMatchObject({ loadedAccountsDataSize: 0, logs: [], unitsConsumed: 0 });
  const rich = await preflight(walletKeypair("alice"), 9_000_000 * sol);
  expect(rich["err"]).toEqual({ InstructionError: [0, { Custom: 1 }] });
  expect(rich["loadedAccountsDataSize"]).toBeGreaterThan(0);
});

test("the data of a preflight failure has its members in alphabetical order, a simulation's result has not", async () => {
  const names = Object.keys(await preflight(Keypair.generate(), 1));
  expect(names).toEqual([...names].sort());
  expect(names[0]).toBe("accounts");
  const { blockhash } = await connection.getLatestBlockhash();
  const alice = walletKeypair("alice");
  const transaction = new Transaction({ feePayer: alice.publicKey, recentBlockhash: blockhash }).add(
    SystemProgram.transfer({ fromPubkey: alice.publicKey, toPubkey: alice.publicKey, lamports: 1 }),
  );
  transaction.sign(alice);
  const options = { encoding: "base64", commitment: "processed" };
  const { result } = await call(node.rpcUrl, "simulateTransaction", [
    transaction.serialize().toString("base64"),
    options,
  ]);
  expect(Object.keys((result as { value: object }).value)[0]).toBe("err");
});

test("a zstd frame names a window and no size, and holds the account's bytes", async () => {
  const clock = new PublicKey(sysvars.stakeHistory);
  const zstd = await call(node.rpcUrl, "getAccountInfo", [clock.toBase58(), { encoding: "base64+zstd" }]);
  const [text, encoding] = (zstd.result as { value: { data: [string, string] } }).value.data;
  const frame = Buffer.from(text, "base64");
  expect([encoding, frame.subarray(0, 6).toString("hex")]).toEqual(["base64+zstd", "28b52ffd0058"]);
  const plain = await connection.getAccountInfo(clock);
  expect(Buffer.from(Bun.zstdDecompressSync(frame)).equals(plain?.data ?? Buffer.alloc(0))).toBe(true);
});

test("every sysvar holds what exempts it from rent", async () => {
  for (const [name, address] of Object.entries(sysvars)) {
    const account = await connection.getAccountInfo(new PublicKey(address));
    if (account === null) continue;
    const exempt = await connection.getMinimumBalanceForRentExemption(account.data.length);
    expect([name, account.lamports]).toEqual([name, exempt]);
  }
});
