/**
 * Solana's JSON-RPC methods as data: what each takes, where its configuration object sits, which defaults the platform
 * states for it, and how long its answers may be kept. The gateway validates, completes and caches by this table; the
 * method reference is made from it. The methods of PubSub stand beside them. Source: Agave's RPC and the specification
 * "node platform", Endpoints.
 */

import { assetListMethods, assetMethods } from "./asset-methods.ts";
import {
  commitments,
  describeMethod as method,
  type ParameterKind,
  type ParameterSpec,
  type RpcMethodSpec,
} from "./method-spec.ts";

export {
  type AnswerPosition,
  type CacheClass,
  type CommitmentName,
  type ConfigSpec,
  commitments,
  type ParameterKind,
  type ParameterSpec,
  type RpcMethodSpec,
} from "./method-spec.ts";

const u64Max = 18446744073709551615n;
const integer = (min: bigint, max: bigint): ParameterKind => ({ kind: "integer", min, max });
const choice = (...values: string[]): ParameterKind => ({ kind: "choice", values });

const u64 = integer(0n, u64Max);
const address: ParameterKind = { kind: "address" };
const signature: ParameterKind = { kind: "signature" };
const boolean: ParameterKind = { kind: "boolean" };
const text: ParameterKind = { kind: "text" };
/** Read by the encoding that the configuration names. */
const transaction: ParameterKind = { kind: "transaction" };
const object: ParameterKind = { kind: "object" };
const anyCommitment = choice(...commitments);
const settledCommitment = choice("confirmed", "finalized");
const accountEncoding = choice("base58", "base64", "base64+zstd", "jsonParsed", "binary");
const transactionEncoding = choice("json", "jsonParsed", "base58", "base64", "binary");
const sendEncoding = choice("base58", "base64");
const transactionVersion = integer(0n, 255n);
const transactionDetails = choice("full", "accounts", "signatures", "none");

const required = (name: string, value: ParameterKind): ParameterSpec => ({ name, required: true, value });
const optional = (name: string, value: ParameterKind): ParameterSpec => ({ name, required: false, value });

const commitmentField = { commitment: anyCommitment };
const head = { commitment: anyCommitment, minContextSlot: u64 };
const settledHead = { commitment: settledCommitment, minContextSlot: u64 };
const accountFields = { ...head, encoding: accountEncoding, dataSlice: { kind: "dataSlice" } as const };

const byAddress = [required("address", address)];
const filters: ParameterKind = { kind: "list", max: 4 };
const tokenFilter: ParameterKind = { kind: "tokenFilter" };

const accountMethods = [
  method("getAccountInfo", byAddress, {
    cache: "slot",
    config: accountFields,
    defaults: { commitment: "confirmed", encoding: "base64" },
  }),
  method("getBalance", byAddress, { cache: "slot", config: head, defaults: { commitment: "confirmed" } }),
  method("getMultipleAccounts", [required("addresses", { kind: "addresses", max: 100 })], {
    cache: "slot",
    config: accountFields,
  }),
  method("getProgramAccounts", [required("program", address)], {
    cache: "slot",
    config: { ...accountFields, filters, withContext: boolean, sortResults: boolean },
  }),
  method("getLargestAccounts", [], {
    cache: "slot",
    config: { ...commitmentField, filter: choice("circulating", "nonCirculating"), sortResults: boolean },
  }),
  method("getSupply", [], {
    cache: "slot",
    config: { ...commitmentField, excludeNonCirculatingAccountsList: boolean },
  }),
  method("getTokenAccountBalance", [required("token account", address)], { cache: "slot", config: commitmentField }),
  method("getTokenSupply", [required("mint", address)], { cache: "slot", config: commitmentField }),
  method("getTokenLargestAccounts", [required("mint", address)], { cache: "slot", config: commitmentField }),
  method("getTokenAccountsByOwner", [required("owner", address), required("filter", tokenFilter)], {
    cache: "slot",
    config: accountFields,
  }),
  method("getTokenAccountsByDelegate", [required("delegate", address), required("filter", tokenFilter)], {
    cache: "slot",
    config: accountFields,
  }),
  method("getMinimumBalanceForRentExemption", [required("data length", u64)], {
    cache: "slot",
    config: commitmentField,
  }),
  method("getStakeMinimumDelegation", [], { cache: "slot", config: head }),
];

const blocksConfig = { cache: "slot", config: settledHead, route: "archive" } as const;
const historyMethods = [
  method("getBlock", [required("slot", u64)], {
    cache: "final",
    config: {
      commitment: settledCommitment,
      encoding: transactionEncoding,
      transactionDetails,
      rewards: boolean,
      maxSupportedTransactionVersion: transactionVersion,
    },
    bareEncoding: true,
    route: "archive",
  }),
  method("getBlocks", [required("start slot", u64), { ...optional("end slot", u64), rangeMax: 500_000n }], {
    ...blocksConfig,
    earliestIndex: 1,
  }),
  method("getBlocksWithLimit", [required("start slot", u64), required("limit", integer(0n, 500_000n))], blocksConfig),
  method("getBlockTime", [required("slot", u64)], { cache: "final", route: "archive" }),
  method("getBlockCommitment", [required("slot", u64)], { cache: "slot" }),
  method("getFirstAvailableBlock", [], { cache: "never", route: "archive" }),
  method("getTransaction", [required("signature", signature)], {
    cache: "final",
    config: {
      commitment: settledCommitment,
      encoding: transactionEncoding,
      maxSupportedTransactionVersion: transactionVersion,
    },
    bareEncoding: true,
    route: "archive",
  }),
  method("getSignaturesForAddress", byAddress, {
    cache: "slot",
    config: { ...settledHead, limit: integer(1n, 1_000n), before: signature, until: signature },
    route: "archive",
  }),
  method("getTransactionsForAddress", byAddress, {
    // What a key sees of it is its tier's.
    cache: "never",
    config: {
      ...settledHead,
      limit: integer(1n, 1_000n),
      transactionDetails: choice("signatures", "full"),
      encoding: transactionEncoding,
      maxSupportedTransactionVersion: transactionVersion,
      sortOrder: choice("asc", "desc"),
      filters: object,
      paginationToken: text,
    },
    route: "archive",
  }),
  method("getSignatureStatuses", [required("signatures", { kind: "signatures", max: 256 })], {
    cache: "never",
    config: { searchTransactionHistory: boolean },
  }),
  method("minimumLedgerSlot", [], { cache: "never", route: "archive" }),
];

const chainMethods = [
  method("getSlot", [], { cache: "slot", config: head, position: "slot" }),
  method("getBlockHeight", [], { cache: "slot", config: head, position: "height" }),
  method("getTransactionCount", [], { cache: "slot", config: head }),
  method("getEpochInfo", [], { cache: "slot", config: head, position: "epoch" }),
  method("getEpochSchedule", [], { cache: "final" }),
  method("getGenesisHash", [], { cache: "final" }),
  method("getAgGenesisCert", [], { cache: "slot" }),
  method("getInflationGovernor", [], { cache: "slot", config: commitmentField }),
  method("getInflationRate", [], { cache: "slot" }),
  method("getInflationReward", [required("addresses", { kind: "addresses", max: 32 })], {
    cache: "slot",
    config: { ...head, epoch: u64 },
    route: "archive",
  }),
  method("getRecentPerformanceSamples", [optional("limit", integer(0n, 720n))], { cache: "slot" }),
  method("getLatestBlockhash", [], { cache: "never", config: head }),
  method("isBlockhashValid", [required("blockhash", { kind: "blockhash" })], { cache: "slot", config: head }),
  method("getFeeForMessage", [required("message", text)], { cache: "never", config: head }),
  method("getRecentPrioritizationFees", [optional("addresses", { kind: "addresses", max: 128 })], { cache: "never" }),
  method("getSlotLeader", [], { cache: "never", config: head }),
  method("getSlotLeaders", [required("start slot", u64), required("limit", integer(0n, 5_000n))], { cache: "never" }),
  method("getLeaderSchedule", [optional("slot", u64)], {
    cache: "never",
    config: { ...commitmentField, identity: address },
    earliestIndex: 0,
  }),
  method("getBlockProduction", [], {
    cache: "never",
    config: { ...commitmentField, identity: address, range: object },
  }),
  method("getVoteAccounts", [], {
    cache: "never",
    config: {
      ...commitmentField,
      votePubkey: address,
      keepUnstakedDelinquents: boolean,
      delinquentSlotDistance: u64,
    },
  }),
  method("getClusterNodes", [], { cache: "never" }),
  method("getHighestSnapshotSlot", [], { cache: "never" }),
  method("getIdentity", [], { cache: "never" }),
  method("getMaxRetransmitSlot", [], { cache: "never", position: "counter" }),
  method("getMaxShredInsertSlot", [], { cache: "never", position: "counter" }),
  method("getVersion", [], { cache: "never" }),
  method("getHealth", [], { cache: "never", route: "gateway" }),
];

const writeMethods = [
  method("sendTransaction", [required("transaction", transaction)], {
    cache: "never",
    config: {
      encoding: sendEncoding,
      skipPreflight: boolean,
      preflightCommitment: anyCommitment,
      maxRetries: u64,
      minContextSlot: u64,
    },
    route: "send",
  }),
  method("requestAirdrop", [required("address", address), required("lamports", u64)], {
    cache: "never",
    config: { ...commitmentField, recentBlockhash: { kind: "blockhash" } },
    route: "send",
  }),
  method("simulateTransaction", [required("transaction", transaction)], {
    cache: "never",
    config: {
      ...head,
      encoding: sendEncoding,
      sigVerify: boolean,
      replaceRecentBlockhash: boolean,
      accounts: object,
      innerInstructions: boolean,
    },
  }),
  method("simulateBundle", [required("bundle", object)], { cache: "never", config: {} }),
];

/** Every method that is known, by its name. */
export const rpcMethods: ReadonlyMap<string, RpcMethodSpec> = new Map(
  [...accountMethods, ...historyMethods, ...chainMethods, ...writeMethods, ...assetMethods, ...assetListMethods].map(
    (spec) => [spec.name, spec],
  ),
);

const subscriptionMethods = [
  method("accountSubscribe", [required("pubkey", address)], { cache: "never", config: accountFields }),
  method("programSubscribe", [required("pubkey", address)], {
    cache: "never",
    config: { ...accountFields, filters, withContext: boolean, sortResults: boolean },
  }),
  method("logsSubscribe", [required("filter", { kind: "logsFilter" })], { cache: "never", config: commitmentField }),
  method("signatureSubscribe", [required("signature", signature)], {
    cache: "never",
    config: { ...commitmentField, enableReceivedNotification: boolean },
  }),
  method("blockSubscribe", [required("filter", { kind: "blockFilter" })], {
    cache: "never",
    config: {
      commitment: settledCommitment,
      encoding: transactionEncoding,
      transactionDetails,
      showRewards: boolean,
      maxSupportedTransactionVersion: transactionVersion,
    },
  }),
  ...["slotSubscribe", "slotsUpdatesSubscribe", "rootSubscribe", "voteSubscribe"].map((name) =>
    method(name, [], { cache: "never" }),
  ),
];

const unsubscriptionMethods = subscriptionMethods.map(({ name }) =>
  method(name.replace("Subscribe", "Unsubscribe"), [required("subscription", u64)], { cache: "never" }),
);

/** Every method of Solana PubSub, by its name; a node answers getVersion over the socket too. */
export const pubsubMethods: ReadonlyMap<string, RpcMethodSpec> = new Map(
  [...subscriptionMethods, ...unsubscriptionMethods, method("getVersion", [], { cache: "never" })].map((spec) => [
    spec.name,
    spec,
  ]),
);
