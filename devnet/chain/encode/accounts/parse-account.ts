import type { ChainAccount } from "../../model.ts";
import type { AccountLookup, EncodeClock } from "../account.ts";
import { Unparsable } from "../byte-cursor.ts";
import type { JsonObject } from "../json.ts";
import { parseLookupTableAccount } from "./address-lookup-table.ts";
import { parseUpgradeableLoaderAccount } from "./bpf-upgradeable-loader.ts";
import { parseConfigAccount } from "./config.ts";
import { parseNonceAccount } from "./nonce.ts";
import { parseStakeAccount } from "./stake.ts";
import { parseSysvarAccount } from "./sysvar.ts";
import { parseTokenProgramAccount } from "./token.ts";
import { parseVoteAccount } from "./vote.ts";

/** What a program's parser may look at besides the account itself. */
export interface AccountContext {
  readonly lookup?: AccountLookup | undefined;
  readonly clock: EncodeClock;
}

/** Reads one program's accounts; throws `Unparsable` when the bytes are not one of them. */
export type AccountParser = (address: string, account: ChainAccount, context: AccountContext) => JsonObject;

interface KnownOwner {
  readonly program: string;
  readonly parse: AccountParser;
}

/** By owner. Of the System program's accounts only nonces have data that mean something. */
const OWNERS: ReadonlyMap<string, KnownOwner> = new Map<string, KnownOwner>([
  ["11111111111111111111111111111111", { program: "nonce", parse: parseNonceAccount }],
  ["AddressLookupTab1e1111111111111111111111111", { program: "address-lookup-table", parse: parseLookupTableAccount }],
  [
    "BPFLoaderUpgradeab1e11111111111111111111111",
    { program: "bpf-upgradeable-loader", parse: parseUpgradeableLoaderAccount },
  ],
  ["Config1111111111111111111111111111111111111", { program: "config", parse: parseConfigAccount }],
  ["Stake11111111111111111111111111111111111111", { program: "stake", parse: parseStakeAccount }],
  ["Sysvar1111111111111111111111111111111111111", { program: "sysvar", parse: parseSysvarAccount }],
  ["TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA", { program: "spl-token", parse: parseTokenProgramAccount }],
  ["TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb", { program: "spl-token-2022", parse: parseTokenProgramAccount }],
  ["Vote111111111111111111111111111111111111111", { program: "vote", parse: parseVoteAccount }],
]);

/** Presents an account by its owner's layout, or null where `jsonParsed` falls back to bytes. */
export function parseAccount(
  address: string,
  account: ChainAccount,
  context: AccountContext,
): { readonly program: string; readonly parsed: JsonObject } | null {
  const owner = OWNERS.get(account.owner);
  if (owner === undefined) return null;
  try {
    return { program: owner.program, parsed: owner.parse(address, account, context) };
  } catch (error) {
    if (error instanceof Unparsable) return null;
    throw error;
  }
}
