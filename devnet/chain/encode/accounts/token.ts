import type { ChainAccount } from "../../model.ts";
import { type AmountRule, ruledTokenAmount, type UiTokenAmount, uiTokenAmount } from "../amount.ts";
import { ByteCursor, Unparsable } from "../byte-cursor.ts";
import type { JsonObject } from "../json.ts";
import type { AccountContext } from "./parse-account.ts";
import { presentExtension } from "./token-extension.ts";
import { type MintLayout, readMint, readMultisig, readTokenAccount } from "./token-layout.ts";

const INTEREST_BEARING = 10;
const SCALED_UI_AMOUNT = 25;

/** Reads `data` with `read`, or gives null where they are something else. */
function attempt<T>(read: (data: Uint8Array) => T, data: Uint8Array): T | null {
  try {
    return read(data);
  } catch (error) {
    if (error instanceof Unparsable) return null;
    throw error;
  }
}

/** Interest goes before scaling; a mint with neither shows plain amounts. */
function amountRule(mint: MintLayout): AmountRule | null {
  const interest = mint.extensions.find((extension) => extension.type === INTEREST_BEARING)?.value;
  if (interest?.length === 52) {
    const cursor = new ByteCursor(interest, 32);
    const initializedAt = cursor.i64();
    const averageRateBefore = cursor.i16();
    const updatedAt = cursor.i64();
    return { kind: "interest", initializedAt, averageRateBefore, updatedAt, currentRate: cursor.i16() };
  }
  const scale = mint.extensions.find((extension) => extension.type === SCALED_UI_AMOUNT)?.value;
  if (scale?.length === 56) {
    const cursor = new ByteCursor(scale, 32);
    const multiplier = cursor.f64();
    const newMultiplierAt = cursor.i64();
    return { kind: "scale", multiplier, newMultiplierAt, newMultiplier: cursor.f64() };
  }
  return null;
}

function amountOf(mint: MintLayout, amount: bigint, unixTimestamp: bigint): UiTokenAmount {
  const rule = amountRule(mint);
  if (rule === null) return uiTokenAmount(amount, mint.decimals);
  return ruledTokenAmount(amount, mint.decimals, rule, unixTimestamp);
}

/**
 * Presents raw units of the given mint, with its interest or scaling at `unixTimestamp` (seconds); null when the account
 * is no initialised mint. For getTokenSupply, getTokenAccountBalance and getTokenLargestAccounts.
 */
export function mintTokenAmount(amount: bigint, mint: ChainAccount, unixTimestamp: bigint): UiTokenAmount | null {
  const layout = attempt(readMint, mint.data);
  return layout === null ? null : amountOf(layout, amount, unixTimestamp);
}

/** Presents an account of either token program. A token account needs its mint, which `lookup` finds. */
export function parseTokenProgramAccount(_address: string, account: ChainAccount, context: AccountContext): JsonObject {
  const { data } = account;
  const token = attempt(readTokenAccount, data);
  if (token !== null) {
    const mintAccount = context.lookup?.(token.mint) ?? null;
    const mint = mintAccount === null ? null : attempt(readMint, mintAccount.data);
    if (mint === null) throw new Unparsable("The mint is not known.");
    const shown = (amount: bigint) => amountOf(mint, amount, context.clock.unixTimestamp);
    const { delegate, nativeReserve, closeAuthority } = token;
    const extensions = token.extensions.map((extension) => presentExtension(extension, "account"));
    const info = {
      mint: token.mint,
      owner: token.owner,
      tokenAmount: shown(token.amount),
      ...(delegate !== null && { delegate }),
      state: token.state,
      isNative: nativeReserve !== null,
      ...(nativeReserve !== null && { rentExemptReserve: shown(nativeReserve) }),
      ...(delegate !== null && { delegatedAmount: shown(token.delegatedAmount) }),
      ...(closeAuthority !== null && { closeAuthority }),
      ...(extensions.length > 0 && { extensions }),
    };
    return { type: "account", info };
  }
  const mint = attempt(readMint, data);
  return mint === null ? presentMultisig(data) : presentMint(mint);
}

function presentMint(mint: MintLayout): JsonObject {
  const extensions = mint.extensions.map((extension) => presentExtension(extension, "mint"));
  const info = {
    mintAuthority: mint.mintAuthority,
    supply: mint.supply.toString(),
    decimals: mint.decimals,
    isInitialized: true,
    freezeAuthority: mint.freezeAuthority,
    ...(extensions.length > 0 && { extensions }),
  };
  return { type: "mint", info };
}

function presentMultisig(data: Uint8Array): JsonObject {
  const { required, valid, signers } = readMultisig(data);
  const info = { numRequiredSigners: required, numValidSigners: valid, isInitialized: true, signers };
  return { type: "multisig", info };
}
