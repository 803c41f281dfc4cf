import { readU64 } from "@sluice/wire/bytes";
import { type Address, parseAddress } from "@sluice/wire/identifiers";
import { type ChainValue, memberOf } from "../chain/index.ts";
import { malformedAnswer, type StakePoolChain } from "./account-reads.ts";

/** Where a token account has its amount. Source: spl-token, `Account`. */
const amountSlice = { offset: 64, length: 8 } as const;

/** Tokens of a mint that a wallet holds, in the smallest unit. */
export interface WalletTokens {
  readonly amount: bigint;
  /** The token accounts that hold them, the fullest first, empty ones included. */
  readonly accounts: readonly Address[];
}

/** Reads the tokens of a mint in all token accounts of a wallet. */
export async function walletTokens(
  chain: StakePoolChain,
  { wallet, mint }: { readonly wallet: Address; readonly mint: Address },
): Promise<WalletTokens> {
  const method = "getTokenAccountsByOwner";
  const options = { encoding: "base64", commitment: "confirmed", dataSlice: { ...amountSlice } };
  const rows = memberOf(await chain.read(method, [wallet, { mint }, options]), "value");
  if (!Array.isArray(rows)) throw malformedAnswer(method);
  const accounts = (rows as readonly ChainValue[]).map((row) => {
    const data = memberOf(memberOf(row, "account"), "data");
    const [text] = Array.isArray(data) ? data : [];
    const bytes = typeof text === "string" ? Uint8Array.fromBase64(text) : new Uint8Array(0);
    const address = parseAddress(memberOf(row, "pubkey"));
    if (address === null || bytes.length !== amountSlice.length) throw malformedAnswer(method);
    return { address, amount: readU64(bytes, 0) };
  });
  return {
    amount: accounts.reduce((sum, { amount }) => sum + amount, 0n),
    accounts: accounts
      .toSorted((one, other) => (one.amount === other.amount ? 0 : one.amount < other.amount ? 1 : -1))
      .map(({ address }) => address),
  };
}
