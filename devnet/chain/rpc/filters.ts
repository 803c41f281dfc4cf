import { decodeBase58 } from "@sluice/wire/base58";
import type { AccountFilter } from "../accounts/index.ts";
import type { JsonObject, JsonValue } from "../encode/index.ts";
import { invalidParams } from "./errors.ts";
import { listValue, objectValue, stringValue, u64Value, unknownVariant, wrongType } from "./params.ts";

export const FILTERS_MAX = 4;
const MEMCMP_BYTES_MAX = 128;
const MEMCMP_BASE58_MAX = 175;
const MEMCMP_BASE64_MAX = 172;

function tooMuch(): Error {
  return invalidParams("Invalid param: DataTooLarge");
}

function bytesOfList(list: readonly JsonValue[]): Uint8Array {
  if (list.length > MEMCMP_BYTES_MAX) throw tooMuch();
  return Uint8Array.from(list, (entry) => {
    const byte = u64Value(entry);
    if (byte > 255n) throw invalidParams(`Invalid params: invalid value: integer \`${byte}\`, expected u8.`);
    return Number(byte);
  });
}

function bytesOfText(text: string, encoding: string): Uint8Array {
  if (encoding === "base64") {
    if (text.length > MEMCMP_BASE64_MAX) throw tooMuch();
    if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) throw invalidParams("Invalid param: Invalid");
    return new Uint8Array(Buffer.from(text, "base64"));
  }
  if (text.length > MEMCMP_BASE58_MAX) throw tooMuch();
  const bytes = decodeBase58(text, MEMCMP_BASE58_MAX);
  if (bytes === null) throw invalidParams("Invalid param: Invalid");
  return bytes;
}

function memcmpFilter(memcmp: JsonObject): AccountFilter {
  if (memcmp["offset"] === undefined) throw invalidParams("Invalid params: missing field `offset`.");
  const offset = u64Value(memcmp["offset"], "usize");
  const given = memcmp["bytes"];
  if (Array.isArray(given)) return { kind: "memcmp", offset, bytes: bytesOfList(given) };
  if (given === undefined) throw invalidParams("Invalid params: missing field `bytes`.");
  const encoding =
    memcmp["encoding"] === undefined || memcmp["encoding"] === null ? "base58" : stringValue(memcmp["encoding"]);
  if (encoding !== "base58" && encoding !== "base64") throw unknownVariant(encoding, ["base58", "base64", "bytes"]);
  const bytes = bytesOfText(stringValue(given), encoding);
  if (bytes.length > MEMCMP_BYTES_MAX) throw tooMuch();
  return { kind: "memcmp", offset, bytes };
}

function accountFilter(value: JsonValue): AccountFilter {
  if (typeof value === "string") {
    if (value === "tokenAccountState") return { kind: "tokenAccountState" };
    throw unknownVariant(value, ["dataSize", "memcmp", "tokenAccountState"]);
  }
  const filter = objectValue(value, "enum RpcFilterType");
  const [name] = Object.keys(filter);
  if (name === "dataSize") return { kind: "dataSize", size: u64Value(filter["dataSize"]) };
  if (name === "memcmp") return memcmpFilter(objectValue(filter["memcmp"], "struct Memcmp"));
  if (name === undefined) throw wrongType(value, "enum RpcFilterType");
  throw unknownVariant(name, ["dataSize", "memcmp", "tokenAccountState"]);
}

/** The filters of getProgramAccounts and programSubscribe: at most four, all of which must hold. */
export function accountFilters(config: JsonObject | null): readonly AccountFilter[] {
  const given = config?.["filters"];
  if (given === undefined || given === null) return [];
  const list = listValue(given);
  if (list.length > FILTERS_MAX) throw invalidParams(`Too many filters provided; max ${FILTERS_MAX}`);
  return list.map(accountFilter);
}
