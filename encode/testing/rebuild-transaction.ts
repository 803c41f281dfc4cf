import { createPublicKey, verify } from "node:crypto";
import type { TransactionErrorJson } from "@sluice/svm";
import { decodeAddress, decodeBase58, decodeSignature, encodeBase58 } from "@sluice/wire/base58";
import { Message, MessageV0, PublicKey, VersionedTransaction } from "@solana/web3.js";
import type { ConfirmedTransaction, ExecutedInstruction, TokenBalance, TransactionMeta } from "../model.ts";
import { isRecord, type JsonRecord, record, records, texts } from "./fixtures.ts";
import { rebuildInstruction } from "./rebuild-instruction.ts";

interface Key {
  readonly pubkey: string;
  readonly signer: boolean;
  readonly writable: boolean;
  readonly loaded: boolean;
}

interface Rebuilt {
  readonly executed: ConfirmedTransaction;
  readonly signaturesValid: boolean;
}

function bytesOf(base58: unknown): Uint8Array {
  const bytes = decodeBase58(String(base58), 16_384);
  if (bytes === null) throw new TypeError(`not base58: ${base58}`);
  return bytes;
}

/** The keys of either form; in the compiled form, the loaded ones come from `meta`. */
function readKeys(message: JsonRecord, meta: JsonRecord): Key[] {
  const shown = message["accountKeys"];
  if (!Array.isArray(shown)) throw new TypeError("no keys");
  if (isRecord(shown[0])) {
    return records(shown).map((key) => ({
      pubkey: String(key["pubkey"]),
      signer: key["signer"] === true,
      writable: key["writable"] === true,
      loaded: key["source"] === "lookupTable",
    }));
  }
  const header = record(message["header"]);
  const [signers, readonlySigners, readonlyOthers] = [
    Number(header["numRequiredSignatures"]),
    Number(header["numReadonlySignedAccounts"]),
    Number(header["numReadonlyUnsignedAccounts"]),
  ];
  const own = texts(shown).map((pubkey, index) => {
    const signer = index < signers;
    const writable = signer ? index < signers - readonlySigners : index < shown.length - readonlyOthers;
    return { pubkey, signer, writable, loaded: false };
  });
  const loaded = isRecord(meta["loadedAddresses"]) ? meta["loadedAddresses"] : {};
  const add = (member: string, writable: boolean) =>
    texts(loaded[member]).map((pubkey) => ({ pubkey, signer: false, writable, loaded: true }));
  return [...own, ...add("writable", true), ...add("readonly", false)];
}

function compile(shown: JsonRecord, keys: readonly Key[]): ExecutedInstruction {
  const stackHeight = Number(shown["stackHeight"] ?? 1);
  if (shown["programIdIndex"] !== undefined) {
    const accounts = texts(shown["accounts"]).map(Number);
    return { programIdIndex: Number(shown["programIdIndex"]), accounts, data: bytesOf(shown["data"]), stackHeight };
  }
  const named = shown["parsed"] === undefined ? shown : rebuildInstruction(shown);
  const indexOf = (pubkey: unknown) => {
    const index = keys.findIndex((key) => key.pubkey === pubkey);
    if (index < 0) throw new TypeError(`no key ${pubkey}`);
    return index;
  };
  const data = named["data"] instanceof Uint8Array ? named["data"] : bytesOf(named["data"]);
  const accounts = texts(named["accounts"]).map(indexOf);
  return { programIdIndex: indexOf(named["programId"]), accounts, data, stackHeight };
}

function buildMessage(message: JsonRecord, keys: readonly Key[], instructions: readonly ExecutedInstruction[]) {
  const own = keys.filter((key) => !key.loaded);
  const header = {
    numRequiredSignatures: own.filter((key) => key.signer).length,
    numReadonlySignedAccounts: own.filter((key) => key.signer && !key.writable).length,
    numReadonlyUnsignedAccounts: own.filter((key) => !key.signer && !key.writable).length,
  };
  const recentBlockhash = String(message["recentBlockhash"]);
  if (!Array.isArray(message["addressTableLookups"])) {
    return new Message({
      header,
      accountKeys: own.map((key) => key.pubkey),
      recentBlockhash,
      instructions: instructions.map((each) => ({
        programIdIndex: each.programIdIndex,
        accounts: Array.from(each.accounts),
        data: encodeBase58(each.data),
      })),
    });
  }
  return new MessageV0({
    header,
    staticAccountKeys: own.map((key) => new PublicKey(key.pubkey)),
    recentBlockhash,
    compiledInstructions: instructions.map((each) => ({
      programIdIndex: each.programIdIndex,
      accountKeyIndexes: Array.from(each.accounts),
      data: each.data,
    })),
    addressTableLookups: records(message["addressTableLookups"]).map((lookup) => ({
      accountKey: new PublicKey(String(lookup["accountKey"])),
      writableIndexes: texts(lookup["writableIndexes"]).map(Number),
      readonlyIndexes: texts(lookup["readonlyIndexes"]).map(Number),
    })),
  });
}

const ed25519Prefix = Buffer.from("302a300506032b6570032100", "hex");

function signedBy(pubkey: string, signature: string, message: Uint8Array): boolean {
  const [keyBytes, signatureBytes] = [decodeAddress(pubkey), decodeSignature(signature)];
  if (keyBytes === null || signatureBytes === null) return false;
  const key = createPublicKey({ key: Buffer.concat([ed25519Prefix, keyBytes]), format: "der", type: "spki" });
  return verify(null, message, key, signatureBytes);
}

function tokenBalances(value: unknown): TokenBalance[] {
  return records(value).map((balance) => {
    const shown = record(balance["uiTokenAmount"]);
    return {
      accountIndex: Number(balance["accountIndex"]),
      mint: String(balance["mint"]),
      owner: String(balance["owner"]),
      programId: String(balance["programId"]),
      amount: BigInt(String(shown["amount"])),
      decimals: Number(shown["decimals"]),
    };
  });
}

function lamports(value: unknown): bigint[] {
  return texts(value).map(BigInt);
}

/** The record of a transaction that a client was shown, with its wire bytes written by another library. */
export function rebuildTransaction(result: JsonRecord): Rebuilt {
  const transaction = record(result["transaction"]);
  const message = record(transaction["message"]);
  const meta = record(result["meta"]);
  const keys = readKeys(message, meta);
  const instructions = records(message["instructions"]).map((shown) => compile(shown, keys));
  const built = buildMessage(message, keys, instructions);
  const signatures = texts(transaction["signatures"]);
  const serialized = built.serialize();
  const bytes = new VersionedTransaction(
    built,
    signatures.map((signature) => bytesOf(signature)),
  ).serialize();
  const named = (writable: boolean) =>
    keys.filter((key) => key.loaded && key.writable === writable).map((key) => key.pubkey);
  const returned = isRecord(meta["returnData"]) ? meta["returnData"] : null;
  const executedMeta: TransactionMeta = {
    error: (meta["err"] ?? null) as TransactionErrorJson | null,
    fee: BigInt(String(meta["fee"])),
    preBalances: lamports(meta["preBalances"]),
    postBalances: lamports(meta["postBalances"]),
    preTokenBalances: tokenBalances(meta["preTokenBalances"]),
    postTokenBalances: tokenBalances(meta["postTokenBalances"]),
    innerInstructions: records(meta["innerInstructions"]).map((group) => ({
      index: Number(group["index"]),
      instructions: records(group["instructions"]).map((shown) => compile(shown, keys)),
    })),
    logs: texts(meta["logMessages"]),
    loadedAddresses: { writable: named(true), readonly: named(false) },
    returnData:
      returned === null
        ? null
        : { programId: String(returned["programId"]), data: Buffer.from(texts(returned["data"])[0] ?? "", "base64") },
    computeUnitsConsumed: BigInt(String(meta["computeUnitsConsumed"] ?? 0)),
    costUnits: BigInt(String(meta["costUnits"] ?? 0)),
  };
  const signaturesValid = signatures.every((signature, index) =>
    signedBy(keys[index]?.pubkey ?? "", signature, serialized),
  );
  return { executed: { signature: signatures[0] ?? "", bytes, meta: executedMeta }, signaturesValid };
}
