import { describe, expect, test } from "bun:test";
import { encodeBase58 } from "@sluice/wire/base58";
import { maxU64 } from "@sluice/wire/identifiers";
import { programs, sysvars } from "@sluice/wire/programs";
import { blockhash } from "@solana/kit";
import {
  getSysvarClockEncoder,
  getSysvarEpochRewardsEncoder,
  getSysvarEpochScheduleEncoder,
  getSysvarLastRestartSlotEncoder,
  getSysvarRentEncoder,
  getSysvarStakeHistoryEncoder,
} from "@solana/sysvars";
import { i64, u8, u16, u32, u64 } from "../testing/instruction.ts";
import { A, B, C, D, E, raw } from "../testing/keys.ts";
import { bytesOf, presented } from "../testing/layout.ts";

const f64 = (value: number) => new Uint8Array(new Float64Array([value]).buffer);

describe("stake", () => {
  const stake = (type: string, info?: object) => ({
    program: "stake",
    parsed: info === undefined ? { type } : { type, info },
    space: 200n,
  });
  const metaBytes = [u64(2_282_880n), raw(A), raw(B), i64(-7n), u64(9n), raw(C)];
  const meta = {
    rentExemptReserve: "2282880",
    authorized: { staker: A, withdrawer: B },
    lockup: { unixTimestamp: -7n, epoch: 9n, custodian: C },
  };

  test("an initialised account has no stake", () => {
    expect(presented(bytesOf([u32(1), ...metaBytes], 200), programs.stake)).toEqual(
      stake("initialized", { meta, stake: null }),
    );
  });
  test("a delegated account shows lamports and epochs as text, credits as a number", () => {
    const delegation = [raw(D), u64(5_000_000_000n), u64(3n), u64(maxU64), f64(0.25), u64(123n)];
    expect(presented(bytesOf([u32(2), ...metaBytes, ...delegation], 200), programs.stake)).toEqual(
      stake("delegated", {
        meta,
        stake: {
          delegation: {
            voter: D,
            stake: "5000000000",
            activationEpoch: "3",
            deactivationEpoch: "18446744073709551615",
          },
          creditsObserved: 123n,
        },
      }),
    );
  });
  test("the other states have no info", () => {
    expect(presented(bytesOf([u32(0)], 200), programs.stake)).toEqual(stake("uninitialized"));
    expect(presented(bytesOf([u32(3)], 200), programs.stake)).toEqual(stake("rewardsPool"));
  });
});

describe("vote", () => {
  const end = [u8(1), u64(88n), u64(1n), u64(5n), raw(C)];
  const credits = [u64(1n), u64(4n), u64(900n), u64(800n), u64(99n), i64(1_700_000_000n)];
  const shown = {
    nodePubkey: A,
    authorizedWithdrawer: B,
    rootSlot: 88n,
    authorizedVoters: [{ epoch: 5n, authorizedVoter: C }],
    priorVoters: [],
    epochCredits: [{ epoch: 4n, credits: "900", previousCredits: "800" }],
    lastTimestamp: { slot: 99n, timestamp: 1_700_000_000n },
  };
  const older = {
    ...shown,
    commission: 8,
    inflationRewardsCommissionBps: 800,
    inflationRewardsCollector: E,
    blockRevenueCollector: A,
    blockRevenueCommissionBps: 10_000,
    pendingDelegatorRewards: "0",
    blsPubkeyCompressed: null,
  };
  const prior = new Uint8Array(32 * 48 + 9);
  const vote = (info: object) => ({ program: "vote", parsed: { type: "vote", info }, space: 3762n });
  const present = (...parts: Uint8Array[]) => presented(bytesOf(parts, 3762), programs.vote, { address: E });

  test("version 3 shows latencies and is filled up with what version 4 adds", () => {
    const votes = [u64(1n), u8(2), u64(97n), u32(3)];
    const state = present(u32(2), raw(A), raw(B), u8(8), ...votes, ...end, prior, ...credits);
    expect(state).toEqual(vote({ ...older, votes: [{ latency: 2, slot: 97n, confirmationCount: 3 }] }));
  });
  test("version 1.14.11 has no latencies", () => {
    const votes = [u64(1n), u64(97n), u32(3)];
    const state = present(u32(1), raw(A), raw(B), u8(8), ...votes, ...end, prior, ...credits);
    expect(state).toEqual(vote({ ...older, votes: [{ latency: 0, slot: 97n, confirmationCount: 3 }] }));
  });
  test("version 4 shows its collectors, basis points and key", () => {
    const bls = new Uint8Array(48).fill(3);
    const commissions = [raw(C), raw(D), u16(725), u16(50), u64(6n), u8(1), bls];
    const state = present(u32(3), raw(A), raw(B), ...commissions, u64(0n), ...end, ...credits);
    expect(state).toEqual(
      vote({
        ...shown,
        commission: 7,
        votes: [],
        inflationRewardsCommissionBps: 725,
        inflationRewardsCollector: C,
        blockRevenueCollector: D,
        blockRevenueCommissionBps: 50,
        pendingDelegatorRewards: "6",
        blsPubkeyCompressed: encodeBase58(bls),
      }),
    );
  });
});

test("a nonce shows authority, hash and price; zeros under the System program are no nonce", () => {
  const data = bytesOf([u32(1), u32(1), raw(A), raw(B), u64(5000n)]);
  expect(presented(data, programs.system)).toEqual({
    program: "nonce",
    parsed: {
      type: "initialized",
      info: { authority: A, blockhash: B, feeCalculator: { lamportsPerSignature: "5000" } },
    },
    space: 80n,
  });
  expect(presented(new Uint8Array(80), programs.system)).toEqual([Buffer.alloc(80).toString("base64"), "base64"]);
  expect(presented(new Uint8Array(), programs.system)).toEqual(["", "base64"]);
});

test("a lookup table shows its addresses; a frozen one has no authority", () => {
  const header = [u32(1), u64(maxU64), u64(44n), u8(1)];
  const info = { deactivationSlot: "18446744073709551615", lastExtendedSlot: "44", lastExtendedSlotStartIndex: 1 };
  const table = (more: object, space: bigint) => ({
    program: "address-lookup-table",
    parsed: { type: "lookupTable", info: { ...info, ...more } },
    space,
  });
  const owned = bytesOf([bytesOf([...header, u8(1), raw(C)], 56), raw(A), raw(B)]);
  expect(presented(owned, programs.addressLookupTable)).toEqual(table({ authority: C, addresses: [A, B] }, 120n));
  const frozen = bytesOf([...header, u8(0)], 56);
  expect(presented(frozen, programs.addressLookupTable)).toEqual(table({ addresses: [] }, 56n));
});

test("accounts of the upgradeable loader", () => {
  const loader = (type: string, info: object, space: bigint) => ({
    program: "bpf-upgradeable-loader",
    parsed: { type, info },
    space,
  });
  const present = (...parts: Uint8Array[]) => presented(bytesOf(parts), programs.bpfLoaderUpgradeable);
  const data = ["AQI=", "base64"];
  expect(present(u32(2), raw(A))).toEqual(loader("program", { programData: A }, 36n));
  expect(present(u32(3), u64(7n), u8(1), raw(B), u8(1, 2))).toEqual(
    loader("programData", { slot: 7n, authority: B, data }, 47n),
  );
  expect(present(u32(1), u8(1), raw(B), u8(1, 2))).toEqual(loader("buffer", { authority: B, data }, 39n));
  expect(present(u32(1), u8(0), u8(1, 2))).toEqual(loader("buffer", { authority: null, data }, 7n));
});

test("a configuration shows what a validator says of itself, and the stake's is shown as bytes", () => {
  const config = (type: string, info: object, space: bigint) => ({ program: "config", parsed: { type, info }, space });
  const stakeConfig = bytesOf([u8(0), f64(0.25), u8(12)]);
  const bytes = [Buffer.from(stakeConfig).toString("base64"), "base64"];
  expect(presented(stakeConfig, programs.config, { address: programs.stakeConfig })).toEqual(bytes);
  const validatorInfo = "Va1idator1nfo111111111111111111111111111111";
  const said = Buffer.from('{"name":"Sluice","nested":{"n":18446744073709551615}}');
  const parts = [u8(2), raw(validatorInfo), u8(0), raw(A), u8(1), u64(BigInt(said.length)), said];
  const keys = [
    { pubkey: validatorInfo, signer: false },
    { pubkey: A, signer: true },
  ];
  const configData = { name: "Sluice", nested: { n: 18446744073709551615n } };
  const data = bytesOf(parts);
  expect(presented(data, programs.config)).toEqual(config("validatorInfo", { keys, configData }, BigInt(data.length)));
});

describe("sysvars, from the bytes that another library writes", () => {
  const shown = (name: string, data: { readonly length: number }) => {
    const bytes = Uint8Array.from(data as Uint8Array);
    const value = presented(bytes, sysvars.owner, { address: name });
    return value as { program: string; parsed: { type: string; info: unknown } };
  };
  const parsed = (name: string, data: { readonly length: number }) => shown(name, data).parsed;

  test("clock, epochSchedule and lastRestartSlot", () => {
    const clock = { slot: 1n, epoch: 3n, epochStartTimestamp: 2n, leaderScheduleEpoch: 4n, unixTimestamp: 5n };
    const written = getSysvarClockEncoder().encode(
      clock as Parameters<ReturnType<typeof getSysvarClockEncoder>["encode"]>[0],
    );
    expect(parsed(sysvars.clock, written)).toEqual({ type: "clock", info: clock });
    const schedule = {
      slotsPerEpoch: 432_000n,
      leaderScheduleSlotOffset: 432_000n,
      warmup: true,
      firstNormalEpoch: 14n,
      firstNormalSlot: 524_256n,
    };
    expect(parsed(sysvars.epochSchedule, getSysvarEpochScheduleEncoder().encode(schedule))).toEqual({
      type: "epochSchedule",
      info: schedule,
    });
    expect(parsed(sysvars.lastRestartSlot, getSysvarLastRestartSlotEncoder().encode({ lastRestartSlot: 8n }))).toEqual({
      type: "lastRestartSlot",
      info: { lastRestartSlot: 8n },
    });
  });

  test("rent in both of its shapes", () => {
    const rent = (lamports: bigint, years: number) => bytesOf([u64(lamports), f64(years), u8(50)]);
    expect(parsed(sysvars.rent, rent(3480n, 2))).toEqual({
      type: "rent",
      info: { lamportsPerByteYear: "3480", exemptionThreshold: 2, burnPercent: 50 },
    });
    expect(parsed(sysvars.rent, rent(6960n, 1))).toEqual({ type: "rent", info: { lamportsPerByte: "6960" } });
    const written = getSysvarRentEncoder();
    expect(written.fixedSize).toBe(17);
  });

  test("recentBlockhashes, slotHashes and stakeHistory", () => {
    // The other library writes the counts of these two with four bytes, where the chain has eight.
    const recent = bytesOf([u64(1n), raw(A), u64(5000n)]);
    expect(parsed(sysvars.recentBlockhashes, recent)).toEqual({
      type: "recentBlockhashes",
      info: [{ blockhash: A, feeCalculator: { lamportsPerSignature: "5000" } }],
    });
    expect(parsed(sysvars.slotHashes, bytesOf([u64(1n), u64(6n), raw(A)]))).toEqual({
      type: "slotHashes",
      info: [{ slot: 6n, hash: A }],
    });
    const stakeHistory = { effective: 10n as never, activating: 2n as never, deactivating: 3n as never };
    expect(parsed(sysvars.stakeHistory, getSysvarStakeHistoryEncoder().encode([{ epoch: 1n, stakeHistory }]))).toEqual({
      type: "stakeHistory",
      info: [{ epoch: 1n, stakeHistory: { effective: 10n, activating: 2n, deactivating: 3n } }],
    });
  });

  test("epochRewards", () => {
    const rewards = {
      distributionStartingBlockHeight: 42n,
      numPartitions: 2n,
      parentBlockhash: blockhash(A),
      totalPoints: 2n ** 100n,
      totalRewards: 100n as never,
      distributedRewards: 20n as never,
      active: true,
    };
    expect(parsed(sysvars.epochRewards, getSysvarEpochRewardsEncoder().encode(rewards))).toEqual({
      type: "epochRewards",
      info: {
        ...rewards,
        totalPoints: "1267650600228229401496703205376",
        totalRewards: "100",
        distributedRewards: "20",
      },
    });
  });

  test("slotHistory is one digit for each of its slots", () => {
    const words = Array.from({ length: 16_384 }, (_, index) => u64(index === 1 ? 0b101n : 0n));
    const data = bytesOf([u8(1), u64(16_384n), ...words, u64(1_048_576n), u64(77n)]);
    const { type, info } = parsed(sysvars.slotHistory, data) as {
      type: string;
      info: { nextSlot: bigint; bits: string };
    };
    expect(type).toBe("slotHistory");
    expect(info.nextSlot).toBe(77n);
    expect(info.bits.length).toBe(1_048_576);
    expect([...info.bits.matchAll(/1/g)].map((match) => match.index)).toEqual([64, 66]);
  });

  test("fees, rewards, and none for an address that is no sysvar", () => {
    expect(parsed("SysvarFees111111111111111111111111111111111", u64(5000n))).toEqual({
      type: "fees",
      info: { feeCalculator: { lamportsPerSignature: "5000" } },
    });
    expect(parsed("SysvarRewards111111111111111111111111111111", f64(0.5))).toEqual({
      type: "rewards",
      info: { validatorPointValue: 0.5 },
    });
    expect(presented(u64(1n), sysvars.owner, { address: A })).toEqual(["AQAAAAAAAAA=", "base64"]);
  });
});
