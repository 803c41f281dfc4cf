/** One bundle for each reason that a searcher can bring about by what it sends. */
import type { BundleReason } from "@sluice/contract/engine";
import {
  AddressLookupTableProgram,
  ComputeBudgetProgram,
  type Keypair,
  type MessageAddressTableLookup,
  MessageV0,
  PublicKey,
  VersionedTransaction,
} from "@solana/web3.js";
import { memo, naming, pay, signed, tip, tipAccount } from "./bundles.ts";
import type { ChainReader } from "./chain-reader.ts";

export interface BrokenBundle {
  readonly reason: BundleReason;
  readonly transactions: readonly Uint8Array[];
  /** Lamports. */
  readonly tip?: number;
  readonly targetSlot?: number;
  readonly sealed?: Uint8Array;
}

/** What signatures and addresses do not matter for. */
const stranger = new PublicKey(new Uint8Array(32).fill(7));
const dontFront = new PublicKey("jitodontfront111111111111111111111111111111");

export async function brokenBundles(chain: ChainReader): Promise<readonly BrokenBundle[]> {
  const [payer] = await chain.wallets(1);
  const blockhash = await chain.blockhash();
  const slot = await chain.slot();
  const table = await lookupTable(chain, payer);
  const landed = signed(payer, blockhash, tip(payer), memo("landed"));
  await chain.land(landed);
  const good = signed(payer, blockhash, tip(payer), memo("good")).serialize();
  const forged = good.slice();
  forged.fill(9, 1, 65);
  return [
    { reason: "empty_bundle", transactions: [] },
    { reason: "too_many_transactions", transactions: Array.from({ length: 6 }, () => good) },
    { reason: "transaction_too_large", transactions: [Uint8Array.of(...good, ...new Uint8Array(1_232))] },
    { reason: "malformed_transaction", transactions: [good.slice(0, 100)] },
    { reason: "non_canonical_transaction", transactions: [Uint8Array.of(...good, 0)] },
    { reason: "signature_invalid", transactions: [forged] },
    { reason: "duplicate_transaction", transactions: [good, good] },
    { reason: "blockhash_expired", transactions: [signed(payer, stranger.toBase58(), tip(payer)).serialize()] },
    { reason: "already_processed", transactions: [landed.serialize()] },
    { reason: "tip_below_floor", transactions: [good], tip: 999 },
    { reason: "tip_not_paid", transactions: [good], tip: 10_001 },
    { reason: "tip_not_paid", transactions: [signed(payer, blockhash, memo("no tip")).serialize()] },
    {
      reason: "tip_account_via_lookup_table",
      transactions: [throughTable(payer, blockhash, { key: table, writable: [0] })],
    },
    { reason: "tip_not_paid", transactions: [throughTable(payer, blockhash, { key: table, writable: [1] })] },
    { reason: "simulation_failed", transactions: [throughTable(payer, blockhash, { key: stranger, writable: [0] })] },
    {
      reason: "account_locks_exceeded",
      transactions: [throughTable(payer, blockhash, { key: table, readonly: sixtyFour })],
    },
    { reason: "compute_exceeded", transactions: [narrow(payer, blockhash)] },
    { reason: "simulation_failed", transactions: [signed(payer, blockhash, tip(payer), tooMuch(payer)).serialize()] },
    { reason: "target_slot_past", transactions: [good], targetSlot: slot - 1 },
    { reason: "target_slot_too_far", transactions: [good], targetSlot: slot + 600 },
    {
      reason: "front_run_protected",
      transactions: [good, signed(payer, blockhash, naming(tip(payer), dontFront)).serialize()],
    },
    { reason: "decryption_failed", transactions: [], sealed: new Uint8Array(1_100).fill(1) },
  ];
}

const sixtyFour = Array.from({ length: 64 }, (_, index) => index);

const tooMuch = (payer: Keypair) => pay(payer, stranger, 1e15);

function narrow(payer: Keypair, blockhash: string): Uint8Array {
  const units = ComputeBudgetProgram.setComputeUnitLimit({ units: 400 });
  return signed(payer, blockhash, units, tip(payer), memo("more than that")).serialize();
}

/** A transaction that takes accounts from a lookup table. */
function throughTable(
  payer: Keypair,
  blockhash: string,
  { key, writable = [], readonly = [] }: { key: PublicKey; writable?: number[]; readonly?: number[] },
): Uint8Array {
  const lookup: MessageAddressTableLookup = { accountKey: key, writableIndexes: writable, readonlyIndexes: readonly };
  const message = new MessageV0({
    header: { numRequiredSignatures: 1, numReadonlySignedAccounts: 0, numReadonlyUnsignedAccounts: 1 },
    staticAccountKeys: [payer.publicKey, new PublicKey(ComputeBudgetProgram.programId)],
    recentBlockhash: blockhash,
    compiledInstructions: [{ programIdIndex: 1, accountKeyIndexes: [], data: Uint8Array.of(2, 0, 0, 1, 0) }],
    addressTableLookups: [lookup],
  });
  const transaction = new VersionedTransaction(message);
  transaction.sign([payer]);
  return transaction.serialize();
}

/** A lookup table of a tip account and another one, which the chain has confirmed. */
async function lookupTable(chain: ChainReader, payer: Keypair): Promise<PublicKey> {
  const recentSlot = await chain.call("getSlot", { commitment: "finalized" });
  const authority = payer.publicKey;
  const [make, table] = AddressLookupTableProgram.createLookupTable({ authority, payer: authority, recentSlot });
  const addresses = [tipAccount, stranger];
  const fill = AddressLookupTableProgram.extendLookupTable({
    lookupTable: table,
    authority,
    payer: authority,
    addresses,
  });
  await chain.land(signed(payer, await chain.blockhash(), make, fill));
  return table;
}
