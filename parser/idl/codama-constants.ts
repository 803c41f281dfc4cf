import { decodeBase58 } from "@sluice/wire/base58";
import type { FileValue } from "./file-value.ts";
import type { IdlType } from "./types.ts";

/** Types of a file by their names. */
export type Types = ReadonlyMap<string, IdlType>;

const bytesMax = 32;

/**
 * The bytes of a constant of a root node of Codama: a number, bytes, a variant of an enum without a value, or a list of
 * these.
 *
 * @throws {IdlFault}
 */
export function constantBytes(value: FileValue, stated: IdlType, types: Types): Uint8Array {
  const type = stated.kind === "named" ? (types.get(stated.name) ?? stated) : stated;
  switch (value.member("kind").text()) {
    case "numberValueNode":
      if (type.kind !== "number") throw value.fault("must have a number as its type");
      return numberBytes(value.member("number").count(Number.MAX_SAFE_INTEGER), type);
    case "enumValueNode":
      return variantBytes(value, type);
    case "bytesValueNode": {
      const data = value.member("data");
      return bounded(encodedBytes(data, value.member("encoding").text()), data);
    }
    case "arrayValueNode": {
      if (type.kind !== "list") throw value.fault("must have a list as its type");
      const items = value.member("items");
      const bytes = items
        .list()
        .slice(0, bytesMax + 1)
        .map((item) => constantBytes(item, type.item, types));
      return bounded(Buffer.concat(bytes), items);
    }
    default:
      throw value.fault("must be a number, bytes, a variant of an enum, or a list");
  }
}

function variantBytes(value: FileValue, type: IdlType): Uint8Array {
  if (type.kind !== "choice") throw value.fault("must have an enum as its type");
  const name = value.member("variant").text();
  const variant = type.variants.find((each) => each.name === name);
  if (variant === undefined) throw value.member("variant").fault(`names no variant: ${name}`);
  if (variant.value !== null) throw value.fault("must be a variant without a value");
  return numberBytes(variant.number, { bytes: type.bytes, bigEndian: false });
}

function bounded(bytes: Uint8Array | null, value: FileValue): Uint8Array {
  if (bytes === null || bytes.length === 0 || bytes.length > bytesMax) {
    throw value.fault(`must be 1 to ${bytesMax} bytes`);
  }
  return bytes;
}

function numberBytes(value: number, { bytes, bigEndian }: { bytes: number; bigEndian: boolean }): Uint8Array {
  const written = new Uint8Array(bytes);
  let rest = BigInt(value);
  for (let at = 0; at < bytes; at += 1, rest >>= 8n) written[bigEndian ? bytes - 1 - at : at] = Number(rest & 255n);
  return written;
}

function encodedBytes(data: FileValue, encoding: string): Uint8Array | null {
  const text = data.text();
  switch (encoding) {
    case "base16":
      return /^([0-9a-f]{2})+$/i.test(text) ? Uint8Array.fromHex(text) : null;
    case "base64":
      return /^[A-Za-z0-9+/]+=*$/.test(text) && text.length % 4 === 0 ? Uint8Array.fromBase64(text) : null;
    case "base58":
      return decodeBase58(text);
    case "utf8":
      return new TextEncoder().encode(text);
    default:
      return null;
  }
}
