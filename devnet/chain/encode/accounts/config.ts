import { ByteReader, MalformedBytes } from "@sluice/wire/bytes";
import { parseJsonExact } from "@sluice/wire/json";
import { programs } from "@sluice/wire/programs";
import type { ChainAccount } from "../../model/index.ts";
import { finite, type JsonObject, type JsonValue } from "../json.ts";

/** Nesting of what a validator publishes; far from what the serialiser takes. */
const depthMax = 64;
const validatorInfo = "Va1idator1nfo111111111111111111111111111111";

function keyList(cursor: ByteReader): { readonly pubkey: string; readonly signer: boolean }[] {
  let count = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = cursor.u8();
    count |= (byte & 0x7f) << shift;
    if (byte < 0x80) break;
    if (shift === 14) throw new MalformedBytes("The number of keys is too long.");
  }
  return cursor.list(count, 33, () => ({ pubkey: cursor.address(), signer: cursor.flag() }));
}

function parseText(text: string): JsonValue {
  const parsed = parseJsonExact(text, depthMax);
  if (!parsed.ok) throw new MalformedBytes("The validator's information is not JSON.");
  return parsed.value;
}

/** Presents the stake configuration, or what a validator publishes of itself; other configurations are not shown. */
export function parseConfigAccount(address: string, account: ChainAccount): JsonObject {
  const cursor = new ByteReader(account.data);
  const keys = keyList(cursor);
  if (address === programs.stakeConfig) {
    return { type: "stakeConfig", info: { warmupCooldownRate: finite(cursor.f64()), slashPenalty: cursor.u8() } };
  }
  if (keys[0]?.pubkey !== validatorInfo) throw new MalformedBytes("The configuration is not a validator's.");
  return { type: "validatorInfo", info: { keys, configData: parseText(cursor.text(cursor.u64())) } };
}
