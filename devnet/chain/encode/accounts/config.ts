import type { ChainAccount } from "../../model.ts";
import { ByteCursor, Unparsable } from "../byte-cursor.ts";
import type { JsonObject, JsonValue } from "../json.ts";

const STAKE_CONFIG = "StakeConfig11111111111111111111111111111111";
const VALIDATOR_INFO = "Va1idator1nfo111111111111111111111111111111";

function keyList(cursor: ByteCursor): { readonly pubkey: string; readonly signer: boolean }[] {
  let count = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = cursor.u8();
    count |= (byte & 0x7f) << shift;
    if (byte < 0x80) break;
    if (shift === 14) throw new Unparsable("The number of keys is too long.");
  }
  return cursor.list(count, 33, () => ({ pubkey: cursor.address(), signer: cursor.flag() }));
}

function parseText(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    throw new Unparsable("The validator's information is not JSON.");
  }
}

/** Presents the stake configuration, or what a validator publishes of itself; other configurations are not shown. */
export function parseConfigAccount(address: string, account: ChainAccount): JsonObject {
  const cursor = new ByteCursor(account.data);
  const keys = keyList(cursor);
  if (address === STAKE_CONFIG) {
    return { type: "stakeConfig", info: { warmupCooldownRate: cursor.f64(), slashPenalty: cursor.u8() } };
  }
  if (keys[0]?.pubkey !== VALIDATOR_INFO) throw new Unparsable("The configuration is not a validator's.");
  return { type: "validatorInfo", info: { keys, configData: parseText(cursor.text(cursor.u64())) } };
}
