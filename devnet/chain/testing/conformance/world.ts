import type { JsonObject, JsonValue } from "@sluice/encode";
import { decodeAddressLookupTable } from "@sluice/wire/accounts/native";
import { encodeBase58 } from "@sluice/wire/base58";
import { parseJsonExact, stringifyJsonExact } from "@sluice/wire/json";
import { programs } from "@sluice/wire/programs";
import { Keypair, SystemProgram, TransactionMessage, VersionedTransaction } from "@solana/web3.js";
import { bootFaultyNode, type FaultyNode } from "../../faults/testing/faulty-node.ts";
import { isTokenAccount, tokenKeys } from "../../model/token-state.ts";
import type { ChainNode } from "../../node.ts";
import { post } from "../boot.ts";

const slotsPerEpoch = 40n;
/** Slots of traffic: over two epoch boundaries, and above 32 so that something is final. */
const slots = 110;

export interface Answer {
  readonly result?: JsonValue;
  readonly error?: JsonObject;
}

/** A chain with two epochs of traffic behind it, and what stands in it by name. */
export interface World extends AsyncDisposable {
  readonly faulty: FaultyNode;
  readonly node: ChainNode;
  readonly names: Readonly<Record<WorldName, JsonValue>>;
  /** Transactions of each version that are final. */
  readonly legacy: string;
  readonly versioned: string;
  call(method: string, params?: readonly JsonValue[]): Promise<Answer>;
  /** A transfer of one lamport, signed, that has not been sent. */
  transfer(encoding?: "base58" | "base64"): string;
}

export type WorldName =
  | "vote"
  | "stake"
  | "mint"
  | "token account"
  | "token owner"
  | "delegate"
  | "busy address"
  | "missing"
  | "signature"
  | "blockhash"
  | "slot"
  | "message"
  | "features"
  | "token program"
  | "lookup table";

export const missingAddress = "9pan9bMn5HatX4EJdBwg9VgCa7Uz5HL8N1m5D3NdXej8";

function found<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`the traffic made no ${what}`);
  return value;
}

async function rawCall(url: string, method: string, params: readonly JsonValue[] = []): Promise<Answer> {
  const body = stringifyJsonExact({ jsonrpc: "2.0", id: 1, method, params });
  const answer = parseJsonExact(await (await post(url, body)).text());
  if (!answer.ok) throw new Error(`${method} was answered with something else than JSON`);
  return answer.value as Answer;
}

function lookOut(node: ChainNode) {
  const { chain } = node;
  const final = chain.at("finalized").slot;
  const accounts = [...chain.accounts.all(final)];
  const range = { newest: final, before: null, until: null };
  const isBusy = (address: string) => [...chain.history.ofAddress(address, range).take(5)].length === 5;
  const [tokenAccount, token] = found(
    accounts.find(([, account]) => isTokenAccount(account) && isBusy(tokenKeys(account)?.owner ?? "")),
    "token account of a busy owner",
  );
  const keys = tokenKeys(token);
  const recorded = chain.history
    .slots(0n, final, 1_000)
    .flatMap((slot) => chain.history.block(slot)?.transactions ?? []);
  const versioned = found(
    recorded.find(({ loadedAddresses }) => loadedAddresses.writable.length > 0),
    "transaction with a lookup table",
  );
  const legacy = found(
    recorded.find(({ bytes }) => ((bytes[1 + 64 * (bytes[0] ?? 1)] ?? 0) & 0x80) === 0),
    "legacy transaction",
  );
  const [table] = found(
    accounts.find(
      ([, account]) => account.owner === programs.addressLookupTable && decodeAddressLookupTable(account.data) !== null,
    ),
    "lookup table",
  );
  return { keys, tokenAccount, legacy, versioned, table };
}

/** The message of a transfer that this payer could make. */
function transferMessage(payer: Keypair, blockhash: string): TransactionMessage {
  return new TransactionMessage({
    payerKey: payer.publicKey,
    recentBlockhash: blockhash,
    instructions: [SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: payer.publicKey, lamports: 1 })],
  });
}

/** Makes the world: always the same chain from the same seed. */
export async function makeWorld(): Promise<World> {
  const faulty = await bootFaultyNode({ traffic: 50, slotsPerEpoch: slotsPerEpoch, seed: "conformance" });
  const { node } = faulty;
  await faulty.closeSlots(60);
  await faulty.admin("devnet_skipSlots", 2);
  await faulty.closeSlots(slots - 60);
  const { keys, tokenAccount, legacy, versioned, table } = lookOut(node);
  const { vote, stake } = node.chain.genesis.validators[0];
  const payer = Keypair.fromSeed(new Uint8Array(32).fill(9));
  await rawCall(node.rpcUrl, "requestAirdrop", [payer.publicKey.toBase58(), 1_000_000_000n]);
  await faulty.closeSlots(34);
  const blockhash = node.chain.at("finalized").blockhash;
  const message = transferMessage(payer, blockhash).compileToLegacyMessage().serialize();
  return {
    faulty,
    node,
    legacy: legacy.signature,
    versioned: versioned.signature,
    names: {
      vote,
      stake,
      mint: keys?.mint ?? "",
      "token account": tokenAccount,
      "token owner": keys?.owner ?? "",
      delegate: keys?.owner ?? "",
      "busy address": keys?.owner ?? "",
      missing: missingAddress,
      signature: legacy.signature,
      blockhash,
      slot: legacy.slot,
      message: Buffer.from(message).toString("base64"),
      features: programs.featureGate,
      "token program": programs.token,
      "lookup table": table,
    },
    call: (method, params = []) => rawCall(node.rpcUrl, method, params),
    transfer(encoding = "base64") {
      const { blockhash: recent } = node.chain.at("finalized");
      const transaction = new VersionedTransaction(transferMessage(payer, recent).compileToV0Message());
      transaction.sign([payer]);
      const bytes = transaction.serialize();
      return encoding === "base58" ? encodeBase58(bytes) : Buffer.from(bytes).toString("base64");
    },
    [Symbol.asyncDispose]: () => faulty[Symbol.asyncDispose](),
  };
}

export const unknownSignature = encodeBase58(new Uint8Array(64).fill(3));
