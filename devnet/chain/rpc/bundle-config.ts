import type { Transaction } from "@sluice/wire/transaction";
import { type SimulationBank, signaturesValid } from "../bank/index.ts";
import type { JsonObject, JsonValue } from "../encode/index.ts";
import { invalidParams } from "./errors.ts";
import type { RpcNode } from "./method.ts";
import {
  addressValue,
  booleanMember,
  COMMITMENTS,
  configAt,
  listValue,
  objectValue,
  stringValue,
  u64Value,
  unknownVariant,
  variantMember,
  variantValue,
} from "./params.ts";
import { withBlockhash } from "./send.ts";
import { transactionInput } from "./transaction-input.ts";

/** Source: jito-solana, simulate_bundle. */
const SIMULATED_MAX = 20;

/** What a call of simulateBundle asks for, checked and with nothing left out. */
export interface BundleSimulationConfig {
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
  return node.chain.at(variantValue(config["commitment"], COMMITMENTS));
}

/** `"tip"`, a slot of this fork, or a commitment, which is confirmed unless another is named. */
function bankOf(config: JsonObject | null, node: RpcNode): SimulationBank {
  const given = config?.["simulationBank"];
  if (given === undefined || given === null) return node.chain.at("confirmed");
  if (given === "tip") return node.chain.tip;
  const variants = ["commitment", "slot", "tip"];
  if (typeof given === "string") throw unknownVariant(given, variants);
  const object = objectValue(given, "enum SimulationSlotConfig");
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

function addressesOf(given: JsonValue, { message }: Transaction): readonly string[] {
  if (given === null) return [];
  const config = objectValue(given, "struct RpcSimulateTransactionAccountsConfig");
  onlyBase64(textMember(config, "encoding"));
  if (config["addresses"] === undefined) throw missing("addresses");
  const list = listValue(config["addresses"]);
  if (list.length > message.totalKeyCount) {
    throw invalidParams(`Too many accounts provided; max ${message.totalKeyCount}`);
  }
  return list.map((entry) => addressValue(entry));
}

/** Reads the parameters of simulateBundle, in the order in which the node refuses them. */
export function bundleSimulationConfig(params: readonly JsonValue[], node: RpcNode): BundleSimulationConfig {
  const bundle = objectValue(params[0], "struct RpcBundleRequest");
  if (bundle["encodedTransactions"] === undefined) throw missing("encodedTransactions");
  const texts = listValue(bundle["encodedTransactions"]).map((entry) => stringValue(entry));
  const config = configAt(params, 1, "struct RpcSimulateBundleConfig");
  if (texts.length > SIMULATED_MAX) throw invalidParams(`bundle size too large, max ${SIMULATED_MAX} transactions`);
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
  const given = texts.map((text) => transactionInput(text, { encoding: "base64" }));
  const skipSigVerify = booleanMember(config, "skipSigVerify", false);
  const replaced = booleanMember(config, "replaceRecentBlockhash", false);
  if (replaced && !skipSigVerify) throw invalidParams("sigVerify may not be used with replaceRecentBlockhash");
  const transactions = replaced ? given.map((each) => withBlockhash(each, bank.blockhash)) : given;
  const forged = skipSigVerify ? undefined : transactions.find((each) => !signaturesValid(each));
  if (forged !== undefined) throw invalidParams(`transaction signature is invalid: ${forged.id}`);
  const addresses = (configs: readonly JsonValue[]) =>
    transactions.map((transaction, index) => addressesOf(configs[index] ?? null, transaction));
  return { transactions, bank, replaced, preAccounts: addresses(pre), postAccounts: addresses(post) };
}
