import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { ByteWriter } from "../bytes.ts";
import { decodeMetaplexMetadata, metaplexMetadataAddress } from "./metaplex.ts";

const sha256 = (bytes: Uint8Array): Uint8Array => createHash("sha256").update(bytes).digest();

/** A metadata account, with its texts padded as the program stores them. */
function metadata({ tail = Uint8Array.of() }: { readonly tail?: Uint8Array } = {}): Uint8Array {
  const writer = new ByteWriter().u8(4).bytes(new Uint8Array(32).fill(1)).bytes(new Uint8Array(32).fill(2));
  for (const [value, length] of [
    ["Ape", 32],
    ["APE", 10],
    ["https://a.example/1.json", 200],
  ] as const) {
    const padded = new Uint8Array(length);
    padded.set(new TextEncoder().encode(value));
    writer.u32(length).bytes(padded);
  }
  writer.u16(500).u8(1).u32(1).bytes(new Uint8Array(32).fill(3)).u8(1).u8(100);
  return writer.u8(0).u8(1).bytes(tail).finish();
}

test("a metadata account gives its texts without padding, royalties, creators, standard and collection", () => {
  const tail = new ByteWriter().u8(1).u8(255).u8(1).u8(4).u8(1).u8(1).bytes(new Uint8Array(32).fill(5)).finish();
  const decoded = decodeMetaplexMetadata(metadata({ tail }));
  expect(decoded).toMatchObject({
    name: "Ape",
    symbol: "APE",
    uri: "https://a.example/1.json",
    sellerFeeBasisPoints: 500,
    primarySaleHappened: false,
    isMutable: true,
    tokenStandard: "ProgrammableNonFungible",
    collection: { isVerified: true },
  });
  expect(decoded?.creators).toMatchObject([{ isVerified: true, share: 100 }]);
});

test("an old account without what came later has neither standard nor collection", () => {
  expect(decodeMetaplexMetadata(metadata())).toMatchObject({ tokenStandard: null, collection: null });
});

test("bytes that are cut anywhere, or of another kind, are none", () => {
  const whole = metadata();
  for (let length = 0; length < whole.length; length += 1) {
    expect(decodeMetaplexMetadata(whole.subarray(0, length))).toBeNull();
  }
  expect(decodeMetaplexMetadata(Uint8Array.of(6, ...whole.subarray(1)))).toBeNull();
});

test("the address of a mint's metadata is that which a real transaction names", () => {
  expect(metaplexMetadataAddress("9wpkPsddRdfhUWfrt1rErZCsWSeHHRcN4LRyK7ZgHCkN", sha256)).toBe(
    "GJemTjvAJNqbT54NVzCJc7DNvp1RuLUUqCNmSuaNajzF" as never,
  );
  expect(metaplexMetadataAddress("nothing", sha256)).toBeNull();
});
