import { describe, expect, test } from "bun:test";
import {
  address,
  type FixedSizeEncoder,
  getAddressEncoder,
  getBooleanEncoder,
  getNullableEncoder,
  getStructEncoder,
  getU8Encoder,
  getU32Encoder,
  getU64Encoder,
} from "@solana/kit";
import fc from "fast-check";
import { encodeBase58 } from "../base58.ts";
import { maxU64 } from "../identifiers.ts";
import { decodeMint, decodeMultisig, decodeTokenAccount } from "./token.ts";
import {
  decodeInterestBearingConfig,
  decodeMetadataPointer,
  decodeTokenExtensions,
  decodeTokenMetadata,
  decodeTransferFeeConfig,
  transferFeeFor,
} from "./token-extensions.ts";

/** The layouts written down a second time, in kit's codecs. */
const option = <Value>(encoder: FixedSizeEncoder<Value>) =>
  getNullableEncoder(encoder, { prefix: getU32Encoder(), noneValue: "zeroes" });
const key = getAddressEncoder();
const mintEncoder = getStructEncoder([
  ["mintAuthority", option(key)],
  ["supply", getU64Encoder()],
  ["decimals", getU8Encoder()],
  ["isInitialized", getBooleanEncoder()],
  ["freezeAuthority", option(key)],
]);
const accountEncoder = getStructEncoder([
  ["mint", key],
  ["owner", key],
  ["amount", getU64Encoder()],
  ["delegate", option(key)],
  ["state", getU8Encoder()],
  ["nativeReserve", option(getU64Encoder())],
  ["delegatedAmount", getU64Encoder()],
  ["closeAuthority", option(key)],
]);

const keys = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => address(encodeBase58(bytes)));
const u64 = fc.oneof(fc.bigInt({ min: 0n, max: maxU64 }), fc.constantFrom(0n, maxU64, 9007199254740993n));
const mints = fc.record({
  mintAuthority: fc.option(keys),
  supply: u64,
  decimals: fc.nat(255),
  isInitialized: fc.boolean(),
  freezeAuthority: fc.option(keys),
});
const accounts = fc.record({
  mint: keys,
  owner: keys,
  amount: u64,
  delegate: fc.option(keys),
  state: fc.nat(2),
  nativeReserve: fc.option(u64),
  delegatedAmount: u64,
  closeAuthority: fc.option(keys),
});
const runs = { seed: 20261120, numRuns: 200 };

const mintBytes = new Uint8Array(
  mintEncoder.encode({ mintAuthority: null, supply: maxU64, decimals: 9, isInitialized: true, freezeAuthority: null }),
);

/** A base, zeros up to the account type, and the extensions. */
function extended(base: Uint8Array, type: number, ...extensions: readonly [number, Uint8Array][]): Uint8Array {
  const entries = extensions.flatMap(([id, value]) => [
    id & 255,
    id >> 8,
    value.length & 255,
    value.length >> 8,
    ...value,
  ]);
  return Uint8Array.of(...base, ...new Uint8Array(165 - base.length), type, ...entries);
}

describe("bases", () => {
  test("a mint reads as it was written, u64 exact", () => {
    fc.assert(
      fc.property(mints, (mint) => {
        expect(decodeMint(new Uint8Array(mintEncoder.encode(mint)))).toEqual(Object(mint));
      }),
      runs,
    );
  });

  test("a token account reads as it was written, u64 exact", () => {
    fc.assert(
      fc.property(accounts, (account) => {
        const state = (["uninitialized", "initialized", "frozen"] as const)[account.state];
        const decoded = decodeTokenAccount(new Uint8Array(accountEncoder.encode(account)));
        expect(decoded).toEqual(Object({ ...account, state }));
      }),
      runs,
    );
  });

  test("a multisig has its signers and no others", () => {
    const bytes = new Uint8Array(355).fill(7);
    bytes.set([2, 3, 1]);
    const signer = encodeBase58(new Uint8Array(32).fill(7));
    expect(decodeMultisig(bytes)).toEqual(
      Object({ required: 2, isInitialized: true, signers: [signer, signer, signer] }),
    );
    expect(decodeMultisig(bytes.with(1, 12))).toBeNull();
    expect(decodeMultisig(bytes.with(0, 4))).toBeNull();
    expect(decodeMultisig(bytes.with(2, 2))).toBeNull();
    expect(decodeMultisig(bytes.slice(1))).toBeNull();
  });

  test("malformed data is null and never throws", () => {
    for (const [at, value] of [
      [0, 2],
      [3, 1],
      [45, 2],
      [46, 2],
    ] as const)
      expect(decodeMint(mintBytes.with(at, value))).toBeNull();
    const account = new Uint8Array(165).with(108, 1);
    expect(decodeTokenAccount(account)).not.toBeNull();
    for (const [at, value] of [
      [72, 2],
      [108, 3],
      [109, 2],
      [129, 255],
    ] as const)
      expect(decodeTokenAccount(account.with(at, value))).toBeNull();
    for (let length = 0; length < 400; length++) {
      const zeros = new Uint8Array(length);
      expect(decodeMint(zeros) !== null).toBe(length === 82);
      expect(decodeTokenAccount(zeros) !== null).toBe(length === 165);
      expect(decodeMultisig(zeros) !== null).toBe(length === 355);
    }
  });
});

describe("Token-2022", () => {
  test("the account type tells an extended mint from an extended account, and padding is zero", () => {
    const mint = extended(mintBytes, 1, [9, new Uint8Array(0)]);
    expect(decodeMint(mint)?.supply).toBe(maxU64);
    expect(decodeTokenAccount(mint)).toBeNull();
    expect(decodeMint(mint.with(165, 2))).toBeNull();
    expect(decodeMint(mint.with(100, 1))).toBeNull();
    // The length of a multisig is never that of an extended account.
    const padding = (length: number): Uint8Array => extended(mintBytes, 1, [999, new Uint8Array(length)]);
    expect([354, 355, 356].map((length) => decodeMint(padding(length - 170)) !== null)).toEqual([true, false, true]);
    const account = extended(new Uint8Array(165).with(108, 1), 2, [7, new Uint8Array(0)]);
    expect(account).toHaveLength(170);
    expect(decodeTokenAccount(account)?.state).toBe("initialized");
    expect(decodeMint(account)).toBeNull();
  });

  test("extensions come in order with views of their values; the list ends at type 0", () => {
    const data = extended(
      mintBytes,
      1,
      [3, new Uint8Array(32).fill(1)],
      [999, Uint8Array.of(1, 2)],
      [0, new Uint8Array(5)],
    );
    const extensions = decodeTokenExtensions(data);
    expect(extensions?.map(({ type, name, value }) => [type, name, value.length])).toEqual([
      [3, "mintCloseAuthority", 32],
      [999, "unknown", 2],
    ]);
    expect(extensions?.[0]?.value.buffer).toBe(data.buffer);
    expect(decodeTokenExtensions(mintBytes)).toEqual([]);
    expect(decodeTokenExtensions(Uint8Array.of(...data.subarray(0, 166), 1, 2, 3))).toEqual([]);
  });

  test("a broken list is null: cut values, wrong lengths, no such account", () => {
    const data = extended(mintBytes, 1, [3, new Uint8Array(32)]);
    expect(decodeTokenExtensions(data)).toHaveLength(1);
    for (let length = 170; length < data.length; length++)
      expect(decodeTokenExtensions(data.slice(0, length))).toBeNull();
    expect(decodeTokenExtensions(extended(mintBytes, 1, [3, new Uint8Array(31)]))).toBeNull();
    expect(decodeTokenExtensions(data.with(165, 3))).toBeNull();
    expect(decodeTokenExtensions(new Uint8Array(355))).toBeNull();
    expect(decodeTokenExtensions(new Uint8Array(10))).toBeNull();
  });

  test("a transfer fee is that of the epoch, rounded up and capped", () => {
    const value = new Uint8Array(108);
    const view = new DataView(value.buffer);
    value.fill(5, 0, 32);
    view.setBigUint64(64, 77n, true);
    view.setBigUint64(72, 10n, true);
    view.setBigUint64(80, 1000n, true);
    view.setUint16(88, 100, true);
    view.setBigUint64(90, 20n, true);
    view.setBigUint64(98, maxU64, true);
    view.setUint16(106, 250, true);
    const config = decodeTransferFeeConfig(value);
    if (config === null) throw new Error("not decoded");
    expect(config.withdrawWithheldAuthority).toBeNull();
    expect(config.withheldAmount).toBe(77n);
    expect(transferFeeFor(config, 19n, 1n)).toBe(1n);
    expect(transferFeeFor(config, 19n, 200n)).toBe(2n);
    expect(transferFeeFor(config, 19n, 10n ** 12n)).toBe(1000n);
    expect(transferFeeFor(config, 20n, 10n ** 12n)).toBe(25n * 10n ** 9n);
    expect(decodeTransferFeeConfig(value.slice(1))).toBeNull();
  });

  test("rates and pointers are read with their signs and absences", () => {
    const value = new Uint8Array(52);
    const view = new DataView(value.buffer);
    view.setBigInt64(32, -5n, true);
    view.setInt16(40, -32768, true);
    view.setBigInt64(42, 2n ** 62n, true);
    view.setInt16(50, -1, true);
    expect(decodeInterestBearingConfig(value)).toEqual({
      rateAuthority: null,
      initializedAt: -5n,
      preUpdateAverageRate: -32768,
      lastUpdatedAt: 2n ** 62n,
      currentRate: -1,
    });
    expect(decodeMetadataPointer(new Uint8Array(64))).toEqual({ authority: null, address: null });
    expect(decodeMetadataPointer(new Uint8Array(63))).toBeNull();
  });

  test("metadata is read to its end, and a cut or a lying length is null", () => {
    const text = (value: string): number[] => {
      const bytes = new TextEncoder().encode(value);
      return [bytes.length, 0, 0, 0, ...bytes];
    };
    const value = Uint8Array.from([
      ...new Uint8Array(32),
      ...new Uint8Array(32).fill(1),
      ...text("Näme"),
      ...text("SYM"),
      ...text("https://x"),
      ...[1, 0, 0, 0],
      ...text("k"),
      ...text(""),
    ]);
    expect(decodeTokenMetadata(value)).toMatchObject({
      updateAuthority: null,
      name: "Näme",
      uri: "https://x",
      additional: [["k", ""]],
    });
    for (let length = 0; length < value.length; length++)
      expect(decodeTokenMetadata(value.slice(0, length))).toBeNull();
    expect(decodeTokenMetadata(value.with(64, 255))).toBeNull();
    expect(decodeTokenMetadata(value.with(68, 0xff))).toBeNull();
  });
});
