import type { ChainAccount } from "@sluice/svm";
import { ByteReader, MalformedBytes } from "@sluice/wire/bytes";
import type { JsonObject } from "../json.ts";

function code(cursor: ByteReader): readonly string[] {
  return [Buffer.from(cursor.rest()).toString("base64"), "base64"];
}

/**
 * Presents an account of the upgradeable loader. The code is what follows the header as it is written: without an
 * authority the header is 32 bytes shorter.
 */
export function parseUpgradeableLoaderAccount(_address: string, account: ChainAccount): JsonObject {
  const cursor = new ByteReader(account.data);
  switch (cursor.u32()) {
    case 0:
      return { type: "uninitialized" };
    case 1: {
      const authority = cursor.optional(() => cursor.address());
      return { type: "buffer", info: { authority, data: code(cursor) } };
    }
    case 2:
      return { type: "program", info: { programData: cursor.address() } };
    case 3: {
      const slot = cursor.u64();
      const authority = cursor.optional(() => cursor.address());
      return { type: "programData", info: { slot, authority, data: code(cursor) } };
    }
    default:
      throw new MalformedBytes("The loader's state is unknown.");
  }
}
