import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { tipPrograms } from "@sluice/wire/accounts/tips";
import type { Transaction } from "@sluice/wire/transaction";
import { Keypair, PublicKey, SystemProgram, TransactionInstruction } from "@solana/web3.js";
import type { ChainNode } from "../node.ts";
import { bootNode, call } from "../testing/boot.ts";
import { signed } from "../testing/chain.ts";
import { airdropTransaction } from "./airdrop.ts";

const sol = 1_000_000_000n;

let node: ChainNode;
const payer = Keypair.generate();

beforeAll(async () => {
  node = await bootNode({ slotMs: 0 });
  const { chain } = node;
  const { publicKey } = payer;
  chain.submit(
    airdropTransaction(chain.genesis.faucet, publicKey.toBytes(), 100n * sol, chain.at("processed").blockhash, 0),
  );
  await closeSlots(3);
});

afterAll(() => node[Symbol.asyncDispose]());

async function closeSlots(count: number): Promise<void> {
  for (let closed = 0; closed < count; closed += 1) {
    await node.chain.settled();
    await node.closeSlot();
  }
}

/** The blockhash that every bank knows which a bundle is simulated over unless it asks for another. */
const confirmed = () => node.chain.at("confirmed").blockhash;

function pay(from: Keypair, to: PublicKey, lamports: bigint, blockhash = confirmed()): Transaction {
  return signed(from, blockhash, SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: to, lamports }));
}

const base64 = (transactions: readonly Transaction[]) =>
  transactions.map(({ bytes }) => Buffer.from(bytes).toString("base64"));

interface Simulated {
  readonly context: { readonly slot: number };
  readonly value: {
    readonly summary: unknown;
    readonly transactionResults: readonly {
      readonly err: unknown;
      readonly preExecutionAccounts: readonly { readonly lamports: number }[];
      readonly postExecutionAccounts: readonly { readonly lamports: number }[];
      readonly preBalances: readonly number[] | null;
      readonly postBalances: readonly number[] | null;
      readonly replacementBlockhash: unknown;
      readonly logs: readonly string[];
    }[];
  };
}

async function simulate(transactions: readonly Transaction[], config?: object): Promise<Simulated> {
  const bundle = { encodedTransactions: base64(transactions) };
  const { result, error } = await call(
    node.rpcUrl,
    "simulateBundle",
    config === undefined ? [bundle] : [bundle, config],
  );
  expect(error).toBeUndefined();
  return result as Simulated;
}

async function refusal(...params: readonly unknown[]): Promise<string> {
  const { error } = await call(node.rpcUrl, "simulateBundle", params);
  expect(error?.code).toBe(-32602);
  return error?.message ?? "";
}

const none = (count: number) => new Array<null>(count).fill(null);
const withAccounts = (count: number, more: object = {}) => ({
  preExecutionAccountsConfigs: none(count),
  postExecutionAccountsConfigs: none(count),
  ...more,
});

describe("simulateBundle", () => {
  test("runs transactions one over another and keeps nothing", async () => {
    const [relay, last] = [Keypair.generate(), Keypair.generate()];
    const bundle = [pay(payer, relay.publicKey, 3n * sol), pay(relay, last.publicKey, 2n * sol)];
    const total = node.chain.accounts.lamports;
    const addresses = [relay.publicKey.toBase58(), last.publicKey.toBase58()];
    const accounts = [{ addresses }, { encoding: "base64", addresses }];
    const { context, value } = await simulate(bundle, {
      preExecutionAccountsConfigs: accounts,
      postExecutionAccountsConfigs: accounts,
    });
    expect(context.slot).toBe(Number(node.chain.at("confirmed").slot));
    expect(value.summary).toBe("succeeded");
    const lamports = (side: "preExecutionAccounts" | "postExecutionAccounts") =>
      value.transactionResults.map((each) => each[side].map((account) => account.lamports));
    expect(lamports("preExecutionAccounts")).toEqual([
      [0, 0],
      [3e9, 0],
    ]);
    expect(lamports("postExecutionAccounts")).toEqual([
      [3e9, 0],
      [3e9 - 2e9 - 5_000, 2e9],
    ]);
    expect(value.transactionResults[1]?.preBalances).toEqual([3e9, 0, 1]);
    expect(value.transactionResults[1]?.postBalances).toEqual([3e9 - 2e9 - 5_000, 2e9, 1]);
    expect(Object.keys(value.transactionResults[0] ?? {}).sort()).toEqual(
      [
        "err",
        "fee",
        "loadedAccountsDataSize",
        "loadedAddresses",
        "logs",
        "postBalances",
        "postExecutionAccounts",
        "postTokenBalances",
        "preBalances",
        "preExecutionAccounts",
        "preTokenBalances",
        "replacementBlockhash",
        "returnData",
        "unitsConsumed",
      ].sort(),
    );
    expect(node.chain.accounts.lamports).toBe(total);
    expect((await simulate(bundle)).value.summary).toBe("succeeded");
  });

  test("ends with the first that fails and names it", async () => {
    const [relay, last] = [Keypair.generate(), Keypair.generate()];
    const bundle = [
      pay(payer, relay.publicKey, 3n * sol),
      pay(relay, last.publicKey, 5n * sol),
      pay(payer, last.publicKey, sol),
    ];
    const { value } = await simulate(bundle);
    const [, failing] = bundle;
    const signature = [...(failing?.signatureBytes(0) ?? [])];
    expect(signature).toHaveLength(64);
    expect(value.summary).toEqual({
      failed: {
        error: {
          TransactionFailure: [signature, "Error processing Instruction 0: custom program error: 0x1"],
        },
        tx_signature: failing?.id,
      },
    });
    expect(value.transactionResults.map(({ err }) => err)).toEqual([null, { InstructionError: [0, { Custom: 1 }] }]);
    expect(value.transactionResults[1]?.logs.length).toBeGreaterThan(0);
  });

  test("distinguishes a bundle that is too old or already processed", async () => {
    const old = pay(payer, Keypair.generate().publicKey, sol, new PublicKey(Keypair.generate().publicKey).toBase58());
    const { value } = await simulate([pay(payer, Keypair.generate().publicKey, sol), old]);
    expect(value.summary).toMatchObject({ failed: { tx_signature: old.id } });
    expect(value.transactionResults.map(({ err }) => err)).toEqual([null, "BlockhashNotFound"]);
  });

  test("replaces blockhashes and believes signatures on request", async () => {
    const old = pay(payer, Keypair.generate().publicKey, sol, Keypair.generate().publicKey.toBase58());
    const { value } = await simulate([old], withAccounts(1, { skipSigVerify: true, replaceRecentBlockhash: true }));
    const bank = node.chain.at("confirmed");
    expect(value.summary).toBe("succeeded");
    expect(value.transactionResults[0]?.replacementBlockhash).toEqual({
      blockhash: bank.blockhash,
      lastValidBlockHeight: Number(bank.blockHeight) + 150,
    });
  });

  test("runs over the bank that it is asked for: a commitment's, a slot's, or the open one", async () => {
    const relay = Keypair.generate();
    node.chain.submit(pay(payer, relay.publicKey, sol));
    await node.chain.settled();
    const spend = pay(relay, Keypair.generate().publicKey, sol / 2n);
    const over = async (simulationBank: unknown) => {
      const { context, value } = await simulate([spend], withAccounts(1, { simulationBank }));
      return [context.slot, value.summary === "succeeded"];
    };
    const open = Number(node.chain.openSlot);
    expect(await over("tip")).toEqual([open, true]);
    expect(await over({ slot: open })).toEqual([open, true]);
    expect(await over({ slot: open - 1 })).toEqual([open - 1, false]);
    expect(await over({ commitment: { commitment: "processed" } })).toEqual([open - 1, false]);
    await closeSlots(1);
    expect(await over({ commitment: { commitment: "processed" } })).toEqual([open, true]);
    expect(await over({ commitment: { commitment: "confirmed" } })).toEqual([open - 1, false]);
    expect(await over(null)).toEqual([open - 1, false]);
  });

  test("refuses what it cannot read, each fault in the node's words", async () => {
    const one = pay(payer, Keypair.generate().publicKey, sol);
    const encodedTransactions = base64([one]);
    const [text = ""] = encodedTransactions;
    const bundle = { encodedTransactions };
    const config = (more: object) => refusal(bundle, withAccounts(1, more));
    expect(await refusal({})).toBe("Invalid params: missing field `encodedTransactions`.");
    expect(await refusal({ encodedTransactions: new Array(21).fill(text) })).toBe(
      "bundle size too large, max 20 transactions",
    );
    const lengths = "pre/post_execution_accounts_configs must be equal in length to the number of transactions";
    expect(await refusal(bundle, withAccounts(2))).toBe(lengths);
    expect(await config({ postExecutionAccountsConfigs: [] })).toBe(lengths);
    expect(await refusal(bundle, {})).toBe("Invalid params: missing field `preExecutionAccountsConfigs`.");
    expect(await config({ simulationBank: { slot: 9_999 } })).toBe("bank not found for the provided slot: 9999");
    expect(await config({ transactionEncoding: "base58" })).toBe(
      "unsupported encoding: base58. Supported encodings: base64",
    );
    expect(await config({ preExecutionAccountsConfigs: [{ encoding: "jsonParsed", addresses: [] }] })).toBe(
      "unsupported encoding: jsonParsed. Supported encodings: base64",
    );
    const many = new Array(4).fill(payer.publicKey.toBase58());
    expect(await config({ preExecutionAccountsConfigs: [{ addresses: many }] })).toBe(
      "Too many accounts provided; max 3",
    );
    expect(await config({ replaceRecentBlockhash: true })).toBe(
      "sigVerify may not be used with replaceRecentBlockhash",
    );
    expect(await refusal({ encodedTransactions: [text, text] })).toBe("duplicate transactions");
    const forged = Uint8Array.from(one.bytes);
    forged[3] = (forged[3] ?? 0) ^ 1;
    const spoilt = Buffer.from(forged).toString("base64");
    expect(await refusal({ encodedTransactions: [spoilt] })).toStartWith("transaction signature is invalid: ");
    const skipped = await call(node.rpcUrl, "simulateBundle", [
      { encodedTransactions: [spoilt] },
      withAccounts(1, { skipSigVerify: true }),
    ]);
    expect(skipped.result).toMatchObject({ value: { summary: "succeeded" } });
  });
});

describe("sendBundle", () => {
  test("hands a bundle to the leader, which runs it whole, and answers its id", async () => {
    const relay = Keypair.generate();
    const bundle = [pay(payer, relay.publicKey, 3n * sol), pay(relay, Keypair.generate().publicKey, 2n * sol)];
    const { result } = await call(node.rpcUrl, "sendBundle", [base64(bundle), { encoding: "base64" }]);
    const ids = bundle.map(({ id }) => id);
    expect(result).toBe(createHash("sha256").update(ids.join(",")).digest("hex"));
    await closeSlots(1);
    const block = node.chain.history.block(node.chain.at("processed").slot);
    expect(block?.transactions.map(({ signature }) => signature)).toEqual(ids);
  });

  test("refuses a bundle that no leader would take", async () => {
    const said = async (transactions: readonly Transaction[]) =>
      (await call(node.rpcUrl, "sendBundle", [base64(transactions), { encoding: "base64" }])).error;
    const one = pay(payer, Keypair.generate().publicKey, sol);
    const names = signed(
      payer,
      confirmed(),
      new TransactionInstruction({ programId: new PublicKey(tipPrograms.payment), keys: [] }),
    );
    const refused = (message: string) => ({ code: -32602, message });
    expect(await said([one, one])).toEqual(refused("transaction #1: duplicate transactions"));
    expect(await said([one, names])).toEqual(refused("transaction #1: is not allowed in a bundle"));
    expect(await said(new Array(6).fill(one))).toEqual(
      refused("exceeded maximum number of transactions allowed in a bundle: 5"),
    );
  });
});
