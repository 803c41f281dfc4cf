import { describe, expect, test } from "bun:test";
import type { ChainAccount } from "@sluice/svm";
import { maxU64 } from "@sluice/wire/identifiers";
import { programs } from "@sluice/wire/programs";
import { type AccountOptions, encodeAccount } from "./account.ts";
import { A, B } from "./testing/keys.ts";

const clock = { epoch: 5n, unixTimestamp: 1_700_000_000n };

function account(data: Uint8Array, owner: string = B): ChainAccount {
  return { lamports: 9007199254740993n, data, owner, executable: false, rentEpoch: maxU64 };
}

function dataOf(data: Uint8Array, options: Omit<AccountOptions, "clock">, owner?: string): unknown {
  const encoded = encodeAccount(A, account(data, owner), { ...options, clock });
  return "fault" in encoded ? encoded.fault : encoded.data;
}

const bytes = Uint8Array.from({ length: 10 }, (_, index) => index);

test("an account has its six members, with u64 values exact and the whole length as its space", () => {
  expect(encodeAccount(A, account(bytes), { encoding: "base64", dataSlice: { offset: 2, length: 3 }, clock })).toEqual({
    lamports: 9007199254740993n,
    data: ["AgME", "base64"],
    owner: B,
    executable: false,
    rentEpoch: 18446744073709551615n,
    space: 10n,
  });
});

describe("encodings", () => {
  test("binary is plain base58 text, the others are pairs", () => {
    expect(dataOf(bytes, { encoding: "binary" })).toBe("1kA3B2yGe2z4");
    expect(dataOf(bytes, { encoding: "base58" })).toEqual(["1kA3B2yGe2z4", "base58"]);
    expect(dataOf(bytes, { encoding: "base64" })).toEqual(["AAECAwQFBgcICQ==", "base64"]);
    expect(dataOf(new Uint8Array(), { encoding: "binary" })).toBe("");
  });

  test("base64+zstd is the frame that a stream of unknown length begins with", () => {
    // As Agave answers for an account of these bytes.
    expect(dataOf(new TextEncoder().encode("test data"), { encoding: "base64+zstd" })).toEqual([
      "KLUv/QBYSQAAdGVzdCBkYXRh",
      "base64+zstd",
    ]);
  });

  test.each([0, 1, 255, 256, 65_791, 65_792, 3_000_000])("base64+zstd of %d bytes is read back", (size) => {
    const bytes = Uint8Array.from({ length: size }, (_, at) => (at * 31) ^ (at >> 8));
    const [text] = dataOf(bytes, { encoding: "base64+zstd" }) as [string, string];
    expect(Buffer.from(Bun.zstdDecompressSync(Buffer.from(text, "base64"))).equals(Buffer.from(bytes))).toBe(true);
  });

  test("base64+zstd is a frame of which the content is the data", () => {
    const [text, name] = dataOf(new Uint8Array(5000).fill(7), { encoding: "base64+zstd" }) as [string, string];
    expect(name).toBe("base64+zstd");
    expect(text.length).toBeLessThan(100);
    expect(new Uint8Array(Bun.zstdDecompressSync(Buffer.from(text, "base64")))).toEqual(new Uint8Array(5000).fill(7));
  });

  test("base58 takes 128 bytes after slicing and no more", () => {
    for (const encoding of ["binary", "base58"] as const) {
      expect(dataOf(new Uint8Array(129), { encoding })).toBe("too large for base58");
      expect(dataOf(new Uint8Array(128), { encoding })).not.toBe("too large for base58");
      const dataSlice = { offset: 1, length: 128 };
      expect(dataOf(new Uint8Array(5000), { encoding, dataSlice })).not.toBe("too large for base58");
    }
  });

  test("a slice past the end is empty or short, never an error", () => {
    const slice = (offset: number, length: number) =>
      dataOf(bytes, { encoding: "base64", dataSlice: { offset, length } });
    expect(slice(10, 5)).toEqual(["", "base64"]);
    expect(slice(99, 5)).toEqual(["", "base64"]);
    expect(slice(8, 5)).toEqual(["CAk=", "base64"]);
    expect(slice(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)).toEqual(["", "base64"]);
  });

  test("jsonParsed falls back to base64 of the slice where the owner or the data are not known", () => {
    const dataSlice = { offset: 0, length: 3 };
    expect(dataOf(bytes, { encoding: "jsonParsed", dataSlice })).toEqual(["AAEC", "base64"]);
    expect(dataOf(bytes, { encoding: "jsonParsed", dataSlice }, programs.stake)).toEqual(["AAEC", "base64"]);
  });

  test("jsonParsed ignores the slice where the data are known", () => {
    const data = new Uint8Array(200);
    const dataSlice = { offset: 0, length: 3 };
    expect(dataOf(data, { encoding: "jsonParsed", dataSlice }, programs.stake)).toEqual({
      program: "stake",
      parsed: { type: "uninitialized" },
      space: 200n,
    });
  });
});
