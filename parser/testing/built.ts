import type { ConfirmedTransaction, TokenBalance, TransactionMeta } from "@sluice/encode";
import { decodeAddress } from "@sluice/wire/base58";
import { addressOfBytes } from "@sluice/wire/identifiers";
import { encodeTransaction } from "@sluice/wire/transaction";

/** The key number `n`, of 32 equal bytes. */
export function key(n: number): string {
  return addressOfBytes(new Uint8Array(32).fill(n));
}

function bytesOf(address: string): Uint8Array {
  const bytes = decodeAddress(address);
  if (bytes === null) throw new TypeError(`no address: ${address}`);
  return bytes;
}

interface BuiltCall {
  readonly program: number;
  readonly accounts: readonly number[];
  readonly data: readonly number[];
}

interface Built {
  /** Keys in base58; the first pays the fee. */
  readonly keys: readonly string[];
  readonly calls: readonly BuiltCall[];
  readonly meta: Partial<TransactionMeta> & Pick<TransactionMeta, "preBalances" | "postBalances">;
}

/** A confirmed transaction that calls programs as stated. Its fee is 5,000 lamports unless `meta` says otherwise. */
export function built({ keys, calls, meta }: Built): ConfirmedTransaction {
  const bytes = encodeTransaction({
    message: {
      version: "legacy",
      numRequiredSignatures: 1,
      numReadonlySignedAccounts: 0,
      numReadonlyUnsignedAccounts: 0,
      staticKeys: keys.map(bytesOf),
      blockhash: new Uint8Array(32).fill(9),
      instructions: calls.map(({ program, accounts, data }) => ({
        programIndex: program,
        accountIndexes: Uint8Array.from(accounts),
        data: Uint8Array.from(data),
      })),
    },
    signatures: [new Uint8Array(64)],
  });
  return {
    signature: "1".repeat(64),
    bytes,
    meta: {
      error: null,
      fee: 5000n,
      preTokenBalances: [],
      postTokenBalances: [],
      innerInstructions: [],
      logs: [],
      loadedAddresses: { writable: [], readonly: [] },
      returnData: null,
      computeUnitsConsumed: 0n,
      costUnits: null,
      ...meta,
    },
  };
}

/** A token balance of six decimals. */
export function tokens(accountIndex: number, amount: bigint, more: Partial<TokenBalance> = {}): TokenBalance {
  return { accountIndex, amount, mint: key(50), owner: key(60 + accountIndex), programId: null, decimals: 6, ...more };
}

/** A u64 in little-endian bytes. */
export function u64(value: bigint): number[] {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, value, true);
  return [...bytes];
}
