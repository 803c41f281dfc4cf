import { readU64 } from "@sluice/wire/bytes";
import type { Address } from "@sluice/wire/identifiers";
import { type ChainValue, memberOf } from "../chain/index.ts";
import { malformedAnswer, type StakePoolChain } from "./account-reads.ts";

/** Where a token account has its amount. Source: spl-token, `Account`. */
const amountSlice = { offset: 64, length: 8 } as const;

/** Tokens of a mint in all token accounts of a wallet, in the smallest unit. */
export async function walletTokens(
  chain: StakePoolChain,
  { wallet, mint }: { readonly wallet: Address; readonly mint: Address },
): Promise<bigint> {
  const method = "getTokenAccountsByOwner";
  const options = { encoding: "base64", commitment: "confirmed", dataSlice: { ...amountSlice } };
  const rows = memberOf(await chain.read(method, [wallet, { mint }, options]), "value");
  if (!Array.isArray(rows)) throw malformedAnswer(method);
  return (rows as readonly ChainValue[]).reduce<bigint>((sum, row) => {
    const data = memberOf(memberOf(row, "account"), "data");
    const [text] = Array.isArray(data) ? data : [];
    const bytes = typeof text === "string" ? Uint8Array.fromBase64(text) : new Uint8Array(0);
    if (bytes.length !== amountSlice.length) throw malformedAnswer(method);
    return sum + readU64(bytes, 0);
  }, 0n);
}
