import type { ChainAccount } from "@sluice/svm";
import { ByteReader, MalformedBytes } from "@sluice/wire/bytes";
import { parseJsonExact } from "@sluice/wire/json";
import type { JsonObject, JsonValue } from "../json.ts";

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

/** Presents what a validator publishes of itself. Agave 4 shows no other configuration, the stake's included. */
export function parseConfigAccount(_address: string, account: ChainAccount): JsonObject {
  const cursor = new ByteReader(account.data);
  const keys = keyList(cursor);
  if (keys[0]?.pubkey !== validatorInfo) throw new MalformedBytes("The configuration is not a validator's.");
  return { type: "validatorInfo", info: { keys, configData: parseText(cursor.text(cursor.u64())) } };
}
