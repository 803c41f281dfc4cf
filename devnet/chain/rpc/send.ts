import {
  alphabetical,
  encodeSimulation,
  encodeTransactionError,
  type JsonObject,
  type JsonValue,
} from "@sluice/encode";
import { addressBytes } from "@sluice/wire/base58";
import type { Transaction } from "@sluice/wire/transaction";
import { blockhashLifeBlocks, type Simulation, signaturesValid } from "../bank/index.ts";
import type { TransactionErrorJson } from "../model/index.ts";
import { accountEncodings, presentAccount } from "./accounts.ts";
import { invalidParams, preflightFailure } from "./errors.ts";
import { bankOf, type MethodTable, type RpcNode, reached, withContext } from "./method.ts";
import {
  addressValue,
  booleanMember,
  commitmentMember,
  commitments,
  configAt,
  listValue,
  objectValue,
  parsedTransaction,
  stringValue,
  transactionInput,
  u64Member,
  variantMember,
} from "./params.ts";

const signatureFailure = "SignatureFailure";

const notRun = {
  logs: [],
  unitsConsumed: 0n,
  loadedAccountsDataSize: 0,
  returnData: null,
} as const;

const nothingElse = {
  accounts: null,
  innerInstructions: null,
  accountKeys: [],
  replacementBlockhash: null,
  fee: null,
  preBalances: null,
  postBalances: null,
  preTokenBalances: null,
  postTokenBalances: null,
  loadedAddresses: null,
} as const;

/** Lookups that cannot be resolved are a fault of the call, not an outcome of the simulation. */
export function refuseUnresolved(error: TransactionErrorJson | null): void {
  if (typeof error !== "string" || !/^(AddressLookup|InvalidAddressLookup)/.test(error)) return;
  throw invalidParams(`invalid transaction: ${encodeTransactionError(error)}`);
}

/** Outcomes of the check of the fee payer, which comes before any other account is loaded. */
const payerFailures: ReadonlySet<string> = new Set([
  "AccountNotFound",
  "InsufficientFundsForFee",
  "InvalidAccountForFee",
]);

/** Whether the fee payer was refused, so that nothing was loaded. Rent is also checked after a run, which logs. */
function payerRefused({ error, outcome }: Simulation): boolean {
  if (typeof error === "string") return payerFailures.has(error);
  return error !== null && "InsufficientFundsForRent" in error && outcome?.logs.length === 0;
}

function ranPart(simulation: Simulation) {
  const { outcome } = simulation;
  if (outcome === null || payerRefused(simulation)) return notRun;
  return {
    logs: outcome.logs,
    unitsConsumed: outcome.computeUnitsConsumed,
    loadedAccountsDataSize: Number(simulation.loadedBytes),
    returnData: outcome.returnData,
  };
}

async function preflight(transaction: Transaction, config: JsonObject | null, node: RpcNode): Promise<void> {
  const commitment = variantMember(config, "preflightCommitment", commitments, "finalized");
  reached(node.chain.at(commitment), config);
  const simulation = await node.chain.simulate({ transaction, commitment, checkAge: true, verify: true });
  const { error } = simulation;
  // The machine checks signatures before anything else; what did not get to the machine is checked here, for the
  // order's sake.
  const unchecked = error !== null && simulation.outcome === null;
  if (error === signatureFailure || (unchecked && !signaturesValid(transaction))) {
    const data = encodeSimulation({ error: signatureFailure, ...notRun, ...nothingElse });
    throw preflightFailure(encodeTransactionError(signatureFailure), alphabetical(data));
  }
  refuseUnresolved(error);
  if (error === null) return;
  const data = encodeSimulation({ error, ...ranPart(simulation), ...nothingElse });
  throw preflightFailure(encodeTransactionError(error), alphabetical(data));
}

interface RequestedAccounts {
  readonly encoding: "base64" | "base64+zstd" | "jsonParsed";
  readonly addresses: readonly string[];
}

function requestedAccounts(config: JsonObject | null, transaction: Transaction): RequestedAccounts | null {
  const requested = config?.["accounts"];
  if (requested === undefined || requested === null) return null;
  const accounts = objectValue(requested, "struct RpcSimulateTransactionAccountsConfig");
  const encoding = variantMember(accounts, "encoding", accountEncodings, "base64");
  if (encoding === "binary" || encoding === "base58") throw invalidParams("base58 encoding not supported");
  const list = listValue(accounts["addresses"]);
  const most = transaction.message.totalKeyCount;
  if (list.length > most) throw invalidParams(`Too many accounts provided; max ${most}`);
  return { encoding, addresses: list.map((entry) => addressValue(entry)) };
}

/** The same transaction with another blockhash. */
export function withBlockhash(transaction: Transaction, blockhash: string): Transaction {
  const bytes = new Uint8Array(transaction.bytes);
  bytes.set(addressBytes(blockhash), transaction.message.blockhashBytes.byteOffset - transaction.bytes.byteOffset);
  return parsedTransaction(bytes);
}

function presentSimulation(
  simulation: Simulation,
  options: { accountsConfig: RequestedAccounts | null; inner: boolean; replaced: boolean },
  node: RpcNode,
): JsonObject {
  const { bank, resolved, outcome, error } = simulation;
  const { accountsConfig } = options;
  const accounts =
    accountsConfig?.addresses.map((address) => {
      const account = error === null ? simulation.after(address) : null;
      const form = { encoding: accountsConfig.encoding, dataSlice: undefined };
      return account === null ? null : presentAccount(node, bank, address, account, form);
    }) ?? null;
  const lastValidBlockHeight = bank.blockHeight + blockhashLifeBlocks;
  const ran = resolved !== null && outcome !== null;
  return encodeSimulation({
    error,
    ...ranPart(simulation),
    accounts,
    innerInstructions: options.inner ? (outcome?.innerInstructions ?? []) : null,
    accountKeys: resolved?.keys ?? [],
    replacementBlockhash: options.replaced ? { blockhash: bank.blockhash, lastValidBlockHeight } : null,
    fee: ran ? resolved.fees.base + resolved.fees.priority : null,
    preBalances: ran ? simulation.preBalances : null,
    postBalances: ran ? simulation.postBalances : null,
    preTokenBalances: ran ? simulation.preTokenBalances : null,
    postTokenBalances: ran ? simulation.postTokenBalances : null,
    loadedAddresses: resolved?.loaded ?? null,
  });
}

async function simulate(params: readonly JsonValue[], node: RpcNode): Promise<JsonValue> {
  const config = configAt(params, 1, "struct RpcSimulateTransactionConfig");
  const requested = transactionInput(stringValue(params[0]), config);
  const sigVerify = booleanMember(config, "sigVerify", false);
  const replaced = booleanMember(config, "replaceRecentBlockhash", false);
  const inner = booleanMember(config, "innerInstructions", false);
  if (sigVerify && replaced) throw invalidParams("sigVerify may not be used with replaceRecentBlockhash");
  const accountsConfig = requestedAccounts(config, requested);
  const bank = bankOf(node, config);
  const transaction = replaced ? withBlockhash(requested, bank.blockhash) : requested;
  if (sigVerify && !signaturesValid(transaction)) {
    const accounts = accountsConfig === null ? null : accountsConfig.addresses.map(() => null);
    const refused = { error: signatureFailure, ...notRun, ...nothingElse, accounts };
    return withContext(bank, encodeSimulation({ ...refused, innerInstructions: inner ? [] : null }));
  }
  const commitment = commitmentMember(config);
  const simulation = await node.chain.simulate({ transaction, commitment, checkAge: !replaced });
  refuseUnresolved(simulation.error);
  return withContext(simulation.bank, presentSimulation(simulation, { accountsConfig, inner, replaced }, node));
}

/** Sending and simulating transactions. */
export const sendMethods: MethodTable = {
  sendTransaction: {
    required: 1,
    optional: 1,
    async run(params, node) {
      const config = configAt(params, 1, "struct RpcSendTransactionConfig");
      const transaction = transactionInput(stringValue(params[0]), config);
      u64Member(config, "maxRetries");
      const skipPreflight = booleanMember(config, "skipPreflight", false);
      if (skipPreflight) reached(node.chain.at("processed"), config);
      else await preflight(transaction, config, node);
      const { id } = transaction;
      node.chain.submit(transaction, !skipPreflight, id);
      return id;
    },
  },
  simulateTransaction: { required: 1, optional: 1, run: simulate },
};
