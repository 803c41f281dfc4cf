import { encodeBundleTransaction, encodeTransactionError, type JsonObject, type JsonValue } from "@sluice/encode";
import { decodeSignature } from "@sluice/wire/base58";
import type { Transaction } from "@sluice/wire/transaction";
import {
  type BundleStep,
  blockhashLifeBlocks,
  bundleId,
  bundleTransactionsMax,
  type InsertionCode,
  type SimulationBank,
  signaturesValid,
} from "../bank/index.ts";
import type { ChainAccount } from "../model/index.ts";
import { presentAccount } from "./accounts.ts";
import { invalidParams } from "./errors.ts";
import { type MethodTable, nodeVersion, type RpcNode } from "./method.ts";
import {
  addressValue,
  booleanMember,
  commitments,
  configAt,
  listValue,
  objectValue,
  stringValue,
  transactionInput,
  u64Value,
  unknownVariant,
  variantMember,
  variantValue,
} from "./params.ts";
import { refuseUnresolved, withBlockhash } from "./send.ts";

/** Source: jito-solana, simulate_bundle. */
const simulatedMax = 20;

/** The parameters of a simulateBundle call, checked and complete. */
interface BundleSimulationConfig {
  readonly transactions: readonly Transaction[];
  readonly bank: SimulationBank;
  /** Whether the blockhashes were replaced by the bank's. */
  readonly replaced: boolean;
  /** Addresses whose accounts are shown before and after each transaction. */
  readonly preAccounts: readonly (readonly string[])[];
  readonly postAccounts: readonly (readonly string[])[];
}

function missing(field: string): Error {
  return invalidParams(`Invalid params: missing field \`${field}\`.`);
}

function onlyBase64(encoding: string | undefined): void {
  if (encoding === undefined || encoding === "base64") return;
  throw invalidParams(`unsupported encoding: ${encoding}. Supported encodings: base64`);
}

function textMember(config: JsonObject | null, name: string): string | undefined {
  const value = config?.[name];
  return value === undefined || value === null ? undefined : stringValue(value);
}

function commitmentBank(value: JsonValue | undefined, node: RpcNode): SimulationBank {
  const config = objectValue(value, "struct CommitmentConfig");
  if (config["commitment"] === undefined) throw missing("commitment");
  return node.chain.at(variantValue(config["commitment"], commitments));
}

/** `"tip"`, a slot of this fork, or a commitment, which is confirmed unless another is named. */
function bankOf(config: JsonObject | null, node: RpcNode): SimulationBank {
  const requested = config?.["simulationBank"];
  if (requested === undefined || requested === null) return node.chain.at("confirmed");
  if (requested === "tip") return node.chain.tip;
  const variants = ["commitment", "slot", "tip"];
  if (typeof requested === "string") throw unknownVariant(requested, variants);
  const object = objectValue(requested, "enum SimulationSlotConfig");
  if (object["commitment"] !== undefined) return commitmentBank(object["commitment"], node);
  const [name = ""] = Object.keys(object);
  if (name !== "slot") throw unknownVariant(name, variants);
  const slot = u64Value(object["slot"]);
  const bank = node.chain.bankAt(slot);
  if (bank === null) throw invalidParams(`bank not found for the provided slot: ${slot}`);
  return bank;
}

/** A list of configurations with one for each transaction; without a config there are none. */
function accountsMember(config: JsonObject | null, name: string, count: number): readonly JsonValue[] {
  if (config === null) return new Array<JsonValue>(count).fill(null);
  if (config[name] === undefined) throw missing(name);
  return listValue(config[name]);
}

function addressesOf(requested: JsonValue, { message }: Transaction): readonly string[] {
  if (requested === null) return [];
  const config = objectValue(requested, "struct RpcSimulateTransactionAccountsConfig");
  onlyBase64(textMember(config, "encoding"));
  if (config["addresses"] === undefined) throw missing("addresses");
  const list = listValue(config["addresses"]);
  if (list.length > message.totalKeyCount) {
    throw invalidParams(`Too many accounts provided; max ${message.totalKeyCount}`);
  }
  return list.map((entry) => addressValue(entry));
}

/** Reads the parameters of simulateBundle, in the order in which the node refuses them. */
function bundleSimulationConfig(params: readonly JsonValue[], node: RpcNode): BundleSimulationConfig {
  const bundle = objectValue(params[0], "struct RpcBundleRequest");
  if (bundle["encodedTransactions"] === undefined) throw missing("encodedTransactions");
  const texts = listValue(bundle["encodedTransactions"]).map((entry) => stringValue(entry));
  const config = configAt(params, 1, "struct RpcSimulateBundleConfig");
  if (texts.length > simulatedMax) throw invalidParams(`bundle size too large, max ${simulatedMax} transactions`);
  const pre = accountsMember(config, "preExecutionAccountsConfigs", texts.length);
  const post = accountsMember(config, "postExecutionAccountsConfigs", texts.length);
  if (pre.length !== texts.length || post.length !== texts.length) {
    const said = "pre/post_execution_accounts_configs must be equal in length to the number of transactions";
    throw invalidParams(said);
  }
  const bank = bankOf(config, node);
  onlyBase64(
    variantMember(config, "transactionEncoding", ["binary", "base58", "base64", "json", "jsonParsed"], undefined),
  );
  const requested = texts.map((text) => transactionInput(text, { encoding: "base64" }));
  const skipSigVerify = booleanMember(config, "skipSigVerify", false);
  const replaced = booleanMember(config, "replaceRecentBlockhash", false);
  if (replaced && !skipSigVerify) throw invalidParams("sigVerify may not be used with replaceRecentBlockhash");
  const transactions = replaced ? requested.map((each) => withBlockhash(each, bank.blockhash)) : requested;
  const forged = skipSigVerify ? undefined : transactions.find((each) => !signaturesValid(each));
  if (forged !== undefined) throw invalidParams(`transaction signature is invalid: ${forged.id}`);
  const addresses = (configs: readonly JsonValue[]) =>
    transactions.map((transaction, index) => addressesOf(configs[index] ?? null, transaction));
  return { transactions, bank, replaced, preAccounts: addresses(pre), postAccounts: addresses(post) };
}

/** The errors of the insertion checks, in the block engine's words where it has them. */
const refusals: Readonly<Record<InsertionCode, string>> = {
  EmptyBatch: "bundle must contain at least one transaction",
  BundleTooLarge: `exceeded maximum number of transactions allowed in a bundle: ${bundleTransactionsMax}`,
  PacketMarkedDiscard: "could not be decoded",
  SignatureFailure: "transaction signature is invalid",
  ContainerFull: "too many bundles wait",
  PacketFilterError: "is not allowed in a bundle",
  DuplicateTransaction: "duplicate transactions",
};

/** Submits a bundle for any leader; it lands in one of the next slots or never, like one from a block engine. */
function send(params: readonly JsonValue[], node: RpcNode): JsonValue {
  const list = listValue(params[0]).map((entry) => stringValue(entry));
  const config = configAt(params, 1, "struct RpcSendBundleConfig");
  // What is too long is not read.
  if (list.length > bundleTransactionsMax) throw invalidParams(refusals.BundleTooLarge);
  const transactions = list.map((text) => transactionInput(text, config));
  const packets = transactions.map(({ bytes }) => ({ data: bytes, isDiscarded: false }));
  const insertion = node.chain.bundles.submit(packets, null);
  if (insertion.ok) return bundleId(transactions);
  const { code, index } = insertion;
  throw invalidParams(index === null ? refusals[code] : `transaction #${index}: ${refusals[code]}`);
}

/** An account that is not there, as the runtime sees it. */
const absent: ChainAccount = {
  lamports: 0n,
  data: new Uint8Array(),
  owner: "11111111111111111111111111111111",
  executable: false,
  rentEpoch: 0n,
};

function presentStep(
  step: BundleStep,
  accountsConfig: { readonly pre: readonly string[]; readonly post: readonly string[] },
  replacement: SimulationBank | null,
  node: RpcNode,
): JsonObject {
  const { resolved, outcome } = step;
  const form = { encoding: "base64", dataSlice: undefined } as const;
  // Base64 needs nothing of the bank.
  const shown = (addresses: readonly string[], read: BundleStep["before"]) =>
    addresses.map((address) =>
      presentAccount(node, node.chain.at("processed"), address, read(address) ?? absent, form),
    );
  const ran = resolved !== null && outcome !== null;
  return encodeBundleTransaction({
    error: step.error,
    logs: outcome?.logs ?? [],
    unitsConsumed: outcome?.computeUnitsConsumed ?? 0n,
    loadedAccountsDataSize: Number(step.loadedBytes),
    returnData: outcome?.returnData ?? null,
    replacementBlockhash:
      replacement === null
        ? null
        : {
            blockhash: replacement.blockhash,
            lastValidBlockHeight: replacement.blockHeight + blockhashLifeBlocks,
          },
    fee: ran ? resolved.fees.base + resolved.fees.priority : null,
    preBalances: ran ? step.preBalances : null,
    postBalances: ran ? step.postBalances : null,
    preTokenBalances: ran ? step.preTokenBalances : null,
    postTokenBalances: ran ? step.postTokenBalances : null,
    loadedAddresses: resolved?.loaded ?? { writable: [], readonly: [] },
    preExecutionAccounts: shown(accountsConfig.pre, step.before),
    postExecutionAccounts: shown(accountsConfig.post, step.after),
  });
}

function summaryOf(steps: readonly BundleStep[]): JsonValue {
  const failed = steps.find(({ error }) => error !== null);
  if (failed === undefined || failed.error === null) return "succeeded";
  const signature = [...(decodeSignature(failed.signature) ?? [])];
  const error = { TransactionFailure: [signature, encodeTransactionError(failed.error)] };
  return { failed: { error, tx_signature: failed.signature } };
}

function refuseDuplicates(transactions: readonly Transaction[]): void {
  const messages = transactions.map(({ message }) => Buffer.from(message.bytes).toString("latin1"));
  if (new Set(messages).size < messages.length) throw invalidParams("duplicate transactions");
}

async function simulate(params: readonly JsonValue[], node: RpcNode): Promise<JsonValue> {
  const config: BundleSimulationConfig = bundleSimulationConfig(params, node);
  const { transactions, bank, replaced } = config;
  refuseDuplicates(transactions);
  const simulation = await node.chain.simulateBundle({ transactions, checkAge: !replaced }, bank);
  for (const { error } of simulation.steps) refuseUnresolved(error);
  const transactionResults = simulation.steps.map((step, index) =>
    presentStep(
      step,
      { pre: config.preAccounts[index] ?? [], post: config.postAccounts[index] ?? [] },
      replaced ? bank : null,
      node,
    ),
  );
  const value = { summary: summaryOf(simulation.steps), transactionResults };
  return { context: { slot: bank.slot, apiVersion: nodeVersion }, value };
}

/** Bundles, as a node of jito-solana's takes and simulates them. */
export const bundleMethods: MethodTable = {
  sendBundle: { required: 1, optional: 1, run: send },
  simulateBundle: { required: 1, optional: 1, run: simulate },
};
