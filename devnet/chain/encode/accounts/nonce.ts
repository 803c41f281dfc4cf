import type { ChainAccount } from "../../model.ts";
import { ByteCursor, Unparsable } from "../byte-cursor.ts";
import type { JsonObject } from "../json.ts";

/**
 * Presents an initialised nonce account, of the older or the current version. Other accounts of the System program with
 * data are not nonces: zeros would otherwise pass for an uninitialised one.
 */
export function parseNonceAccount(_address: string, account: ChainAccount): JsonObject {
  const cursor = new ByteCursor(account.data);
  if (cursor.u32() > 1 || cursor.u32() !== 1) throw new Unparsable("The account is no initialised nonce.");
  const authority = cursor.address();
  const blockhash = cursor.address();
  const feeCalculator = { lamportsPerSignature: cursor.u64().toString() };
  return { type: "initialized", info: { authority, blockhash, feeCalculator } };
}
