import { expect, test } from "bun:test";
import { createPublicKey, verify } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { decodeAddress, decodeBase58, decodeSignature } from "../base58.ts";
import { disagreementWithKit } from "../testing/kit-agreement.ts";
import { encodeTransaction, type MessageParts } from "./encode.ts";
import type { Transaction } from "./message.ts";
import { parseTransaction } from "./parse.ts";

/** Real transactions lie beside the repository; they are read in place and not copied into it. */
const directory = new URL("../../../shared/fixtures/transactions/", import.meta.url);

interface JsonTransaction {
  readonly signatures: readonly string[];
  readonly message: {
    readonly header?: {
      readonly numRequiredSignatures: number;
      readonly numReadonlySignedAccounts: number;
      readonly numReadonlyUnsignedAccounts: number;
    };
    readonly accountKeys: readonly string[];
    readonly recentBlockhash: string;
    readonly instructions: readonly {
      readonly programIdIndex: number;
      readonly accounts: readonly number[];
      readonly data: string;
    }[];
    readonly addressTableLookups?: readonly {
      readonly accountKey: string;
      readonly writableIndexes: readonly number[];
      readonly readonlyIndexes: readonly number[];
    }[];
  };
}

function bytesOf(bytes: Uint8Array | null): Uint8Array {
  if (bytes === null) throw new Error("a fixture holds bad base58");
  return bytes;
}

/** The wire bytes of a transaction that a node wrote with encoding json. */
function encodeJson({ signatures, message }: JsonTransaction, version: unknown): Uint8Array | null {
  const { header } = message;
  if (header === undefined) return null;
  const parts: MessageParts = {
    version: version === 0 ? 0 : "legacy",
    ...header,
    staticKeys: message.accountKeys.map((key) => bytesOf(decodeAddress(key))),
    blockhash: bytesOf(decodeAddress(message.recentBlockhash)),
    instructions: message.instructions.map(({ programIdIndex, accounts, data }) => ({
      programIndex: programIdIndex,
      accountIndexes: accounts,
      data: bytesOf(decodeBase58(data)),
    })),
    lookups: (message.addressTableLookups ?? []).map(({ accountKey, writableIndexes, readonlyIndexes }) => ({
      tableBytes: bytesOf(decodeAddress(accountKey)),
      writableIndexes,
      readonlyIndexes,
    })),
  };
  return encodeTransaction({ signatures: signatures.map((text) => bytesOf(decodeSignature(text))), message: parts });
}

/** SubjectPublicKeyInfo of an Ed25519 key, before its 32 bytes. */
const keyPrefix = Buffer.from("302a300506032b6570032100", "hex");

function signaturesVerify(transaction: Transaction): boolean {
  return transaction.signatures.every((_, index) => {
    const der = Buffer.concat([keyPrefix, transaction.message.keyBytes(index)]);
    const key = createPublicKey({ key: der, format: "der", type: "spki" });
    return verify(null, transaction.message.bytes, key, transaction.signatureBytes(index));
  });
}

test("real transactions are accepted, agree with kit, and their signatures verify over the bytes we call signed", () => {
  if (!existsSync(directory)) {
    console.warn("fixtures absent: not run (real transactions)");
    return;
  }
  let checked = 0;
  for (const file of readdirSync(directory)) {
    if (file === "manifest.json") continue;
    const { result } = JSON.parse(readFileSync(new URL(file, directory), "utf8"));
    const bytes = encodeJson(result.transaction, result.version);
    if (bytes === null) continue;
    const parsed = parseTransaction(bytes);
    if (!parsed.ok) throw new Error(`${file}: ${parsed.fault} at ${parsed.offset}`);
    expect(parsed.transaction.signatures.map(String)).toEqual(result.transaction.signatures);
    expect(parsed.transaction.message.staticAddresses.map(String)).toEqual(result.transaction.message.accountKeys);
    expect(disagreementWithKit(bytes)).toEqual({ accepted: true, difference: null });
    expect(signaturesVerify(parsed.transaction)).toBe(true);
    checked++;
  }
  expect(checked).toBeGreaterThan(20);
});
