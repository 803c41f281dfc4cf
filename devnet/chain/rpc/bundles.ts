import { decodeSignature } from "@sluice/wire/base58";
import type { Transaction } from "@sluice/wire/transaction";
import {
  BLOCKHASH_LIFE_BLOCKS,
  BUNDLE_TRANSACTIONS_MAX,
  type BundleStep,
  bundleId,
  type InsertionFault,
  type SimulationBank,
} from "../bank/index.ts";
import { encodeBundleTransaction, encodeTransactionError, type JsonObject, type JsonValue } from "../encode/index.ts";
import type { ChainAccount } from "../model/index.ts";
import { presentAccount } from "./accounts.ts";
import { type BundleSimulationConfig, bundleSimulationConfig } from "./bundle-config.ts";
import { invalidParams } from "./errors.ts";
import { type MethodTable, NODE_VERSION, type RpcNode } from "./method.ts";
import { configAt, listValue, stringValue } from "./params.ts";
import { refuseUnresolved } from "./send.ts";
import { transactionInput } from "./transaction-input.ts";

/** What the insertion checks found, as the block engine words it where it does. */
const REFUSALS: Readonly<Record<InsertionFault, string>> = {
  EmptyBatch: "bundle must contain at least one transaction",
  BundleTooLarge: `exceeded maximum number of transactions allowed in a bundle: ${BUNDLE_TRANSACTIONS_MAX}`,
  PacketMarkedDiscard: "could not be decoded",
  SignatureFailure: "transaction signature is invalid",
  ContainerFull: "too many bundles wait",
  PacketFilterError: "is not allowed in a bundle",
  DuplicateTransaction: "duplicate transactions",
};

/** Hands a bundle to whoever leads; it lands in one of the next slots or never, as one that came from a block engine. */
function send(params: readonly JsonValue[], node: RpcNode): JsonValue {
  const list = listValue(params[0]).map((entry) => stringValue(entry));
  const config = configAt(params, 1, "struct RpcSendBundleConfig");
  // What is too long is not read.
  if (list.length > BUNDLE_TRANSACTIONS_MAX) throw invalidParams(REFUSALS.BundleTooLarge);
  const transactions = list.map((text) => transactionInput(text, config));
  const packets = transactions.map(({ bytes }) => ({ data: bytes, isDiscarded: false }));
  const insertion = node.chain.bundles.submit(packets, null);
  if (insertion.ok) return bundleId(transactions);
  const { fault, index } = insertion;
  throw invalidParams(index === null ? REFUSALS[fault] : `transaction #${index}: ${REFUSALS[fault]}`);
}

/** An account that is not there, as the runtime sees it. */
const ABSENT: ChainAccount = {
  lamports: 0n,
  data: new Uint8Array(),
  owner: "11111111111111111111111111111111",
  executable: false,
  rentEpoch: 0n,
};

function presentStep(
  step: BundleStep,
  wanted: { readonly pre: readonly string[]; readonly post: readonly string[] },
  replacement: SimulationBank | null,
  node: RpcNode,
): JsonObject {
  const { resolved, outcome } = step;
  const form = { encoding: "base64", dataSlice: undefined } as const;
  // Base64 needs nothing of the bank.
  const shown = (addresses: readonly string[], read: BundleStep["before"]) =>
    addresses.map((address) =>
      presentAccount(node, node.chain.at("processed"), address, read(address) ?? ABSENT, form),
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
            lastValidBlockHeight: replacement.blockHeight + BLOCKHASH_LIFE_BLOCKS,
          },
    fee: ran ? resolved.fees.base + resolved.fees.priority : null,
    preBalances: ran ? step.preBalances : null,
    postBalances: ran ? step.postBalances : null,
    preTokenBalances: ran ? step.preTokenBalances : null,
    postTokenBalances: ran ? step.postTokenBalances : null,
    loadedAddresses: resolved?.loaded ?? { writable: [], readonly: [] },
    preExecutionAccounts: shown(wanted.pre, step.before),
    postExecutionAccounts: shown(wanted.post, step.after),
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
  return { context: { slot: bank.slot, apiVersion: NODE_VERSION }, value };
}

/** Bundles, as a node of jito-solana's takes and simulates them. */
export const bundleMethods: MethodTable = {
  sendBundle: { required: 1, optional: 1, run: send },
  simulateBundle: { required: 1, optional: 1, run: simulate },
};
