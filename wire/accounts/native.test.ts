import { describe, expect, test } from "bun:test";
import {
  address,
  type Encoder,
  getAddressEncoder,
  getArrayEncoder,
  getF64Encoder,
  getI64Encoder,
  getNullableEncoder,
  getStructEncoder,
  getU8Encoder,
  getU16Encoder,
  getU32Encoder,
  getU64Encoder,
} from "@solana/kit";
import { encodeBase58 } from "../base58.ts";
import { maxU64 } from "../identifiers.ts";
import { decodeAddressLookupTable, decodeNonceAccount, decodeStakeAccount } from "./native.ts";
import { decodeVoteAccount } from "./vote.ts";

const key = (fill: number) => address(encodeBase58(new Uint8Array(32).fill(fill)));
const bytesOf = <Value>(encoder: Encoder<Value>, value: Value): Uint8Array => new Uint8Array(encoder.encode(value));
const join = (...parts: readonly Uint8Array[]): Uint8Array => Uint8Array.from(parts.flatMap((part) => [...part]));
const padded = (bytes: Uint8Array, size: number): Uint8Array => join(bytes, new Uint8Array(size - bytes.length));
const u64 = (value: bigint): Uint8Array => bytesOf(getU64Encoder(), value);
const u32 = (value: number): Uint8Array => bytesOf(getU32Encoder(), value);
const address32 = (fill: number): Uint8Array => new Uint8Array(32).fill(fill);

describe("nonce and lookup table", () => {
  test("a nonce account gives its nonce, or null inside while uninitialised", () => {
    const data = join(u32(1), u32(1), address32(1), address32(2), u64(maxU64));
    expect(decodeNonceAccount(data)).toEqual(
      Object({ version: "current", initialized: { authority: key(1), nonce: key(2), lamportsPerSignature: maxU64 } }),
    );
    expect(decodeNonceAccount(data.with(4, 0))?.initialized).toBeNull();
    expect(decodeNonceAccount(data.with(0, 0))?.version).toBe("legacy");
    for (const bad of [data.with(0, 2), data.with(4, 2), data.slice(1), new Uint8Array(0)])
      expect(decodeNonceAccount(bad)).toBeNull();
  });

  test("a lookup table gives its addresses in order", () => {
    const header = padded(join(u32(1), u64(maxU64), u64(9n), Uint8Array.of(3, 1), address32(7)), 56);
    const data = join(header, address32(1), address32(2));
    expect(decodeAddressLookupTable(data)).toEqual(
      Object({
        deactivationSlot: maxU64,
        lastExtendedSlot: 9n,
        lastExtendedStartIndex: 3,
        authority: key(7),
        addresses: [key(1), key(2)],
      }),
    );
    expect(decodeAddressLookupTable(data.with(21, 0))?.authority).toBeNull();
    expect(decodeAddressLookupTable(header)?.addresses).toEqual([]);
    const full = join(header, new Uint8Array(256 * 32));
    expect(decodeAddressLookupTable(full)?.addresses).toHaveLength(256);
    const bad = [data.with(0, 0), data.with(21, 2), data.slice(0, -1), header.slice(1), join(full, address32(0))];
    for (const broken of bad) expect(decodeAddressLookupTable(broken)).toBeNull();
  });
});

describe("stake", () => {
  const encoder = getStructEncoder([
    ["state", getU32Encoder()],
    ["rentExemptReserve", getU64Encoder()],
    ["staker", getAddressEncoder()],
    ["withdrawer", getAddressEncoder()],
    ["unixTimestamp", getI64Encoder()],
    ["lockupEpoch", getU64Encoder()],
    ["custodian", getAddressEncoder()],
    ["voter", getAddressEncoder()],
    ["stake", getU64Encoder()],
    ["activationEpoch", getU64Encoder()],
    ["deactivationEpoch", getU64Encoder()],
    ["rate", getF64Encoder()],
    ["creditsObserved", getU64Encoder()],
    ["flags", getU8Encoder()],
  ]);
  const data = padded(
    bytesOf(encoder, {
      state: 2,
      rentExemptReserve: 2_282_880n,
      staker: key(1),
      withdrawer: key(2),
      unixTimestamp: -1n,
      lockupEpoch: 5n,
      custodian: key(3),
      voter: key(4),
      stake: maxU64 - 1n,
      activationEpoch: 700n,
      deactivationEpoch: maxU64,
      rate: 0.25,
      creditsObserved: 9007199254740993n,
      flags: 1,
    }),
    200,
  );
  const meta = {
    rentExemptReserve: 2_282_880n,
    staker: key(1),
    withdrawer: key(2),
    lockup: { unixTimestamp: -1n, epoch: 5n, custodian: key(3) },
  };

  test("a delegation is read whole, an initialised account without one", () => {
    expect(decodeStakeAccount(data)).toEqual(
      Object({
        state: "delegated",
        meta,
        delegation: {
          voter: key(4),
          stake: maxU64 - 1n,
          activationEpoch: 700n,
          deactivationEpoch: maxU64,
          creditsObserved: 9007199254740993n,
          flags: 1,
        },
      }),
    );
    expect(decodeStakeAccount(data.with(0, 1))).toEqual(Object({ state: "initialized", meta }));
    expect(decodeStakeAccount(data.with(0, 0))).toEqual({ state: "uninitialized" });
    expect(decodeStakeAccount(data.with(0, 3))).toEqual({ state: "rewardsPool" });
    for (const bad of [data.with(0, 4), data.with(3, 1), data.slice(1)]) expect(decodeStakeAccount(bad)).toBeNull();
  });
});

describe("vote", () => {
  const vote = (latency: boolean) =>
    getStructEncoder([
      ...(latency ? ([["latency", getU8Encoder()]] as const) : []),
      ["slot", getU64Encoder()],
      ["confirmations", getU32Encoder()],
    ] as [["latency", Encoder<number>], ["slot", Encoder<bigint | number>], ["confirmations", Encoder<number>]]);
  const votes = (latency: boolean): Uint8Array =>
    bytesOf(getArrayEncoder(vote(latency), { size: getU64Encoder() }), [
      { latency: 1, slot: 100n, confirmations: 2 },
      { latency: 1, slot: 101n, confirmations: 1 },
    ]);
  const root = bytesOf(getNullableEncoder(getU64Encoder()), 69n);
  const voters = join(u64(1n), u64(700n), address32(5));
  const credits = join(u64(2n), u64(699n), u64(10n), u64(0n), u64(700n), u64(maxU64), u64(10n));
  const timestamp = join(u64(101n), u64(1_763_000_000n));
  const common = {
    node: key(1),
    authorizedWithdrawer: key(2),
    rootSlot: 69n,
    lastVotedSlot: 101n,
    authorizedVoters: [{ epoch: 700n, voter: key(5) }],
    epochCredits: [
      { epoch: 699n, credits: 10n, previousCredits: 0n },
      { epoch: 700n, credits: maxU64, previousCredits: 10n },
    ],
    lastTimestamp: { slot: 101n, unixTimestamp: 1_763_000_000n },
  };
  const old = (version: number): Uint8Array =>
    join(
      u32(version),
      address32(1),
      address32(2),
      Uint8Array.of(7),
      votes(version > 1),
      root,
      voters,
      new Uint8Array(1545),
      credits,
      timestamp,
    );
  const v4 = (bls: Uint8Array): Uint8Array => {
    const bps = bytesOf(getU16Encoder(), 725);
    const collectors = join(address32(1), address32(2), address32(3), address32(4));
    return join(u32(3), collectors, bps, bps, u64(0n), bls, votes(true), root, voters, credits, timestamp);
  };

  test("versions 1.14.11, 3 and 4 give the same facts", () => {
    expect(decodeVoteAccount(padded(old(1), 3731))).toEqual(
      Object({ ...common, version: "1.14.11", commissionBasisPoints: 700 }),
    );
    expect(decodeVoteAccount(padded(old(2), 3762))).toEqual(
      Object({ ...common, version: "3", commissionBasisPoints: 700 }),
    );
    for (const bls of [Uint8Array.of(0), Uint8Array.of(1, ...new Uint8Array(48))]) {
      expect(decodeVoteAccount(padded(v4(bls), 3762))).toEqual(
        Object({ ...common, version: "4", commissionBasisPoints: 725 }),
      );
    }
  });

  test("cut data, lying counts and other versions are null and never throw", () => {
    for (const whole of [old(1), old(2), v4(Uint8Array.of(0))]) {
      for (let length = 0; length < whole.length; length += 1)
        expect(decodeVoteAccount(whole.slice(0, length))).toBeNull();
      for (let at = 69; at < 260; at++) decodeVoteAccount(padded(whole, 3762).with(at, 255));
    }
    for (const version of [0, 4, 255]) expect(decodeVoteAccount(padded(old(2), 3762).with(0, version))).toBeNull();
    expect(decodeVoteAccount(padded(old(2), 3762).with(69, 255))).toBeNull();
  });
});
