import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { decodeAddress } from "../base58.ts";
import { addressOfBytes, isAddress } from "../identifiers.ts";
import { nameServices, nameSuffixes } from "../name-services.ts";
import { programs } from "../programs.ts";
import {
  decodeHandleAccount,
  decodeNameRegistry,
  decodeReverseName,
  encodeHandleAccount,
  encodeNameRegistry,
  encodeReverseName,
  handleAccountSize,
  nameRegistryAddress,
  reverseRegistryAddress,
} from "./name-registry.ts";

const sha256 = (bytes: Uint8Array): Uint8Array => new Uint8Array(createHash("sha256").update(bytes).digest());
const key = (text: string): Uint8Array => {
  const bytes = decodeAddress(text);
  if (bytes === null) throw new Error(`${text} is no address`);
  return bytes;
};
const mainnet = key("nameQyUhZQQgnirGbbJRR9ECWSdq1W7mMaNUZZTBvtq");
const testnet = key("HoxHN4YSynWfdS3fuB2RtBQsMjTKX3Vn3vdyafq4iXZG");
const sns = key(programs.nameService);
const derive = (name: string, parent: Uint8Array | undefined, program: Uint8Array): string =>
  addressOfBytes(nameRegistryAddress(name, parent === undefined ? {} : { parent }, program, sha256));

describe("known addresses", () => {
  const solRoot = key("58PwtjSDuFHuUkYjH9BYnnQKHfwo9reZhC2zMJv9JPkx");
  const bonfida = key("Crf8hzfthWGbGbLTVCiqRqV5MVnbpHB1L9KQMd6gsinb");
  const reverseClass = key("33m47vH6Eav6jr5Ry86XjhRft2jRBLDnDgPSHoquXi2Z");
  const root = key("4NG35LXbtyamuoyjarMf5f78esyWxWhSDHxqbAU5yZTk");

  test.each([
    ["bonfida.sol", derive("bonfida", solRoot, sns), "Crf8hzfthWGbGbLTVCiqRqV5MVnbpHB1L9KQMd6gsinb"],
    ["dex.bonfida.sol", derive("\0dex", bonfida, sns), "HoFfFXqFHAC8RP3duuQNzag1ieUwJRBv1HtRNiWFq4Qu"],
    ["root x1 on mainnet", derive("x1", undefined, mainnet), "4NG35LXbtyamuoyjarMf5f78esyWxWhSDHxqbAU5yZTk"],
    ["root xnt on mainnet", derive("xnt", undefined, mainnet), "6sHoWK6ht73Pb4y6yA7Sw8iP7DxS45gGp1fH3zWYn56V"],
    ["root xen on mainnet", derive("xen", undefined, mainnet), "3SUwpSz33AsyJwf6B48cKZuDTswuUEdUhcXszZrFWPqo"],
    ["root x1 on testnet", derive("x1", undefined, testnet), "BbrgDv4sEJy56j4kjRvdrgRSgc64uVfRUHJZdAGKpsHe"],
    ["root xnt on testnet", derive("xnt", undefined, testnet), "cWFaxno1Z66PkUtPpYP9bZTHT9APHJsaF4rrTDmu1rA"],
    ["root xen on testnet", derive("xen", undefined, testnet), "D3ZszkssvoQeZ93xixc3miGz73Fng75qQJoTJwxbRVwS"],
    ["alice.x1", derive("alice", root, mainnet), "5WL7dMKKM87JJWWVy2ebsrtXzLf5a9PiBJMGbfXFFVFo"],
    ["jack.x1", derive("jack", root, mainnet), "HweMkg84XdzzjC4DiAZsKa2J3CKSnSVFyJeGuWzQZrEn"],
    [
      "blog.alice.x1",
      derive("\0blog", key(derive("alice", root, mainnet)), mainnet),
      "DwwbBW2NGhy9qPaTaS9wMb9eJWSVBPP2cPm8QuFmTvgN",
    ],
  ])("%s", (_name, derived, expected) => expect(derived).toBe(expected));

  test("reverse registries of a domain and of a sub-domain", () => {
    const ofDomain = reverseRegistryAddress(bonfida, { reverseClass }, sns, sha256);
    expect(addressOfBytes(ofDomain) as string).toBe("DqgmWxe2PPrfy45Ja3UPyFGwcbRzkRuwXt3NyxjX8krg");
    const sub = key("HoFfFXqFHAC8RP3duuQNzag1ieUwJRBv1HtRNiWFq4Qu");
    const ofSub = reverseRegistryAddress(sub, { reverseClass, parent: bonfida }, sns, sha256);
    expect(addressOfBytes(ofSub) as string).toBe("6tAdEpjsrzHuRqJW3XMXEV7DFyCWW4giW6mW4bgvhcYV");
  });
});

test("a registry's header is read back, and zeros are nobody", () => {
  const bytes = encodeNameRegistry({ parent: mainnet, owner: testnet, data: encodeReverseName("alice") });
  const registry = decodeNameRegistry(bytes);
  expect(registry).toMatchObject({ parent: addressOfBytes(mainnet), owner: addressOfBytes(testnet), class: null });
  expect(registry === null ? null : decodeReverseName(registry)).toBe("alice");
  expect(decodeNameRegistry(bytes.subarray(0, 95))).toBeNull();
  expect(decodeNameRegistry(new Uint8Array(96))).toMatchObject({ parent: null, owner: null, class: null });
});

test("a reverse name that is cut, too long or no UTF-8 is none; a sub-domain's prefix is taken off", () => {
  const read = (data: Uint8Array): string | null => {
    const registry = decodeNameRegistry(encodeNameRegistry({ owner: mainnet, data }));
    return registry === null ? null : decodeReverseName(registry);
  };
  expect(read(encodeReverseName("\0dex"))).toBe("dex");
  expect(read(encodeReverseName("dex").subarray(0, 6))).toBeNull();
  expect(read(Uint8Array.of(0xff, 0xff, 0xff, 0xff, 1))).toBeNull();
  expect(read(Uint8Array.of(1, 0, 0, 0, 0xff))).toBeNull();
  expect(read(new Uint8Array(3))).toBeNull();
});

describe("a handle account", () => {
  const tag = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8);
  const data = encodeHandleAccount({ tag, owner: mainnet, name: "alice" });
  const changed = (at: number, byte: number): Uint8Array => {
    const copy = data.slice();
    copy[at] = byte;
    return copy;
  };

  test("is read back", () => {
    expect([data.length, data.subarray(0, 8)]).toEqual([handleAccountSize, tag] as never);
    expect(decodeHandleAccount(data)).toEqual({ owner: addressOfBytes(mainnet), name: "alice" });
  });
  test("is null when cut, of another version, or with a name that does not fill its room rightly", () => {
    for (const bad of [
      data.subarray(0, 73),
      changed(8, 2),
      changed(41, 0),
      changed(41, 33),
      changed(41, 4),
      changed(73, 1),
    ])
      expect(decodeHandleAccount(bad)).toBeNull();
    const nameless = data.slice();
    nameless.fill(0, 41);
    expect(decodeHandleAccount(nameless)).toBeNull();
  });
  test("has no owner once closed", () => {
    expect(decodeHandleAccount(new Uint8Array(74))).toEqual({ owner: null, name: "" });
    const marked = data.slice();
    marked.fill(0xff, 0, 8);
    expect(decodeHandleAccount(marked)).toEqual({ owner: null, name: "" });
  });
});

test("the services' ids are addresses, and suffixes are the three that exist", () => {
  for (const { nameProgram, reverseClass, handleProgram } of nameServices)
    for (const id of [nameProgram, reverseClass, handleProgram]) expect(id === null || isAddress(id)).toBe(true);
  expect(nameSuffixes).toEqual(["x1", "xnt", "xen"]);
});
