import type { ChainAccount } from "@sluice/svm";
import { decodeNonceAccount } from "@sluice/wire/accounts/native";
import { MalformedBytes } from "@sluice/wire/bytes";
import type { JsonObject } from "../json.ts";

/**
 * Presents an initialised nonce account, of the older or the current version. Other accounts of the System program with
 * data are not nonces: zeros would otherwise pass for an uninitialised one.
 */
export function parseNonceAccount(_address: string, account: ChainAccount): JsonObject {
  const initialized = decodeNonceAccount(account.data)?.initialized;
  if (initialized === null || initialized === undefined)
    throw new MalformedBytes("The account is no initialised nonce.");
  const { authority, nonce, lamportsPerSignature } = initialized;
  const feeCalculator = { lamportsPerSignature: lamportsPerSignature.toString() };
  return { type: "initialized", info: { authority, blockhash: nonce, feeCalculator } };
}
