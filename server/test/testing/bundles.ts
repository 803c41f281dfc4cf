/** Bundles as a searcher makes them with web3.js. */
import { encodeBase58 } from "@sluice/wire/base58";
import { programs } from "@sluice/wire/programs";
import {
  type Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from "@solana/web3.js";
import { tipAccounts } from "../../src/engine/model/tip-accounts.ts";

export const tipAccount = new PublicKey(tipAccounts()[0] ?? "");

const memoProgram = new PublicKey(programs.memo);

export const pay = (from: Keypair, to: PublicKey, lamports: number): TransactionInstruction =>
  SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: to, lamports });

/** Each test takes a tip account of its own where its bundles are not to wait for those of others. */
export const tip = (from: Keypair, lamports = 10_000): TransactionInstruction => pay(from, tipAccount, lamports);

/** Makes a transaction one of its kind. */
export const memo = (text: string): TransactionInstruction =>
  new TransactionInstruction({ programId: memoProgram, keys: [], data: Buffer.from(text) });

/** The instruction with accounts that it names and does not write. */
export function naming(
  { programId, keys, data }: TransactionInstruction,
  ...named: readonly PublicKey[]
): TransactionInstruction {
  const further = named.map((pubkey) => ({ pubkey, isSigner: false, isWritable: false }));
  return new TransactionInstruction({ programId, keys: [...keys, ...further], data });
}

export function signed(
  payer: Keypair,
  blockhash: string,
  ...instructions: readonly TransactionInstruction[]
): VersionedTransaction {
  const { publicKey: payerKey } = payer;
  const message = new TransactionMessage({ payerKey, recentBlockhash: blockhash, instructions: [...instructions] });
  const transaction = new VersionedTransaction(message.compileToV0Message());
  transaction.sign([payer]);
  return transaction;
}

export const textOf = (transaction: VersionedTransaction): string =>
  Buffer.from(transaction.serialize()).toString("base64");
export const signatureOf = ({ signatures }: VersionedTransaction): string =>
  encodeBase58(signatures[0] ?? new Uint8Array());
