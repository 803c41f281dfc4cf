import { afterAll, beforeAll, expect, test } from "bun:test";
import { encodeBase58 } from "@sluice/wire/base58";
import type { ChainNode } from "../node.ts";
import { bootNode, call, post } from "../testing/boot.ts";
import { rpcMethods } from "./table.ts";

/** The method table of a node, each with parameters that it takes, and a shape that its answer has. */
const calls: readonly (readonly [string, readonly unknown[], unknown])[] = [
  [
    "getAccountInfo",
    ["vote", { encoding: "base64" }],
    { context: {}, value: { owner: "Vote111111111111111111111111111111111111111" } },
  ],
  ["getAgGenesisCert", [], null],
  ["getBalance", ["stake"], { value: expect.any(Number) }],
  ["getBlock", [0], { blockHeight: 0, parentSlot: 0, transactions: [], rewards: [] }],
  ["getBlockCommitment", [40], { totalStake: expect.any(Number) }],
  ["getBlockHeight", [], expect.any(Number)],
  ["getBlockProduction", [], { context: {}, value: { range: { firstSlot: 0 } } }],
  ["getBlocks", [1, 3], [1, 2, 3]],
  ["getBlocksWithLimit", [2, 2], [2, 3]],
  ["getBlockTime", [1], expect.any(Number)],
  ["getClusterNodes", [], new Array(5).fill({ shredVersion: 0, tpu: null })],
  ["getEpochInfo", [], { epoch: 0, slotsInEpoch: 432, transactionCount: 0 }],
  ["getEpochSchedule", [], { slotsPerEpoch: 432, warmup: false, firstNormalSlot: 0 }],
  ["getFeeForMessage", ["message"], { value: null }],
  ["getFirstAvailableBlock", [], 0],
  ["getGenesisHash", [], expect.any(String)],
  ["getHealth", [], "ok"],
  ["getIdentity", [], { identity: expect.any(String) }],
  ["getInflationGovernor", [], { initial: 0.08, foundationTerm: 7 }],
  ["getInflationRate", [], { epoch: 0 }],
  ["getLargestAccounts", [], { value: expect.any(Array) }],
  ["getLatestBlockhash", [], { value: { blockhash: expect.any(String) } }],
  ["getLeaderSchedule", [], expect.any(Object)],
  ["getMaxRetransmitSlot", [], expect.any(Number)],
  ["getMaxShredInsertSlot", [], expect.any(Number)],
  ["getMinimumBalanceForRentExemption", [165], 2_039_280],
  ["getMultipleAccounts", [["vote", "missing"]], { value: [{ executable: false }, null] }],
  [
    "getProgramAccounts",
    ["program", { encoding: "base64", dataSlice: { offset: 0, length: 4 } }],
    new Array(5).fill({ account: { data: ["AwAAAA==", "base64"] } }),
  ],
  ["getRecentPerformanceSamples", [1], []],
  ["getRecentPrioritizationFees", [], expect.any(Array)],
  ["getSignaturesForAddress", ["vote"], []],
  ["getSignatureStatuses", [["signature"]], { value: [null] }],
  ["getSlot", [], expect.any(Number)],
  ["getSlotLeader", [], expect.any(String)],
  ["getSlotLeaders", [0, 2], [expect.any(String), expect.any(String)]],
  ["getStakeMinimumDelegation", [], { value: 1_000_000_000 }],
  ["getSupply", [], { value: { nonCirculating: 0, nonCirculatingAccounts: [] } }],
  ["getTokenAccountsByDelegate", ["vote", { programId: "token" }], { value: [] }],
  ["getTokenAccountsByOwner", ["vote", { mint: "native" }], { value: [] }],
  [
    "getTokenLargestAccounts",
    ["native"],
    { value: [{ amount: "100000000000000", decimals: 9 }, { amount: "2500000000" }] },
  ],
  ["getTokenSupply", ["native"], { value: { amount: "0", decimals: 9, uiAmount: 0, uiAmountString: "0" } }],
  ["getTransaction", ["signature"], null],
  ["getTransactionCount", [], 0],
  ["getVersion", [], { "solana-core": expect.any(String), "feature-set": expect.any(Number) }],
  [
    "getVoteAccounts",
    [],
    {
      current: [5, 7, 0, 10, 8].map((commission) => ({ commission, epochVoteAccount: true })),
      delinquent: [],
    },
  ],
  ["isBlockhashValid", ["blockhash"], { value: true }],
  ["minimumLedgerSlot", [], 0],
  ["requestAirdrop", ["missing", 1_000_000], expect.any(String)],
  ["simulateBundle", [{ encodedTransactions: [] }], { value: { summary: "succeeded", transactionResults: [] } }],
];

/** Methods that need more than a fresh chain: what they refuse there. */
const refusals: readonly (readonly [string, readonly unknown[], { code: number; message: string }])[] = [
  ["getHighestSnapshotSlot", [], { code: -32008, message: "No snapshot" }],
  ["getInflationReward", [["vote"]], { code: -32004, message: "Block not available for slot 432" }],
  ["getTokenAccountBalance", ["missing"], { code: -32602, message: "Invalid param: could not find account" }],
  ["sendBundle", [[]], { code: -32602, message: "bundle must contain at least one transaction" }],
  [
    "sendTransaction",
    ["1"],
    { code: -32602, message: expect.stringContaining("failed to deserialize") as unknown as string },
  ],
  [
    "simulateTransaction",
    ["AA==", { encoding: "utf8" }],
    { code: -32602, message: "unsupported encoding: utf8. Supported encodings: base58, base64" },
  ],
];

let node: ChainNode;

beforeAll(async () => {
  node = await bootNode({ slotMs: 0 });
  for (let closed = 0; closed < 45; closed += 1) await node.closeSlot();
});

afterAll(() => node[Symbol.asyncDispose]());

/** Puts real addresses in the place of the names that the tables above use. */
function named(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(named);
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([member, inner]) => [member, named(inner)]));
  }
  const [validator] = node.chain.genesis.validators;
  const names: Record<string, string> = {
    vote: validator.vote,
    stake: validator.stake,
    missing: "9pan9bMn5HatX4EJdBwg9VgCa7Uz5HL8N1m5D3NdXej8",
    program: "Vote111111111111111111111111111111111111111",
    token: "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
    native: "So11111111111111111111111111111111111111112",
    signature: "1".repeat(64),
    blockhash: node.chain.at("finalized").blockhash,
    message: Buffer.from([1, 0, 0, 1, ...new Uint8Array(32).fill(7), ...new Uint8Array(32).fill(9), 0]).toString(
      "base64",
    ),
  };
  return typeof value === "string" ? (names[value] ?? value) : value;
}

test("the table has every method of a node and no other", () => {
  const listed = [...calls, ...refusals].map(([method]) => method);
  expect([...rpcMethods().keys()].sort()).toEqual([...listed].sort());
});

test.each(calls)("%s answers", async (method, params, shape) => {
  const { result, error } = await call(node.rpcUrl, method, named(params) as unknown[]);
  expect(error).toBeUndefined();
  expect({ result }).toMatchObject({ result: shape });
});

test.each(refusals)("%s refuses what a fresh chain cannot answer", async (method, params, refusal) => {
  const { error } = await call(node.rpcUrl, method, named(params) as unknown[]);
  expect(error).toEqual(refusal);
});

test("rentEpoch leaves the node as 18446744073709551615, digit for digit", async () => {
  const params = [node.chain.genesis.validators[0].vote, { encoding: "base64" }];
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "getAccountInfo", params });
  expect(await (await post(node.rpcUrl, body)).text()).toContain('"rentEpoch":18446744073709551615,');
});

test("base58 of more than 128 bytes is refused, and a slice of it is not", async () => {
  const { vote } = node.chain.genesis.validators[0];
  expect((await call(node.rpcUrl, "getAccountInfo", [vote])).error).toEqual({
    code: -32600,
    message: "Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding.",
  });
  const sliced = await call(node.rpcUrl, "getAccountInfo", [vote, { dataSlice: { offset: 0, length: 4 } }]);
  expect(sliced.result).toMatchObject({ value: { data: encodeBase58(Uint8Array.of(3, 0, 0, 0)), space: 3_762 } });
});
