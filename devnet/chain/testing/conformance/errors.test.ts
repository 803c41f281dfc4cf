import { afterAll, beforeAll, expect, test } from "bun:test";
import type { JsonObject } from "@sluice/encode";
import { Keypair } from "@solana/web3.js";
import { post } from "../boot.ts";
import { simulation } from "./results.ts";
import { makeWorld, unknownSignature, type World } from "./world.ts";

/**
 * Each error that a node documents, brought about as it comes about. Source: Solana JSON-RPC, error codes and limits.
 */

let world: World;
beforeAll(async () => {
  world = await makeWorld();
}, 60_000);
afterAll(() => world[Symbol.asyncDispose]());

const errorOf = async (...args: Parameters<World["call"]>): Promise<JsonObject | undefined> =>
  (await world.call(...args)).error;

async function raw(body: string): Promise<unknown> {
  const answer = await (await post(world.node.rpcUrl, body)).text();
  return answer === "" ? null : JSON.parse(answer);
}

test("-32700: what is no JSON", async () => {
  const parseError = { jsonrpc: "2.0", error: { code: -32700, message: "Parse error" }, id: null };
  for (const body of ["", "{", '{"jsonrpc":"2.0"', "nonsense", '{"a":1}}', "[1,]"]) {
    expect(await raw(body)).toEqual(parseError);
  }
});

test("-32600: what is no request", async () => {
  const invalid = (id: unknown) => ({ jsonrpc: "2.0", error: { code: -32600, message: "Invalid request" }, id });
  expect(await raw("5")).toEqual(invalid(null));
  expect(await raw("[5]")).toEqual([invalid(null)]);
  expect(await raw('{"jsonrpc":"2.0","id":3}')).toEqual(invalid(3));
  expect(await raw('{"jsonrpc":"2.0","id":3,"method":"getSlot","more":1}')).toEqual(invalid(3));
  for (const id of ["-1", "1.5", "true", "[]", "{}"]) {
    expect(await raw(`{"jsonrpc":"2.0","id":${id},"method":"getSlot"}`)).toEqual(invalid(null));
  }
  expect(await raw('{"jsonrpc":"1.0","id":"a","method":"getSlot"}')).toEqual({
    jsonrpc: "2.0",
    error: { code: -32600, message: "Unsupported JSON-RPC protocol version" },
    id: "a",
  });
});

test("-32600: rent for more data than an account may have", async () => {
  expect(await errorOf("getMinimumBalanceForRentExemption", [10_485_761n])).toEqual({
    code: -32600,
    message: "Invalid request",
  });
  expect((await world.call("getMinimumBalanceForRentExemption", [10_485_760n])).error).toBeUndefined();
});

test("-32602: every limit of a list, a range or a number", async () => {
  const { vote, signature } = world.names;
  const cases = [
    ["getSignaturesForAddress", [vote, { limit: 0n }], "Invalid limit; max 1000"],
    ["getSignaturesForAddress", [vote, { limit: 1_001n }], "Invalid limit; max 1000"],
    ["getBlocksWithLimit", [0n, 500_001n], "Limit too large; max 500000"],
    ["getSlotLeaders", [0n, 5_001n], "Invalid limit; max 5000"],
    ["getRecentPerformanceSamples", [721n], "Invalid limit; max 720"],
    ["getSignatureStatuses", [new Array(257).fill(signature)], "Too many inputs provided; max 256"],
    ["getSignatureStatuses", [[signature], {}], "Invalid params: missing field `searchTransactionHistory`."],
    [
      "getProgramAccounts",
      [vote, { filters: new Array(5).fill({ dataSize: 1n }) }],
      "Too many filters provided; max 4",
    ],
    [
      "getProgramAccounts",
      [vote, { filters: [{ memcmp: { offset: 0n, bytes: new Array(129).fill(1n) } }] }],
      "Invalid param: DataTooLarge",
    ],
    ["getSlotLeaders", [1_000_000n, 1n], "Invalid slot range: leader schedule for epoch 25000 is unavailable"],
  ] as const;
  for (const [method, params, message] of cases) {
    expect(await errorOf(method, params as never)).toEqual({ code: -32602, message });
  }
});

test("-32602: the token index wants a whole mint or owner", async () => {
  const filter = (offset: bigint) => [{ dataSize: 165n }, { memcmp: { offset, bytes: "11111111" } }];
  const token = world.names["token program"];
  expect(await errorOf("getProgramAccounts", [token, { filters: filter(0n), encoding: "base64" }])).toEqual({
    code: -32602,
    message: "Incorrect byte length 8 for SPL token mint filter, expected 32",
  });
  expect(await errorOf("getProgramAccounts", [token, { filters: filter(32n), encoding: "base64" }])).toEqual({
    code: -32602,
    message: "Incorrect byte length 8 for SPL token owner filter, expected 32",
  });
});

test("-32602: tokens and mints that are none", async () => {
  const { missing, vote, mint } = world.names;
  const notFound = { code: -32602, message: "Invalid param: could not find account" };
  expect(await errorOf("getTokenAccountBalance", [missing])).toEqual(notFound);
  expect(await errorOf("getTokenSupply", [missing])).toEqual(notFound);
  for (const [method, params] of [
    ["getTokenAccountBalance", [mint]],
    ["getTokenSupply", [vote]],
    ["getTokenLargestAccounts", [vote]],
    ["getTokenAccountsByOwner", [vote, { mint: missing }]],
    ["getTokenAccountsByOwner", [vote, { programId: vote }]],
  ] as const) {
    expect(await errorOf(method, params)).toMatchObject({
      code: -32602,
      message: expect.stringMatching(/^Invalid param/),
    });
  }
});

test("-32602: transactions that cannot be read, or that nothing could make valid", async () => {
  const transfer = world.transfer();
  const base64 = { encoding: "base64" };
  for (const method of ["sendTransaction", "simulateTransaction"] as const) {
    expect(await errorOf(method, [transfer, { encoding: "utf8" }])).toEqual({
      code: -32602,
      message: "unsupported encoding: utf8. Supported encodings: base58, base64",
    });
    for (const cut of [transfer.slice(0, 40), `${transfer.slice(0, -4)}AAAA`.slice(4), ""]) {
      expect(await errorOf(method, [cut, base64])).toMatchObject({ code: -32602 });
    }
    expect(await errorOf(method, ["A".repeat(5_468), base64])).toMatchObject({
      code: -32602,
      message: expect.stringMatching(/^base64 encoded .* too large: 5468 bytes/),
    });
    expect(await errorOf(method, ["2".repeat(1_684)])).toMatchObject({
      code: -32602,
      message: expect.stringMatching(/^base58 encoded .* too large: 1684 bytes \(max: encoded\/raw 1683\/1232\)$/),
    });
  }
  expect(
    await errorOf("simulateTransaction", [transfer, { ...base64, sigVerify: true, replaceRecentBlockhash: true }]),
  ).toEqual({ code: -32602, message: "sigVerify may not be used with replaceRecentBlockhash" });
  const accounts = { encoding: "base58", addresses: [world.names.vote] };
  expect(await errorOf("simulateTransaction", [transfer, { ...base64, accounts }])).toEqual({
    code: -32602,
    message: "base58 encoding not supported",
  });
  const many = { encoding: "base64", addresses: new Array(4).fill(world.names.vote) };
  expect(await errorOf("simulateTransaction", [transfer, { ...base64, accounts: many }])).toMatchObject({
    code: -32602,
    message: expect.stringMatching(/^Too many accounts provided; max \d+$/),
  });
});

test("-32002: a preflight that fails reports the simulation, and so does a false signature", async () => {
  const spent = world.transfer();
  await world.call("sendTransaction", [spent, { encoding: "base64" }]);
  await world.faulty.closeSlots(33);
  const processed = await errorOf("sendTransaction", [spent, { encoding: "base64" }]);
  expect(processed).toMatchObject({
    code: -32002,
    message: "Transaction simulation failed: This transaction has already been processed",
    data: { err: "AlreadyProcessed" },
  });
  expect(simulation(processed?.["data"], "data")).toBeNull();
  const forged = Buffer.from(world.transfer(), "base64");
  forged[5] = (forged[5] ?? 0) ^ 1;
  const refused = await errorOf("sendTransaction", [forged.toString("base64"), { encoding: "base64" }]);
  expect(refused).toMatchObject({ code: -32002, data: { err: "SignatureFailure", logs: [] } });
  expect(simulation(refused?.["data"], "data")).toBeNull();
});

test("-32016 on sending, when the node has not reached the slot that the sender has seen", async () => {
  const config = { encoding: "base64", minContextSlot: 9_999_999n };
  expect(await errorOf("sendTransaction", [world.transfer(), config])).toMatchObject({ code: -32016 });
  expect(await errorOf("sendTransaction", [world.transfer(), { ...config, skipPreflight: true }])).toMatchObject({
    code: -32016,
  });
});

test("-32007: a slot that was skipped", async () => {
  const { history } = world.node.chain;
  const slots = history.slots(0n, world.node.chain.at("finalized").slot, 1_000);
  const skipped = slots.find((slot) => history.block(slot + 1n) === null);
  expect(skipped).toBeDefined();
  expect(await errorOf("getBlock", [(skipped ?? 0n) + 1n])).toEqual({
    code: -32007,
    message: `Slot ${(skipped ?? 0n) + 1n} was skipped, or missing due to ledger jump to recent snapshot`,
  });
});

test("-32004: a block of the future", async () => {
  expect(await errorOf("getBlock", [50_000_000n])).toEqual({
    code: -32004,
    message: "Block not available for slot 50000000",
  });
  expect(await errorOf("getInflationReward", [[world.names.vote], { epoch: 40n }])).toMatchObject({ code: -32004 });
});

test("-32015: a versioned transaction for a client that does not know it", async () => {
  const message =
    "Transaction version (0) is not supported by the requesting client. Please try the request again with the " +
    'following configuration parameter: "maxSupportedTransactionVersion": 0';
  expect(await errorOf("getTransaction", [world.versioned])).toEqual({ code: -32015, message });
  const { result } = await world.call("getTransaction", [world.versioned, { maxSupportedTransactionVersion: 0n }]);
  const { slot } = result as { slot: bigint };
  for (const transactionDetails of ["full", "accounts"]) {
    expect(await errorOf("getBlock", [slot, { transactionDetails }])).toEqual({ code: -32015, message });
  }
  for (const transactionDetails of ["signatures", "none"]) {
    expect(await errorOf("getBlock", [slot, { transactionDetails }])).toBeUndefined();
  }
});

test("-32020: a page that begins or ends at an unknown transaction", async () => {
  for (const bound of ["before", "until"]) {
    expect(await errorOf("getSignaturesForAddress", [world.names.vote, { [bound]: unknownSignature }])).toEqual({
      code: -32020,
      message: `Transaction ${unknownSignature} not found`,
    });
  }
});

test("-32008: a node without snapshots", async () => {
  expect(await errorOf("getHighestSnapshotSlot")).toEqual({ code: -32008, message: "No snapshot" });
});

test("-32005: a node that lags says by how much", async () => {
  await world.faulty.admin("devnet_lag", 5);
  await world.faulty.closeSlots(8);
  const error = await errorOf("getHealth");
  expect(error).toEqual({
    code: -32005,
    message: "Node is behind by 5 slots",
    data: { numSlotsBehind: 5 },
  });
  await world.faulty.admin("devnet_clear");
  expect((await world.call("getHealth")).result).toBe("ok");
});

test("an airdrop of nothing or of more than there is ends in an error, never in silence", async () => {
  const to = Keypair.generate().publicKey.toBase58();
  expect(await errorOf("requestAirdrop", [to, 18_446_744_073_709_551_615n])).toMatchObject({
    code: expect.any(Number),
  });
});

// The last of all: it takes history away.
test("-32001: a block that was cleaned up names the first that is there", async () => {
  const slot = Number(world.node.chain.at("finalized").slot) - 3;
  await world.faulty.admin("devnet_prune", slot);
  const first = world.node.chain.history.firstSlot;
  expect(await errorOf("getBlock", [first - 1n])).toEqual({
    code: -32001,
    message: `Block ${first - 1n} cleaned up, does not exist on node. First available block: ${first}`,
  });
  expect((await world.call("getFirstAvailableBlock")).result).toBe(Number(first));
  expect((await world.call("getTransaction", [world.legacy])).result).toBeNull();
});
