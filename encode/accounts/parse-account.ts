import type { ChainAccount } from "@sluice/svm";
import { MalformedBytes } from "@sluice/wire/bytes";
import { programs, sysvars } from "@sluice/wire/programs";
import type { JsonObject } from "../json.ts";
import type { AccountContext, AccountParser } from "./account-parser.ts";
import { parseLookupTableAccount } from "./address-lookup-table.ts";
import { parseUpgradeableLoaderAccount } from "./bpf-upgradeable-loader.ts";
import { parseConfigAccount } from "./config.ts";
import { parseNonceAccount } from "./nonce.ts";
import { parseStakeAccount } from "./stake.ts";
import { parseSysvarAccount } from "./sysvar.ts";
import { parseTokenProgramAccount } from "./token.ts";
import { parseVoteAccount } from "./vote.ts";

interface KnownOwner {
  readonly program: string;
  readonly parse: AccountParser;
}

/** By owner. Of the System program's accounts only nonces have data that mean something. */
const owners: ReadonlyMap<string, KnownOwner> = new Map<string, KnownOwner>([
  [programs.system, { program: "nonce", parse: parseNonceAccount }],
  [programs.addressLookupTable, { program: "address-lookup-table", parse: parseLookupTableAccount }],
  [programs.bpfLoaderUpgradeable, { program: "bpf-upgradeable-loader", parse: parseUpgradeableLoaderAccount }],
  [programs.config, { program: "config", parse: parseConfigAccount }],
  [programs.stake, { program: "stake", parse: parseStakeAccount }],
  [sysvars.owner, { program: "sysvar", parse: parseSysvarAccount }],
  [programs.token, { program: "spl-token", parse: parseTokenProgramAccount }],
  [programs.token2022, { program: "spl-token-2022", parse: parseTokenProgramAccount }],
  [programs.vote, { program: "vote", parse: parseVoteAccount }],
]);

/** Presents an account by its owner's layout, or null where `jsonParsed` falls back to bytes. */
export function parseAccount(
  address: string,
  account: ChainAccount,
  context: AccountContext,
): { readonly program: string; readonly parsed: JsonObject } | null {
  const owner = owners.get(account.owner);
  if (owner === undefined) return null;
  try {
    return { program: owner.program, parsed: owner.parse(address, account, context) };
  } catch (error) {
    if (error instanceof MalformedBytes) return null;
    throw error;
  }
}
