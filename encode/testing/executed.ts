import { encodeBase58 } from "@sluice/wire/base58";
import { programs } from "@sluice/wire/programs";
import { encodeTransaction } from "@sluice/wire/transaction";
import {
  AddressLookupTableAccount,
  MessageV0,
  SystemProgram,
  Transaction,
  TransactionInstruction,
  VersionedTransaction,
} from "@solana/web3.js";
import type { ConfirmedBlock, ConfirmedTransaction, TransactionMeta } from "../model.ts";
import { A, a, B, b, C, c, D, d, e, raw } from "./keys.ts";

export const signature = encodeBase58(new Uint8Array(64));

const record = {
  error: null,
  fee: 5000n,
  preTokenBalances: [],
  postTokenBalances: [],
  innerInstructions: [],
  logs: ["Program 11111111111111111111111111111111 invoke [1]", "Program 11111111111111111111111111111111 success"],
  loadedAddresses: { writable: [], readonly: [] },
  returnData: null,
  computeUnitsConsumed: 150n,
  costUnits: 1481n,
} satisfies Partial<TransactionMeta>;

const transfer = SystemProgram.transfer({ fromPubkey: a, toPubkey: b, lamports: 7 });

/** A legacy transfer of 7 lamports from A to B. */
export function legacyTransfer(change: Partial<TransactionMeta> = {}): ConfirmedTransaction {
  const transaction = new Transaction({ feePayer: a, blockhash: C, lastValidBlockHeight: 1 }).add(transfer);
  const bytes = new Uint8Array(transaction.serialize({ requireAllSignatures: false, verifySignatures: false }));
  const balances = { preBalances: [100n, 0n, 1n], postBalances: [93n, 7n, 1n] };
  return { signature, bytes, meta: { ...record, ...balances, ...change } };
}

const table = new AddressLookupTableAccount({
  key: d,
  state: { deactivationSlot: 2n ** 64n - 1n, lastExtendedSlot: 0, lastExtendedSlotStartIndex: 0, addresses: [b, e] },
});

/** A version 0 transaction whose program C is given B (writable) and E (read only) from the lookup table D. */
export function versionedCall(change: Partial<TransactionMeta> = {}): ConfirmedTransaction {
  const call = new TransactionInstruction({
    programId: c,
    keys: [
      { pubkey: a, isSigner: true, isWritable: true },
      { pubkey: b, isSigner: false, isWritable: true },
      { pubkey: e, isSigner: false, isWritable: false },
    ],
    data: Buffer.from([1, 2, 3]),
  });
  const compile = { payerKey: a, instructions: [call], recentBlockhash: C, addressLookupTableAccounts: [table] };
  const bytes = new VersionedTransaction(MessageV0.compile(compile)).serialize();
  const balances = { preBalances: [100n, 1n, 2n, 3n], postBalances: [95n, 1n, 2n, 3n] };
  const loadedAddresses = { writable: [B], readonly: [e.toBase58()] };
  return { signature, bytes, meta: { ...record, ...balances, loadedAddresses, ...change } };
}

/** A version 1 transfer of 7 lamports from A to B with a limit of compute units. */
export function firstVersionTransfer(): ConfirmedTransaction {
  const bytes = encodeTransaction({
    signatures: [new Uint8Array(64)],
    message: {
      version: 1,
      numRequiredSignatures: 1,
      numReadonlySignedAccounts: 0,
      numReadonlyUnsignedAccounts: 1,
      staticKeys: [raw(A), raw(B), raw(programs.system)],
      blockhash: raw(D),
      instructions: [{ programIndex: 2, accountIndexes: [0, 1], data: transfer.data }],
      config: { computeUnitLimit: 200_000 },
    },
  });
  return { signature, bytes, meta: { ...record, preBalances: [100n, 0n, 1n], postBalances: [93n, 7n, 1n] } };
}

export function block(transactions: readonly ConfirmedTransaction[]): ConfirmedBlock {
  return {
    slot: 10n,
    parentSlot: 9n,
    blockhash: C,
    previousBlockhash: D,
    blockTime: 1_700_000_000n,
    blockHeight: 8n,
    transactions,
    rewards: [{ pubkey: A, lamports: 2500n, postBalance: 2n ** 63n, rewardType: "Fee", commission: null }],
  };
}
