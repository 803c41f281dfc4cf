import { expect, test } from "bun:test";
import { addressOfBytes } from "../identifiers.ts";
import { decodeMplCore } from "./mpl-core.ts";

/** Accounts as the program's own client serialises them; keys are 32 times the same byte. */
const plainHex = [
  "0101010101010101010101010101010101010101010101010101010101010101010202020202020202020202020202020202",
  "02020202020202020202020202020202030000004170651300000068747470733a2f2f612e6578616d706c652f3100",
].join("");
const assetHex = [
  "0101010101010101010101010101010101010101010101010101010101010101010202020202020202020202020202020202",
  "02020202020202020202020202020202030000004170651300000068747470733a2f2f612e6578616d706c652f3100034701",
  "00000000000000f4010200000003030303030303030303030303030303030303030303030303030303030303033c04040404",
  "0404040404040404040404040404040404040404040404040404040428020100000009090909090909090909090909090909",
  "0909090909090909090909090909090901010306020000000300000068617403000000726564040000006579657300000000",
  "09070000000c0d02000000030303030303030303030303030303030303030303030303030303030303030301040404040404",
  "040404040404040404040404040404040404040404040404040400040700000000026a000000000000000101d80000000000",
  "000003030505050505050505050505050505050505050505050505050505050505050505da000000000000000600db000000",
  "000000000902fa000000000000000c02ff000000000000000d02000100000000000000000000",
].join("");
const collectionHex = [
  "0506060606060606060606060606060606060606060606060606060606060606060400000041706573130000006874747073",
  "3a2f2f612e6578616d706c652f630a0000000900000003870000000000000000fa0001000000060606060606060606060606",
  "060606060606060606060606060606060606060664000a016400000001010000004d00040200000000025100000000000000",
  "0a027a0000000000000000000000",
].join("");

const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, "hex"));
const key = (byte: number) => addressOfBytes(new Uint8Array(32).fill(byte));

test("an asset without plugins gives its owner, collection and texts", () => {
  expect(decodeMplCore(bytes(plainHex))).toEqual({
    kind: "asset",
    owner: key(1),
    updateAuthority: { kind: "collection", address: key(2) },
    name: "Ape",
    uri: "https://a.example/1",
    plugins: {
      names: [],
      royalties: null,
      isFrozen: false,
      transferDelegate: null,
      attributes: [],
      edition: null,
      masterEdition: null,
      isImmutable: false,
      verifiedCreators: [],
    },
  });
});

test("an asset gives what its plugins say, wherever the registry puts them", () => {
  expect(decodeMplCore(bytes(assetHex))).toMatchObject({
    kind: "asset",
    plugins: {
      names: [
        "royalties",
        "freezeDelegate",
        "transferDelegate",
        "attributes",
        "edition",
        "immutableMetadata",
        "verifiedCreators",
      ],
      royalties: {
        basisPoints: 500,
        creators: [
          { address: key(3), share: 60 },
          { address: key(4), share: 40 },
        ],
      },
      isFrozen: true,
      transferDelegate: { kind: "address", address: key(5) },
      attributes: [
        { key: "hat", value: "red" },
        { key: "eyes", value: "" },
      ],
      edition: 7,
      isImmutable: true,
      verifiedCreators: [
        { address: key(3), isVerified: true },
        { address: key(4), isVerified: false },
      ],
    },
  });
});

test("a collection gives its authority, counts, royalties and largest number of editions", () => {
  expect(decodeMplCore(bytes(collectionHex))).toMatchObject({
    kind: "collection",
    updateAuthority: key(6),
    name: "Apes",
    uri: "https://a.example/c",
    minted: 10,
    size: 9,
    plugins: { royalties: { basisPoints: 250 }, masterEdition: { maxSupply: 100 } },
  });
});

test("bytes that are cut anywhere, or of another kind, are none, and no offset leads beyond them", () => {
  for (const hex of [assetHex, collectionHex]) {
    const whole = bytes(hex);
    // Behind the account's own fields a cut leaves an account without plugins, or none.
    const own = whole.indexOf(3, 60);
    for (let length = 0; length < whole.length; length += 1) {
      const decoded = decodeMplCore(whole.subarray(0, length));
      if (length < Math.min(own, 60)) expect(decoded).toBeNull();
    }
    for (let at = 0; at < whole.length; at += 1) {
      for (const value of [0, 0x7f, 0xff])
        decodeMplCore(Uint8Array.from(whole, (byte, index) => (index === at ? value : byte)));
    }
    expect(decodeMplCore(Uint8Array.of(2, ...whole.subarray(1)))).toBeNull();
  }
});
