import { encodeBase58 } from "@sluice/wire/base58";
import { programs } from "@sluice/wire/programs";
import type { ChainAccount, TokenBalance } from "./records.ts";

const MINT_BYTES = 82;
const TOKEN_ACCOUNT_BYTES = 165;
const MULTISIG_BYTES = 355;
const ACCOUNT_TYPE_OFFSET = 165;
const ACCOUNT_TYPE_MINT = 1;
const ACCOUNT_TYPE_ACCOUNT = 2;

/** Byte offsets of the token layouts. Source: SPL Token state, Account and Mint. */
const OWNER = 32;
export const TOKEN_AMOUNT_OFFSET = 64;
const DELEGATE_TAG = 72;
const STATE = 108;
const MINT_SUPPLY = 36;
const MINT_DECIMALS = 44;
const MINT_INITIALIZED = 45;

export interface TokenKeys {
  readonly mint: string;
  readonly owner: string;
  readonly delegate: string | null;
}

export function isTokenProgram(program: string): boolean {
  return program === programs.token || program === programs.token2022;
}

/** Whether the bytes are a token account that is initialised or frozen, of either token program. */
export function isTokenAccount(account: ChainAccount): boolean {
  if (!isTokenProgram(account.owner)) return false;
  return isTokenAccountAt(account.data, 0, account.data.length);
}

/** The same of `length` bytes from `start` on, whoever owns them: the filter `tokenAccountState` asks for no more. */
export function isTokenAccountAt(bytes: Uint8Array, start: number, length: number): boolean {
  if (length < TOKEN_ACCOUNT_BYTES || length === MULTISIG_BYTES) return false;
  if (length > TOKEN_ACCOUNT_BYTES && bytes[start + ACCOUNT_TYPE_OFFSET] !== ACCOUNT_TYPE_ACCOUNT) return false;
  return bytes[start + STATE] === 1 || bytes[start + STATE] === 2;
}

/** Mint, owner and delegate of a token account; null for anything else. */
export function tokenKeys(account: ChainAccount): TokenKeys | null {
  if (!isTokenAccount(account)) return null;
  const { data } = account;
  return {
    mint: encodeBase58(data.subarray(0, 32)),
    owner: encodeBase58(data.subarray(OWNER, OWNER + 32)),
    delegate: data[DELEGATE_TAG] === 1 ? encodeBase58(data.subarray(DELEGATE_TAG + 4, DELEGATE_TAG + 36)) : null,
  };
}

function u64(data: Uint8Array, offset: number): bigint {
  return new DataView(data.buffer, data.byteOffset, data.byteLength).getBigUint64(offset, true);
}

export function tokenAmount(account: ChainAccount): bigint {
  return u64(account.data, TOKEN_AMOUNT_OFFSET);
}

/** Supply and decimals of an initialised mint; null for anything else. */
export function mintState(account: ChainAccount): { readonly supply: bigint; readonly decimals: number } | null {
  if (!isTokenProgram(account.owner)) return null;
  const { data } = account;
  if (
    data.length !== MINT_BYTES &&
    (data.length <= ACCOUNT_TYPE_OFFSET || data[ACCOUNT_TYPE_OFFSET] !== ACCOUNT_TYPE_MINT)
  ) {
    return null;
  }
  if (data.length === MULTISIG_BYTES || data[MINT_INITIALIZED] !== 1) return null;
  return { supply: u64(data, MINT_SUPPLY), decimals: data[MINT_DECIMALS] ?? 0 };
}

/** Token balances of a transaction's keys, as its meta lists them. Accounts whose mint is not readable are left out. */
export function tokenBalances(
  keys: readonly string[],
  read: (address: string) => ChainAccount | null,
): readonly TokenBalance[] {
  const balances: TokenBalance[] = [];
  keys.forEach((address, accountIndex) => {
    const account = read(address);
    if (account === null) return;
    const token = tokenKeys(account);
    if (token === null) return;
    const mintAccount = read(token.mint);
    const mint = mintAccount === null ? null : mintState(mintAccount);
    if (mint === null) return;
    const { owner: programId } = account;
    balances.push({
      accountIndex,
      mint: token.mint,
      owner: token.owner,
      programId,
      amount: tokenAmount(account),
      decimals: mint.decimals,
    });
  });
  return balances;
}
