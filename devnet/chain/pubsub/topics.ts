import { type AccountEncodingName, encodeAccount, encodeBlock, type JsonValue } from "@sluice/encode";
import { decodeAddress, decodeSignature } from "@sluice/wire/base58";
import { programs } from "@sluice/wire/programs";
import { passesFilters } from "../accounts/index.ts";
import {
  type BankSlot,
  type Block,
  type ChainAccount,
  type Commitment,
  confirmedBlock,
  type ExecutedTransaction,
} from "../model/index.ts";
import {
  accountFilters,
  accountForm,
  booleanMember,
  clockOf,
  commitmentMember,
  configAt,
  invalidParams,
  ledgerCommitment,
  listValue,
  maxVersion,
  objectValue,
  type RpcNode,
  stringValue,
  transactionEncodings,
  unknownVariant,
  variantMember,
} from "../rpc/index.ts";
import { atSlot, type ChainEvent, type Notice, type Topic } from "./subscription.ts";

type Mentions = ReadonlyMap<string, readonly ExecutedTransaction[]>;

/** Made once for a block, however many ask: all subscribers of one event are shown the same block. */
const known = new WeakMap<Block, Mentions>();

function mentionsOf(block: Block, node: RpcNode): Mentions {
  const mentions = new Map<string, ExecutedTransaction[]>();
  for (const transaction of block.transactions) {
    for (const key of new Set(node.chain.history.transaction(transaction.signature)?.keys)) {
      const found = mentions.get(key);
      if (found === undefined) mentions.set(key, [transaction]);
      else found.push(transaction);
    }
  }
  return mentions;
}

/** The transactions of a block that name an address, in its order. */
function mentioning(block: Block, address: string, node: RpcNode): readonly ExecutedTransaction[] {
  const mentions = known.get(block) ?? mentionsOf(block, node);
  known.set(block, mentions);
  return mentions.get(address) ?? [];
}

type Params = readonly JsonValue[];

function invalidKey(kind: string): Error {
  return invalidParams(`Invalid Request: Invalid ${kind} provided`);
}

function addressParam(value: JsonValue | undefined, kind: string): string {
  const text = stringValue(value);
  if (decodeAddress(text) === null) throw invalidKey(kind);
  return text;
}

function keyOf(kind: string, ...parts: readonly unknown[]): string {
  const text = (_name: string, value: unknown) => (typeof value === "bigint" ? `${value}n` : value);
  return `${kind}:${JSON.stringify(parts, text)}`;
}

/** A deleted account is shown as the default account; data too large for base58 is replaced by an error text. */
function presented(
  node: RpcNode,
  bank: BankSlot,
  address: string,
  account: ChainAccount | null,
  encoding: AccountEncodingName,
): JsonValue {
  const shown = account ?? {
    lamports: 0n,
    data: new Uint8Array(),
    owner: programs.system,
    executable: false,
    rentEpoch: 0n,
  };
  const lookup = (other: string) => node.chain.accounts.get(other, bank.slot);
  const clock = clockOf(node, bank);
  const encoded = encodeAccount(address, shown, { encoding, lookup, clock });
  if (!("fault" in encoded)) return encoded;
  const { lamports, owner, executable, rentEpoch } = shown;
  const data = "error: data too large for bs58 encoding";
  const placeholder = encoding === "binary" ? data : [data, "base58"];
  return { lamports, data: placeholder, owner, executable, rentEpoch, space: BigInt(shown.data.length) };
}

/** Whether a slot reached the commitment that a topic waits for. */
export function isReached(
  event: ChainEvent,
  commitment: Commitment,
): event is ChainEvent & { readonly kind: "reached" } {
  return event.kind === "reached" && event.commitment === commitment;
}

/**
 * Reports an account when it was written, and in the first slot that reaches its commitment after a fork that took back
 * what was reported, as a node does. Programs' subscribers are notified only of what was written in a slot, as on a
 * node.
 */
export function accountTopic(params: Params): Topic {
  const address = addressParam(params[0], "pubkey");
  const config = configAt(params, 1, "struct RpcAccountInfoConfig");
  const { encoding } = accountForm(config, "binary");
  const commitment = commitmentMember(config);
  let isReverted = false;
  return {
    notification: "accountNotification",
    key: keyOf("account", address, encoding, commitment),
    *notices(event, node) {
      if (event.kind === "abandoned" && commitment !== "finalized" && event.reverted[commitment].has(address)) {
        isReverted = true;
      }
      if (!isReached(event, commitment)) return;
      const { slot } = event.bank;
      if (!isReverted && !node.chain.accounts.written(slot).has(address)) return;
      isReverted = false;
      const account = node.chain.accounts.get(address, slot);
      yield { result: atSlot(slot, presented(node, event.bank, address, account, encoding)) };
    },
  };
}

export function programTopic(params: Params): Topic {
  const program = addressParam(params[0], "pubkey");
  const config = configAt(params, 1, "struct RpcProgramAccountsConfig");
  const filters = accountFilters(config);
  const { encoding } = accountForm(config, "binary");
  const commitment = commitmentMember(config);
  return {
    notification: "programNotification",
    key: keyOf("program", program, encoding, commitment, config?.["filters"] ?? null),
    *notices(event, node) {
      if (!isReached(event, commitment)) return;
      const { slot } = event.bank;
      for (const pubkey of node.chain.accounts.written(slot)) {
        const account = node.chain.accounts.get(pubkey, slot);
        if (account === null || account.owner !== program || !passesFilters(filters, account.data)) continue;
        yield { result: atSlot(slot, { pubkey, account: presented(node, event.bank, pubkey, account, encoding) }) };
      }
    },
  };
}

function logsFilter(value: JsonValue | undefined): string | null {
  if (typeof value === "string") {
    if (value === "all" || value === "allWithVotes") return null;
    throw unknownVariant(value, ["all", "allWithVotes", "mentions"]);
  }
  const mentions = listValue(objectValue(value, "enum RpcTransactionLogsFilter")["mentions"]);
  if (mentions.length !== 1) throw invalidParams("Invalid Request: Only 1 address supported");
  return addressParam(mentions[0], "mentions");
}

export function logsTopic(params: Params): Topic {
  const mention = logsFilter(params[0]);
  const withVotes = params[0] === "allWithVotes";
  const commitment = commitmentMember(configAt(params, 1, "struct RpcTransactionLogsConfig"));
  return {
    notification: "logsNotification",
    key: keyOf("logs", params[0], commitment),
    *notices(event, node) {
      if (!isReached(event, commitment)) return;
      const { block } = event;
      const transactions = mention === null ? block.transactions : mentioning(block, mention, node);
      for (const { signature, error, logs, isVote } of transactions) {
        if (mention === null && isVote && !withVotes) continue;
        yield { result: atSlot(event.bank.slot, { signature, err: error as JsonValue, logs }) };
      }
    },
  };
}

export function signatureTopic(params: Params): Topic {
  const signature = stringValue(params[0]);
  if (decodeSignature(signature) === null) throw invalidKey("signature");
  const config = configAt(params, 1, "struct RpcSignatureSubscribeConfig");
  const commitment = commitmentMember(config);
  const received = booleanMember(config, "enableReceivedNotification", false);
  return {
    notification: "signatureNotification",
    key: keyOf("signature", signature, commitment, received),
    ...(received && { receives: signature }),
    *notices(event, node): Iterable<Notice> {
      if (event.kind === "received") {
        yield { result: atSlot(node.chain.at("processed").slot, "receivedSignature") };
      }
      if (!isReached(event, commitment)) return;
      const executed = node.chain.history.transaction(signature)?.executed;
      if (executed === undefined || executed.slot > event.bank.slot) return;
      yield { result: atSlot(event.bank.slot, { err: executed.error as JsonValue }), last: true };
    },
  };
}

function blockFilter(value: JsonValue | undefined): string | null {
  if (typeof value === "string") {
    if (value === "all") return null;
    throw unknownVariant(value, ["all", "mentionsAccountOrProgram"]);
  }
  const filter = objectValue(value, "enum RpcBlockSubscribeFilter");
  return addressParam(filter["mentionsAccountOrProgram"], "mentions_account_or_program");
}

export function blockTopic(params: Params): Topic {
  const mention = blockFilter(params[0]);
  const config = configAt(params, 1, "struct RpcBlockSubscribeConfig");
  const commitment = ledgerCommitment(config);
  const options = {
    encoding: variantMember(config, "encoding", transactionEncodings, "base64"),
    transactionDetails: variantMember(
      config,
      "transactionDetails",
      ["full", "signatures", "none", "accounts"] as const,
      "full" as const,
    ),
    rewards: booleanMember(config, "showRewards", false),
    maxSupportedTransactionVersion: maxVersion(config),
  };
  return {
    notification: "blockNotification",
    key: keyOf("block", mention, commitment, options),
    *notices(event, node) {
      if (!isReached(event, commitment)) return;
      const { slot } = event.bank;
      const transactions = mention === null ? event.block.transactions : mentioning(event.block, mention, node);
      if (mention !== null && transactions.length === 0) return;
      const encoded = encodeBlock(confirmedBlock({ ...event.block, transactions }), options);
      const value = encoded.ok
        ? { slot, block: encoded.value, err: null }
        : { slot, block: null, err: { UnsupportedTransactionVersion: encoded.version } };
      yield { result: atSlot(slot, value) };
    },
  };
}
