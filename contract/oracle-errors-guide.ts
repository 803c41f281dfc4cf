import { type EngineErrorCode, engineErrorTable } from "./engine.ts";
import { engineErrorDocsPath } from "./engine-errors-guide.ts";
import { type ErrorCode, errorDocsPage, errorDocsPath, errorTable } from "./errors.ts";
import type { ErrorGuide } from "./errors-guide.ts";
import { type OracleErrorCode, oracleErrorCodes } from "./oracle.ts";

/** A code that only the oracle has; the others mean what they mean at the gateway or the block engine. */
export type OracleOwnCode = Exclude<OracleErrorCode, ErrorCode | EngineErrorCode>;

/** The codes that only the oracle has, in the order of its table. */
export const oracleOwnCodes = oracleErrorCodes.filter(
  (code): code is OracleOwnCode => !(code in errorTable) && !(code in engineErrorTable),
);

/** Where the page of errors explains a code of the oracle. */
export function oracleErrorDocsPath(code: OracleErrorCode): string {
  if (code in errorTable) return errorDocsPath(code as ErrorCode);
  if (code in engineErrorTable) return engineErrorDocsPath(code as EngineErrorCode);
  return `${errorDocsPage}#${code.toLowerCase().replaceAll("_", "-")}`;
}

/** What each code of `oracleOwnCodes` means, and what a client does about it. */
export const oracleErrorGuide: Readonly<Record<OracleOwnCode, ErrorGuide>> = {
  INVALID_PARAMETER: {
    meaning:
      "A parameter of the path or the query, or a message of the stream, is missing, unknown or out of its bounds.",
    remedy: "Correct the parameter that the message names.",
  },
  TOO_MANY_SYMBOLS: {
    meaning: "One request, or one subscription of the stream, names more than 50 symbols.",
    remedy: "Ask for them in several requests, or for all of them where the path exists.",
  },
  INSUFFICIENT_TIER: {
    meaning:
      "The account's subscription to the oracle does not include this: history older than its tier keeps, or the stream.",
    remedy:
      "Ask for less, or have the account moved to a higher tier of the oracle; `details` names what the tier has.",
  },
  INVALID_SYMBOL: {
    meaning: "The oracle has no such symbol; `details` lists those that it has.",
    remedy: "Use a symbol of the list: `BTC` in the first variant, `BTC-USD` in the second.",
  },
  QUOTA_EXCEEDED: {
    meaning: "The requests of the account's month are used up.",
    remedy:
      "Wait until `Retry-After`, which is the end of the month in UTC, or have the account moved to a higher tier.",
  },
  PRICE_UNAVAILABLE: {
    meaning:
      "Too few fresh sources agree on the symbol's price; `details` tells why and when the last good price was. A guess is never served.",
    remedy: "Try again after `Retry-After`; decide by the age of the last price whether to go on with it.",
  },
  SERVICE_UNAVAILABLE: {
    meaning: "A store that the oracle needs did not answer.",
    remedy: "Try again after `Retry-After`.",
  },
};
