import type { ChainAccount } from "@sluice/svm";
import type { JsonObject } from "../json.ts";

/** Finds an account by its address; null when there is none. */
export type AccountLookup = (address: string) => ChainAccount | null;

/** The time at the bank that answers: interest-bearing and scaled mints present amounts by it. */
export interface EncodeClock {
  readonly epoch: bigint;
  /** Unix seconds. */
  readonly unixTimestamp: bigint;
}

/** The data that a program's parser may read besides the account itself. */
export interface AccountContext {
  readonly lookup?: AccountLookup | undefined;
  readonly clock: EncodeClock;
}

/** Reads one program's accounts; throws `MalformedBytes` when the bytes are not one of them. */
export type AccountParser = (address: string, account: ChainAccount, context: AccountContext) => JsonObject;
