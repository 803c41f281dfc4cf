import { isTokenAccountAt } from "@sluice/wire/accounts/token";
import { encodeBase58 } from "@sluice/wire/base58";
import { programs } from "@sluice/wire/programs";
import type { ChainAccount, TokenBalance } from "./records.ts";

const mintBytes = 82;
const multisigBytes = 355;
const accountTypeOffset = 165;
const accountTypeMint = 1;

/** Byte offsets of the token layouts. Source: SPL Token state, Account and Mint. */
const owner = 32;
export const tokenAmountOffset = 64;
const delegateTag = 72;
const mintSupply = 36;
const mintDecimals = 44;
const mintInitialized = 45;

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

/** Mint, owner and delegate of a token account; null for anything else. */
export function tokenKeys(account: ChainAccount): TokenKeys | null {
  if (!isTokenAccount(account)) return null;
  const { data } = account;
  return {
    mint: encodeBase58(data.subarray(0, 32)),
    owner: encodeBase58(data.subarray(owner, owner + 32)),
    delegate: data[delegateTag] === 1 ? encodeBase58(data.subarray(delegateTag + 4, delegateTag + 36)) : null,
  };
}

function u64(data: Uint8Array, offset: number): bigint {
  return new DataView(data.buffer, data.byteOffset, data.byteLength).getBigUint64(offset, true);
}

export function tokenAmount(account: ChainAccount): bigint {
  return u64(account.data, tokenAmountOffset);
}

/** Supply and decimals of an initialised mint; null for anything else. */
export function mintState(account: ChainAccount): { readonly supply: bigint; readonly decimals: number } | null {
  if (!isTokenProgram(account.owner)) return null;
  const { data } = account;
  if (data.length !== mintBytes && (data.length <= accountTypeOffset || data[accountTypeOffset] !== accountTypeMint)) {
    return null;
  }
  if (data.length === multisigBytes || data[mintInitialized] !== 1) return null;
  return { supply: u64(data, mintSupply), decimals: data[mintDecimals] ?? 0 };
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
