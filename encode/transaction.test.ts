import { describe, expect, test } from "bun:test";
import { decodeBase58, encodeBase58 } from "@sluice/wire/base58";
import { maxU64 } from "@sluice/wire/identifiers";
import { programs } from "@sluice/wire/programs";
import { encodeBlock } from "./block.ts";
import { encodeSimulation, type SimulatedTransaction } from "./simulation.ts";
import { block, firstVersionTransfer, legacyTransfer, signature, versionedCall } from "./testing/executed.ts";
import { A, B, C, D, E } from "./testing/keys.ts";
import { encodeTransaction, type TransactionOptions } from "./transaction.ts";

type Value = { transaction: unknown; meta: Record<string, unknown>; version?: unknown };

function presentedAs(executed: Parameters<typeof encodeTransaction>[0], options: TransactionOptions): Value {
  const encoded = encodeTransaction(executed, options);
  if (!encoded.ok) throw new Error(`version ${encoded.version} refused`);
  return encoded.value as unknown as Value;
}

const transferInfo = { source: A, destination: B, lamports: 7n };
const parsedTransfer = {
  program: "system",
  programId: programs.system,
  parsed: { type: "transfer", info: transferInfo },
  stackHeight: 1,
};
const systemCall = { programIdIndex: 2, accounts: [0, 1], data: "3Bxs422ZxaDKgeiB", stackHeight: 1 };

describe("transactions by encoding", () => {
  const legacy = legacyTransfer();

  test("json: header, static keys and compiled instructions", () => {
    expect(presentedAs(legacy, { encoding: "json" })).toEqual({
      transaction: {
        signatures: [signature],
        message: {
          header: { numRequiredSignatures: 1, numReadonlySignedAccounts: 0, numReadonlyUnsignedAccounts: 1 },
          accountKeys: [A, B, programs.system],
          recentBlockhash: C,
          instructions: [systemCall],
        },
      },
      meta: {
        err: null,
        status: { Ok: null },
        fee: 5000n,
        preBalances: [100n, 0n, 1n],
        postBalances: [93n, 7n, 1n],
        innerInstructions: [],
        logMessages: legacy.meta?.logs,
        preTokenBalances: [],
        postTokenBalances: [],
        rewards: [],
        loadedAddresses: { writable: [], readonly: [] },
        computeUnitsConsumed: 150n,
        costUnits: 1481n,
      },
    });
  });

  test("jsonParsed: keys with their rights, named instructions, no header and no loadedAddresses", () => {
    const { transaction, meta } = presentedAs(legacy, { encoding: "jsonParsed" });
    const key = (pubkey: string, signer: boolean, writable: boolean) => ({
      pubkey,
      writable,
      signer,
      source: "transaction",
    });
    expect(transaction).toEqual({
      signatures: [signature],
      message: {
        accountKeys: [key(A, true, true), key(B, false, true), key(programs.system, false, false)],
        recentBlockhash: C,
        instructions: [parsedTransfer],
      },
    });
    expect(meta).not.toHaveProperty("loadedAddresses");
  });

  test("the forms of bytes are the wire bytes, and keep compiled inner instructions", () => {
    expect(presentedAs(legacy, { encoding: "base58" }).transaction).toEqual([encodeBase58(legacy.bytes), "base58"]);
    expect(presentedAs(legacy, { encoding: "binary" }).transaction).toBe(encodeBase58(legacy.bytes));
    const { transaction, meta } = presentedAs(legacy, { encoding: "base64" });
    expect(transaction).toEqual([Buffer.from(legacy.bytes).toString("base64"), "base64"]);
    expect(meta["loadedAddresses"]).toEqual({ writable: [], readonly: [] });
  });

  test("accounts: keys and the short meta, rewards only when asked for", () => {
    const options = { encoding: "json", transactionDetails: "accounts", showRewards: false } as const;
    const { transaction, meta } = presentedAs(legacy, options);
    expect(Object.keys(transaction as object)).toEqual(["signatures", "accountKeys"]);
    const members = ["err", "fee", "postBalances", "postTokenBalances", "preBalances", "preTokenBalances", "status"];
    expect(Object.keys(meta).sort()).toEqual(members);
    expect(presentedAs(legacy, { ...options, showRewards: true }).meta["rewards"]).toEqual([]);
  });

  test("rewards are null unless they are shown", () => {
    expect(presentedAs(legacy, { encoding: "json", showRewards: false }).meta["rewards"]).toBeNull();
  });
});

describe("versions", () => {
  test("without a maximum, legacy has no version and any other is refused, in accounts mode too", () => {
    expect(presentedAs(legacyTransfer(), { encoding: "json" })).not.toHaveProperty("version");
    const refused = { ok: false, version: 0 } as const;
    expect(encodeTransaction(versionedCall(), { encoding: "json" })).toEqual(refused);
    expect(encodeTransaction(versionedCall(), { encoding: "json", transactionDetails: "accounts" })).toEqual(refused);
  });

  test("with a maximum, the version is named up to it and refused above it", () => {
    const options = { encoding: "json", maxSupportedTransactionVersion: 0 } as const;
    expect(presentedAs(legacyTransfer(), options).version).toBe("legacy");
    expect(presentedAs(versionedCall(), options).version).toBe(0);
    expect(encodeTransaction(firstVersionTransfer(), options)).toEqual({ ok: false, version: 1 });
    expect(presentedAs(firstVersionTransfer(), { ...options, maxSupportedTransactionVersion: 1 }).version).toBe(1);
  });

  test("version 0: lookups in the message; loaded keys after the static ones in jsonParsed, and apart in json", () => {
    const maxSupportedTransactionVersion = 0;
    const lookups = [{ accountKey: D, writableIndexes: [0], readonlyIndexes: [1] }];
    const json = presentedAs(versionedCall(), { encoding: "json", maxSupportedTransactionVersion });
    expect(json.transaction).toMatchObject({ message: { accountKeys: [A, C], addressTableLookups: lookups } });
    expect(json.meta["loadedAddresses"]).toEqual({ writable: [B], readonly: [E] });
    const parsed = presentedAs(versionedCall(), { encoding: "jsonParsed", maxSupportedTransactionVersion });
    expect(parsed.transaction).toMatchObject({
      message: {
        accountKeys: [
          { pubkey: A, writable: true, signer: true, source: "transaction" },
          { pubkey: C, writable: false, signer: false, source: "transaction" },
          { pubkey: B, writable: true, signer: false, source: "lookupTable" },
          { pubkey: E, writable: false, signer: false, source: "lookupTable" },
        ],
        addressTableLookups: lookups,
        instructions: [{ programId: C, accounts: [A, B, E], data: "Ldp", stackHeight: 1 }],
      },
    });
  });

  test("version 1: its configuration with null for what is not given, and no lookups", () => {
    const options = { encoding: "json", maxSupportedTransactionVersion: 1 } as const;
    const { message } = presentedAs(firstVersionTransfer(), options).transaction as {
      message: Record<string, unknown>;
    };
    expect(message["transactionConfig"]).toEqual({
      priorityFee: null,
      computeUnitLimit: 200_000,
      loadedAccountsDataSizeLimit: null,
      heapSize: null,
    });
    expect(message).not.toHaveProperty("addressTableLookups");
  });
});

describe("what the runtime adds", () => {
  const data = decodeBase58("3Bxs422ZxaDKgeiB") ?? new Uint8Array();
  const called = [{ programIdIndex: 2, accounts: [0, 1], data, stackHeight: 2 }];

  test("inner instructions are compiled or named, as the outer ones are", () => {
    const executed = legacyTransfer({ innerInstructions: [{ index: 0, instructions: called }] });
    const group = (instruction: object) => [{ index: 0, instructions: [instruction] }];
    expect(presentedAs(executed, { encoding: "json" }).meta["innerInstructions"]).toEqual(
      group({ ...systemCall, stackHeight: 2 }),
    );
    expect(presentedAs(executed, { encoding: "jsonParsed" }).meta["innerInstructions"]).toEqual(
      group({ ...parsedTransfer, stackHeight: 2 }),
    );
  });

  test("a failure stands in err and in status, and returned data only when there are some", () => {
    const error = { InstructionError: [0, { Custom: 1 }] };
    const returnData = { programId: C, data: Uint8Array.of(1, 2, 3) };
    const { meta } = presentedAs(legacyTransfer({ error, returnData }), { encoding: "json" });
    expect(meta["err"]).toEqual(error);
    expect(meta["status"]).toEqual({ Err: error });
    expect(meta["returnData"]).toEqual({ programId: C, data: ["AQID", "base64"] });
    expect(presentedAs(legacyTransfer(), { encoding: "json" }).meta).not.toHaveProperty("returnData");
  });

  test("token balances name owner and program; a stored balance of zero has no float, a simulated one has 0", () => {
    const balance = { accountIndex: 1, mint: C, owner: A, programId: programs.token, amount: 0n, decimals: 6 };
    const shown = { accountIndex: 1, mint: C, owner: A, programId: programs.token };
    const zero = { uiAmount: null, decimals: 6, amount: "0", uiAmountString: "0" };
    const { meta } = presentedAs(legacyTransfer({ postTokenBalances: [balance] }), { encoding: "json" });
    expect(meta["postTokenBalances"]).toEqual([{ ...shown, uiTokenAmount: zero }]);
    const simulated = encodeSimulation({ ...nothing, postTokenBalances: [balance] });
    expect(simulated["postTokenBalances"]).toEqual([{ ...shown, uiTokenAmount: { ...zero, uiAmount: 0 } }]);
  });
});

describe("blocks", () => {
  const whole = block([legacyTransfer(), versionedCall()]);
  const blockAs = (options: Partial<Parameters<typeof encodeBlock>[1]>) => {
    const defaults = { encoding: "json", transactionDetails: "full", rewards: true } as const;
    const encoded = encodeBlock(whole, { ...defaults, maxSupportedTransactionVersion: 0, ...options });
    if (!encoded.ok) throw new Error("refused");
    return encoded.value;
  };
  const header = { blockhash: C, previousBlockhash: D, parentSlot: 9n, blockTime: 1_700_000_000n, blockHeight: 8n };
  const rewards = [{ pubkey: A, lamports: 2500n, postBalance: 2n ** 63n, rewardType: "Fee", commission: null }];

  test("each detail has its members and no others", () => {
    expect(blockAs({ transactionDetails: "none" })).toEqual({ ...header, rewards });
    expect(blockAs({ transactionDetails: "none", rewards: false })).toEqual(header);
    const signatures = [signature, signature];
    expect(blockAs({ transactionDetails: "signatures" })).toEqual({ ...header, signatures, rewards });
    const full = blockAs({});
    expect(Object.keys(full).sort()).toEqual([...Object.keys(header), "rewards", "transactions"].sort());
    expect(full["transactions"]).toMatchObject([{ version: "legacy" }, { version: 0 }]);
    expect(blockAs({ transactionDetails: "accounts", rewards: false })["transactions"]).toMatchObject([
      { transaction: { accountKeys: [{ pubkey: A }, { pubkey: B }, { pubkey: programs.system }] } },
      { transaction: { accountKeys: [{ pubkey: A }, { pubkey: C }, { pubkey: B }, { pubkey: E }] } },
    ]);
  });

  test("a version that the caller does not support refuses the whole block, but not its signatures", () => {
    const options = { encoding: "json", rewards: false } as const;
    const refused = { ok: false, version: 0 } as const;
    expect(encodeBlock(whole, { ...options, transactionDetails: "full" })).toEqual(refused);
    expect(encodeBlock(whole, { ...options, transactionDetails: "accounts" })).toEqual(refused);
    expect(encodeBlock(whole, { ...options, transactionDetails: "signatures" }).ok).toBe(true);
    expect(encodeBlock(whole, { ...options, transactionDetails: "none" }).ok).toBe(true);
  });
});

const nothing: SimulatedTransaction = {
  error: null,
  logs: null,
  accounts: null,
  unitsConsumed: null,
  loadedAccountsDataSize: null,
  returnData: null,
  innerInstructions: null,
  accountKeys: [],
  replacementBlockhash: null,
  fee: null,
  preBalances: null,
  postBalances: null,
  preTokenBalances: null,
  postTokenBalances: null,
  loadedAddresses: null,
};

describe("simulations", () => {
  test("every member is there, null when there is nothing to say", () => {
    const { error: err, accountKeys: _keys, ...members } = nothing;
    const expected: object = { err, ...members };
    const actual: object = encodeSimulation(nothing);
    expect(actual).toEqual(expected);
  });

  test("inner instructions are named, and groups without calls are left out", () => {
    const data = decodeBase58("3Bxs422ZxaDKgeiB") ?? new Uint8Array();
    const instructions = [{ programIdIndex: 2, accounts: [0, 1], data, stackHeight: 2 }];
    const groups = [
      { index: 0, instructions: [] },
      { index: 1, instructions },
    ];
    const accountKeys = [A, B, programs.system];
    const encoded = encodeSimulation({ ...nothing, accountKeys, innerInstructions: groups, unitsConsumed: maxU64 });
    expect(encoded["innerInstructions"]).toEqual([{ index: 1, instructions: [{ ...parsedTransfer, stackHeight: 2 }] }]);
    expect(encoded["unitsConsumed"]).toBe(maxU64);
  });
});
