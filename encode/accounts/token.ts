import type { ChainAccount } from "@sluice/svm";
import { decodeMint, decodeMultisig, decodeTokenAccount, type Mint } from "@sluice/wire/accounts/token";
import {
  decodeInterestBearingConfig,
  decodeTokenExtensions,
  type TokenExtension,
} from "@sluice/wire/accounts/token-extensions";
import { ByteReader, MalformedBytes } from "@sluice/wire/bytes";
import { type AmountRule, ruledTokenAmount, type UiTokenAmount, uiTokenAmount } from "../amount.ts";
import type { JsonObject } from "../json.ts";
import type { AccountContext } from "./account-parser.ts";
import { presentExtension } from "./token-extension.ts";

/** A mint that is initialised, with its extensions; null for other data. */
interface ReadyMint extends Mint {
  readonly extensions: readonly TokenExtension[];
}

/** A list that is broken or holds a type without a name counts as empty. */
function extensionsOf(data: Uint8Array): readonly TokenExtension[] {
  const extensions = decodeTokenExtensions(data) ?? [];
  return extensions.some((extension) => extension.name === "unknown") ? [] : extensions;
}

function readMint(data: Uint8Array): ReadyMint | null {
  const mint = decodeMint(data);
  return mint?.isInitialized === true ? { ...mint, extensions: extensionsOf(data) } : null;
}

/** Interest goes before scaling; a mint with neither shows plain amounts. */
function amountRule(mint: ReadyMint): AmountRule | null {
  const value = (name: string) => mint.extensions.find((extension) => extension.name === name)?.value;
  const interest = value("interestBearingConfig");
  const config = interest === undefined ? null : decodeInterestBearingConfig(interest);
  if (config !== null) {
    const { initializedAt, preUpdateAverageRate: averageRateBefore, lastUpdatedAt: updatedAt, currentRate } = config;
    return { kind: "interest", initializedAt, averageRateBefore, updatedAt, currentRate };
  }
  const scale = value("scaledUiAmountConfig");
  if (scale === undefined) return null;
  const cursor = new ByteReader(scale, 32);
  const multiplier = cursor.f64();
  const newMultiplierAt = cursor.i64();
  return { kind: "scale", multiplier, newMultiplierAt, newMultiplier: cursor.f64() };
}

function amountOf(mint: ReadyMint, amount: bigint, unixTimestamp: bigint): UiTokenAmount {
  const rule = amountRule(mint);
  if (rule === null) return uiTokenAmount(amount, mint.decimals);
  return ruledTokenAmount(amount, mint.decimals, rule, unixTimestamp);
}

/**
 * Presents raw units of the given mint, with its interest or scaling at `unixTimestamp` (seconds); null when the
 * account is no initialised mint. For getTokenSupply, getTokenAccountBalance and getTokenLargestAccounts.
 */
export function mintTokenAmount(amount: bigint, mint: ChainAccount, unixTimestamp: bigint): UiTokenAmount | null {
  const layout = readMint(mint.data);
  return layout === null ? null : amountOf(layout, amount, unixTimestamp);
}

/** Presents an account of either token program. A token account needs its mint, which `lookup` finds. */
export function parseTokenProgramAccount(_address: string, account: ChainAccount, context: AccountContext): JsonObject {
  const { data } = account;
  const token = decodeTokenAccount(data);
  if (token !== null && token.state !== "uninitialized") {
    const mintAccount = context.lookup?.(token.mint) ?? null;
    const mint = mintAccount === null ? null : readMint(mintAccount.data);
    if (mint === null) throw new MalformedBytes("The mint is not known.");
    const shown = (amount: bigint) => amountOf(mint, amount, context.clock.unixTimestamp);
    const { delegate, nativeReserve, closeAuthority } = token;
    const extensions = extensionsOf(data).map((extension) => presentExtension(extension, "account"));
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
  const mint = readMint(data);
  return mint === null ? presentMultisig(data) : presentMint(mint);
}

function presentMint(mint: ReadyMint): JsonObject {
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
  const multisig = decodeMultisig(data);
  if (multisig?.isInitialized !== true) throw new MalformedBytes("The account is none of the token program's.");
  const { required, signers } = multisig;
  const info = { numRequiredSigners: required, numValidSigners: signers.length, isInitialized: true, signers };
  return { type: "multisig", info };
}
