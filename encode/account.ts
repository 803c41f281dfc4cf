import type { ChainAccount } from "@sluice/svm";
import { encodeBase58 } from "@sluice/wire/base58";
import type { AccountLookup, EncodeClock } from "./accounts/account-parser.ts";
import { parseAccount } from "./accounts/parse-account.ts";
import type { JsonObject, JsonValue } from "./json.ts";

export type AccountEncodingName = "binary" | "base58" | "base64" | "base64+zstd" | "jsonParsed";

export interface AccountOptions {
  readonly encoding: AccountEncodingName;
  readonly dataSlice?: { readonly offset: number; readonly length: number } | undefined;
  /** Finds the mint of a token account, without which `jsonParsed` cannot present it. */
  readonly lookup?: AccountLookup | undefined;
  readonly clock: EncodeClock;
}

export type AccountJson = {
  readonly lamports: bigint;
  readonly data: JsonValue;
  readonly owner: string;
  readonly executable: boolean;
  readonly rentEpoch: bigint;
  readonly space: bigint;
};

/** The answer that a node gives as -32600: base58 takes at most 128 bytes. */
export type AccountFault = { readonly fault: "too large for base58" };

/** Most bytes that `base58` and `binary` present, after slicing (source: Solana JSON-RPC, limits). */
const base58BytesMax = 128;

function slice(data: Uint8Array, dataSlice: AccountOptions["dataSlice"]): Uint8Array {
  if (dataSlice === undefined) return data;
  const { offset, length } = dataSlice;
  return data.subarray(offset, Math.min(offset + length, data.length));
}

function base64(bytes: Uint8Array): string {
  return bytes.toBase64();
}

/** A frame header without size: magic number, descriptor, and a window of 2 MiB, which the default level takes. */
const streamedHeader = Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58);
/** Bytes of a header's content size, by the two highest bits of its descriptor; a single segment has at least one. */
const sizeFieldBytes = [0, 2, 4, 8] as const;

/**
 * Compresses as Agave does, whose frames are written as a stream: they name a window and no content size.
 * Source: RFC 8878, 3.1.1.1.
 */
function zstd(bytes: Uint8Array): Uint8Array {
  const frame = Bun.zstdCompressSync(bytes);
  const descriptor = frame[4] ?? 0;
  const singleSegment = (descriptor & 0x20) !== 0;
  const sizeBytes = sizeFieldBytes[(descriptor >> 6) as 0 | 1 | 2 | 3] || (singleSegment ? 1 : 0);
  return Buffer.concat([streamedHeader, frame.subarray(5 + (singleSegment ? 0 : 1) + sizeBytes)]);
}

function encodeBytes(bytes: Uint8Array, encoding: AccountEncodingName): JsonValue | AccountFault {
  switch (encoding) {
    case "binary":
    case "base58": {
      if (bytes.length > base58BytesMax) return { fault: "too large for base58" };
      const text = encodeBase58(bytes);
      return encoding === "binary" ? text : [text, "base58"];
    }
    case "base64":
    case "jsonParsed":
      return [base64(bytes), "base64"];
    case "base64+zstd":
      return [base64(zstd(bytes)), "base64+zstd"];
  }
}

function isFault(data: JsonValue | AccountFault): data is AccountFault {
  return typeof data === "object" && data !== null && "fault" in data;
}

/**
 * Presents an account as Solana RPC does. `jsonParsed` ignores `dataSlice` where the owner's program is known, and
 * otherwise falls back to base64 of the slice; `space` is always the whole length.
 * Source: Solana JSON-RPC, account encoding.
 */
export function encodeAccount(
  address: string,
  account: ChainAccount,
  options: AccountOptions,
): AccountJson | AccountFault {
  const space = BigInt(account.data.length);
  const parsed = options.encoding === "jsonParsed" ? parseAccount(address, account, options) : null;
  let data: JsonValue | AccountFault;
  if (parsed === null) {
    data = encodeBytes(slice(account.data, options.dataSlice), options.encoding);
    if (isFault(data)) return data;
  } else {
    data = { program: parsed.program, parsed: parsed.parsed satisfies JsonObject, space };
  }
  const { lamports, owner, executable, rentEpoch } = account;
  return { lamports, data, owner, executable, rentEpoch, space };
}
