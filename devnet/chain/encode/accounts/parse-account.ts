import type { ChainAccount } from "../../model.ts";
import type { AccountLookup, EncodeClock } from "../account.ts";
import { Unparsable } from "../byte-cursor.ts";
import type { JsonObject } from "../json.ts";

/** What a program's parser may look at besides the account itself. */
export interface AccountContext {
  readonly lookup?: AccountLookup | undefined;
  readonly clock: EncodeClock;
}

/** Reads one program's accounts; throws `Unparsable` when the bytes are not one of them. */
export type AccountParser = (address: string, account: ChainAccount, context: AccountContext) => JsonObject;

const PARSERS: ReadonlyMap<string, { readonly program: string; readonly parse: AccountParser }> = new Map([]);

/** Presents an account by its owner's layout, or null where `jsonParsed` falls back to bytes. */
export function parseAccount(
  address: string,
  account: ChainAccount,
  context: AccountContext,
): { readonly program: string; readonly parsed: JsonObject } | null {
  const parser = PARSERS.get(account.owner);
  if (parser === undefined) return null;
  try {
    return { program: parser.program, parsed: parser.parse(address, account, context) };
  } catch (error) {
    if (error instanceof Unparsable) return null;
    throw error;
  }
}
