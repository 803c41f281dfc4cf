import { describe, expect, test } from "bun:test";
import { maxU64 } from "@sluice/wire/identifiers";
import { stringifyJsonExact } from "@sluice/wire/json";
import { programs } from "@sluice/wire/programs";
import * as spl from "@solana/spl-token";
import { Connection, PublicKey } from "@solana/web3.js";
import { encodeAccount } from "./account.ts";
import { uiTokenAmount } from "./amount.ts";
import { encodeBlock } from "./block.ts";
import type { JsonValue } from "./json.ts";
import { encodeSimulation } from "./simulation.ts";
import { block, firstVersionTransfer, legacyTransfer, signature, versionedCall } from "./testing/executed.ts";
import { A, a, B, b, C } from "./testing/keys.ts";
import { chainAccount } from "./testing/layout.ts";
import { encodeTransaction, type TransactionEncodingName } from "./transaction.ts";

/** A web3.js connection that is answered with `result` and checks it against the client's own schema. */
function answering(result: JsonValue): Connection {
  const answer = async (_url: unknown, init?: { readonly body?: unknown }): Promise<Response> => {
    const request: unknown = JSON.parse(String(init?.body));
    const ids = (Array.isArray(request) ? request : [request]).map((each: { id: string }) => each.id);
    const answers = ids.map((id) => stringifyJsonExact({ jsonrpc: "2.0", result, id }));
    const body = Array.isArray(request) ? `[${answers.join(",")}]` : (answers[0] ?? "");
    return new Response(body, { headers: { "content-type": "application/json" } });
  };
  return new Connection("http://127.0.0.1:1", { fetch: answer as never, disableRetryOnRateLimit: true });
}

function inContext(value: JsonValue): JsonValue {
  return { context: { slot: 10n, apiVersion: "4.0.0" }, value };
}

const calls = [{ programIdIndex: 2, accounts: [0, 1], data: Uint8Array.of(2, 0, 0, 0), stackHeight: 2 }];
const balance = { accountIndex: 1, mint: C, owner: A, programId: programs.token, amount: 5n, decimals: 6 };
const eventful = legacyTransfer({
  innerInstructions: [{ index: 0, instructions: calls }],
  postTokenBalances: [balance],
  returnData: { programId: C, data: Uint8Array.of(1) },
  error: { InstructionError: [0, { Custom: 6001 }] },
});
const samples = {
  legacy: legacyTransfer(),
  eventful,
  "version 0": versionedCall(),
  "version 1": firstVersionTransfer(),
};

function transactionAnswer(executed: (typeof samples)["legacy"], encoding: TransactionEncodingName): JsonValue {
  const encoded = encodeTransaction(executed, { encoding, maxSupportedTransactionVersion: 1 });
  if (!encoded.ok) throw new Error("refused");
  return { slot: 10n, blockTime: 1_700_000_000n, ...encoded.value };
}

describe("web3.js takes what is presented", () => {
  const config = { maxSupportedTransactionVersion: 1 } as never;

  for (const [name, executed] of Object.entries(samples)) {
    test(`getTransaction and getParsedTransaction: ${name}`, async () => {
      const plain = await answering(transactionAnswer(executed, "json")).getTransaction(signature, config);
      expect(plain?.transaction.signatures).toEqual([signature]);
      expect(plain?.meta?.fee).toBe(5000);
      const parsed = await answering(transactionAnswer(executed, "jsonParsed")).getParsedTransaction(signature, config);
      expect(parsed?.transaction.message.accountKeys[0]?.pubkey.toBase58()).toBe(A);
      expect(parsed?.transaction.message.instructions.length).toBe(1);
      expect(parsed?.meta?.costUnits).toBe(1481);
    });
  }

  test("getParsedTransactions, in a batch", async () => {
    const answers = await answering(transactionAnswer(eventful, "jsonParsed")).getParsedTransactions([
      signature,
      signature,
    ]);
    expect(answers.map((answer) => answer?.meta?.err)).toEqual([eventful.meta?.error, eventful.meta?.error]);
    const inner = answers[0]?.meta?.innerInstructions?.[0]?.instructions[0];
    expect(inner?.programId.toBase58()).toBe(programs.system);
  });

  for (const transactionDetails of ["full", "accounts", "none", "signatures"] as const) {
    test(`getBlock and getParsedBlock: ${transactionDetails}`, async () => {
      const encode = (encoding: TransactionEncodingName): JsonValue => {
        const options = { encoding, transactionDetails, rewards: true, maxSupportedTransactionVersion: 1 };
        const encoded = encodeBlock(block(Object.values(samples)), options);
        if (!encoded.ok) throw new Error("refused");
        return encoded.value;
      };
      if (transactionDetails === "signatures") {
        expect((await answering(encode("json")).getBlockSignatures(10)).signatures.length).toBe(4);
        return;
      }
      const options = { transactionDetails, maxSupportedTransactionVersion: 1 } as never;
      const plain = (await answering(encode("json")).getBlock(10, options)) as { parentSlot: number } | null;
      expect(plain?.parentSlot).toBe(9);
      const parsed = (await answering(encode("jsonParsed")).getParsedBlock(10, options)) as {
        blockhash: string;
      } | null;
      expect(parsed?.blockhash).toBe(C);
    });
  }

  test("getAccountInfo, getParsedAccountInfo and getMultipleParsedAccounts", async () => {
    const clock = { epoch: 0n, unixTimestamp: 0n };
    const data = new Uint8Array(200);
    const stake = { ...chainAccount(data, programs.stake), rentEpoch: maxU64 };
    const encode = (encoding: "base64" | "jsonParsed"): JsonValue => {
      const encoded = encodeAccount(A, stake, { encoding, clock });
      if ("fault" in encoded) throw new Error(encoded.fault);
      return encoded;
    };
    const info = await answering(inContext(encode("base64"))).getAccountInfo(a);
    expect(info?.data.length).toBe(200);
    const parsed = await answering(inContext(encode("jsonParsed"))).getParsedAccountInfo(a);
    expect(parsed.value?.data).toEqual({ program: "stake", parsed: { type: "uninitialized" }, space: 200 });
    const several = answering(inContext([encode("jsonParsed"), null]));
    expect((await several.getMultipleParsedAccounts([a, b])).value.map((each) => each === null)).toEqual([false, true]);
  });

  test("getParsedTokenAccountsByOwner, getTokenAccountBalance and getTokenSupply", async () => {
    const mint = Buffer.alloc(spl.MINT_SIZE);
    const authorities = {
      mintAuthorityOption: 0 as const,
      mintAuthority: a,
      freezeAuthorityOption: 0 as const,
      freezeAuthority: a,
    };
    spl.MintLayout.encode({ ...authorities, supply: 5n, decimals: 6, isInitialized: true }, mint);
    const held = Buffer.alloc(spl.ACCOUNT_SIZE);
    const unset = {
      delegateOption: 0,
      delegate: a,
      isNativeOption: 0,
      isNative: 0n,
      closeAuthorityOption: 0,
      closeAuthority: a,
    } as const;
    const state = spl.AccountState.Initialized;
    spl.AccountLayout.encode({ mint: a, owner: b, amount: 5n, state, delegatedAmount: 0n, ...unset }, held);
    const encoded = encodeAccount(B, chainAccount(new Uint8Array(held), programs.token), {
      encoding: "jsonParsed",
      lookup: (address) => (address === A ? chainAccount(new Uint8Array(mint), programs.token) : null),
      clock: { epoch: 0n, unixTimestamp: 0n },
    });
    if ("fault" in encoded) throw new Error(encoded.fault);
    const listed = answering(inContext([{ pubkey: B, account: encoded }]));
    const programId = new PublicKey(programs.token);
    const accounts = await listed.getParsedTokenAccountsByOwner(b, { programId });
    expect(accounts.value[0]?.account.data.parsed.info.tokenAmount.uiAmountString).toBe("0.000005");
    const amount = inContext(uiTokenAmount(5n, 6));
    expect((await answering(amount).getTokenAccountBalance(b)).value.uiAmount).toBe(0.000005);
    expect((await answering(amount).getTokenSupply(a)).value.amount).toBe("5");
  });

  test("simulateTransaction", async () => {
    const { VersionedTransaction } = await import("@solana/web3.js");
    const result = encodeSimulation({
      error: { InstructionError: [0, "InvalidArgument"] },
      logs: ["Program log: no"],
      accounts: [null],
      unitsConsumed: 150n,
      loadedAccountsDataSize: 220,
      returnData: { programId: C, data: Uint8Array.of(1) },
      innerInstructions: [{ index: 0, instructions: calls }],
      accountKeys: [A, B, programs.system],
      replacementBlockhash: { blockhash: C, lastValidBlockHeight: 9n },
      fee: 5000n,
      preBalances: [1n],
      postBalances: [1n],
      preTokenBalances: [balance],
      postTokenBalances: [],
      loadedAddresses: { writable: [], readonly: [] },
    });
    const transaction = VersionedTransaction.deserialize(versionedCall().bytes);
    const simulated = await answering(inContext(result)).simulateTransaction(transaction);
    expect(simulated.value.err).toEqual({ InstructionError: [0, "InvalidArgument"] });
    expect(simulated.value.unitsConsumed).toBe(150);
    expect(simulated.value).toHaveProperty("replacementBlockhash", { blockhash: C, lastValidBlockHeight: 9 });
  });
});
