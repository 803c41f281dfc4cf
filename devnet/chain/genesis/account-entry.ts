import { decodeBase58 } from "@sluice/wire/base58";
import { maxU64 } from "@sluice/wire/identifiers";
import type { JsonValue } from "@sluice/wire/json";
import type { ChainAccount } from "../model/index.ts";
import { address, base64, flag, type Of, optional, type Reading, record, type Shape, u64 } from "./shapes.ts";

/** What the chain allows an account. */
export const accountBytesMax = 10 * 1_024 * 1_024;
/** Source: Solana JSON-RPC, limits of base58 account data; Solana's tools write longer data as base64. */
const base58BytesMax = 128;

function bounded(bytes: Uint8Array | undefined, path: string, reading: Reading): Uint8Array | undefined {
  if (bytes === undefined || bytes.length <= accountBytesMax) return bytes;
  return reading.fault(path, `expected at most ${accountBytesMax} bytes`);
}

/** The longest base64 text is bounded by the file; the data by what the chain allows an account. */
const data: Shape<Uint8Array> = {
  read: (value, path, reading) => bounded(base64.read(value, path, reading), path, reading),
};

function decompressed(bytes: Uint8Array | undefined): Uint8Array | null {
  try {
    return bytes === undefined ? null : new Uint8Array(Bun.zstdDecompressSync(bytes));
  } catch {
    return null;
  }
}

/** `[text, encoding]` as Solana's RPC writes account data: base64, base64+zstd or base58. */
const encodedData: Shape<Uint8Array> = {
  read(value, path, reading) {
    const [text, encoding, ...more] = Array.isArray(value) ? (value as readonly JsonValue[]) : [];
    if (typeof text !== "string" || more.length > 0) return reading.fault(path, "expected [text, encoding]");
    if (encoding === "base64") return data.read(text, path, reading);
    if (encoding === "base58") {
      return decodeBase58(text, base58BytesMax) ?? reading.fault(path, `expected base58 of ${base58BytesMax} bytes`);
    }
    if (encoding !== "base64+zstd") return reading.fault(path, "expected base64, base64+zstd or base58");
    const bytes = decompressed(data.read(text, path, reading));
    return bytes === null ? reading.fault(path, "expected a zstd frame") : bounded(bytes, path, reading);
  },
};

/** An epoch. JavaScript writes the largest u64 as 18446744073709552000, so what is above it stands for it. */
const rentEpoch: Shape<bigint> = {
  read(value, path, reading) {
    const above = (typeof value === "bigint" || typeof value === "number") && value > maxU64;
    return above ? maxU64 : u64().read(value, path, reading);
  },
};

const own = record({
  address,
  lamports: u64(1n),
  owner: address,
  data: optional(data, new Uint8Array()),
  executable: optional(flag, false),
  rentEpoch: optional(rentEpoch, maxU64),
});

/** Members that say nothing new are taken, whatever they hold. */
const ignored = optional<unknown, null>({ read: (value) => value ?? null }, null);

const ofTools = record({
  pubkey: address,
  account: record({
    lamports: u64(1n),
    owner: address,
    data: encodedData,
    executable: flag,
    rentEpoch,
    space: ignored,
  }),
});

function isOfTools(value: JsonValue | undefined): boolean {
  return typeof value === "object" && value !== null && Object.hasOwn(value, "pubkey");
}

/** An account that the chain begins with. */
export type AccountEntry = Of<typeof own>;

/**
 * An account in the form of a genesis file, or in the one that `solana account --output json` writes and
 * `solana-test-validator --account` reads: `{ pubkey, account: { lamports, data, owner, executable, rentEpoch } }`.
 */
export const accountEntry: Shape<AccountEntry> = {
  read(value, path, reading) {
    if (!isOfTools(value)) return own.read(value, path, reading);
    const found = ofTools.read(value, path, reading);
    if (found === undefined) return undefined;
    const { space: _, ...account } = found.account;
    return { address: found.pubkey, ...account };
  },
};

export function accountOf({ address: _, ...account }: AccountEntry): ChainAccount {
  return account;
}
