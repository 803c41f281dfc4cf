import { type ConfirmedBlock, packBlock } from "@sluice/encode";
import { encodeBase58 } from "@sluice/wire/base58";
import { encodeTransaction } from "@sluice/wire/transaction";
import type { BlockHeader, LogRecord, Stage } from "../../log/index.ts";

/** Bytes that follow from a text alone. */
const bytesOf = (text: string, length: number): Uint8Array =>
  new Uint8Array(new Bun.CryptoHasher(length === 64 ? "sha512" : "sha256").update(text).digest());

/** A transfer of lamports between two accounts of its own, or of accounts that are named. */
export function transferOf(name: string, accounts: { readonly from?: string; readonly to?: string } = {}) {
  const data = new Uint8Array(12);
  data[0] = 2;
  const amount = 1_000n;
  new DataView(data.buffer).setBigUint64(4, amount, true);
  const signature = bytesOf(`signature ${name}`, 64);
  const bytes = encodeTransaction({
    signatures: [signature],
    message: {
      version: "legacy",
      numRequiredSignatures: 1,
      numReadonlySignedAccounts: 0,
      numReadonlyUnsignedAccounts: 1,
      staticKeys: [
        bytesOf(accounts.from ?? `from ${name}`, 32),
        bytesOf(accounts.to ?? `to ${name}`, 32),
        new Uint8Array(32),
      ],
      blockhash: bytesOf("recent", 32),
      instructions: [{ programIndex: 2, accountIndexes: [0, 1], data }],
    },
  });
  const meta = {
    error: null,
    fee: 5_000n,
    preBalances: [1_000_000n, 2_000n, 1n],
    postBalances: [1_000_000n - amount - 5_000n, 2_000n + amount, 1n],
    preTokenBalances: [],
    postTokenBalances: [],
    innerInstructions: [],
    logs: ["Program 11111111111111111111111111111111 invoke [1]", "Program 11111111111111111111111111111111 success"],
    loadedAddresses: { writable: [], readonly: [] },
    returnData: null,
    computeUnitsConsumed: 150n,
    costUnits: 1_479n,
  };
  return { signature: encodeBase58(signature), bytes, meta };
}

/** The block that a header is of: transfers that follow from its hash. */
export function blockOfHeader(header: BlockHeader): ConfirmedBlock {
  const names = Array.from({ length: header.transactions }, (_, index) => `${header.blockhash} ${index}`);
  return {
    slot: header.slot,
    parentSlot: header.parentSlot,
    blockhash: header.blockhash,
    previousBlockhash: header.parentBlockhash,
    blockTime: header.blockTime,
    blockHeight: header.height,
    transactions: names.map((name) => transferOf(name)),
    rewards: [
      {
        pubkey: encodeBase58(bytesOf("leader", 32)),
        lamports: 1n,
        postBalance: 2n,
        rewardType: "Fee",
        commission: null,
      },
    ],
  };
}

export const blockRecord = (header: BlockHeader, stage: Stage = "confirmed"): LogRecord => ({
  kind: "block",
  header,
  stage,
  body: packBlock(blockOfHeader(header)),
});
