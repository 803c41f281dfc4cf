import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { decodeAddress, encodeBase58 } from "../base58.ts";
import { type Address, addressOfBytes } from "../identifiers.ts";
import {
  decodeStakePool,
  encodeStakePool,
  poolTransientStakeAddress,
  poolValidatorStakeAddress,
  type StakePool,
  stakePoolDepositAuthority,
  stakePoolProgram,
  stakePoolSize,
  stakePoolWithdrawAuthority,
} from "./stake-pool.ts";
import { decodeValidatorList, encodeValidatorList } from "./validator-list.ts";

const sha256 = (bytes: Uint8Array) => new Uint8Array(createHash("sha256").update(bytes).digest());
const program = decodeAddress(stakePoolProgram) ?? new Uint8Array();
const address = (byte: number): Address => addressOfBytes(new Uint8Array(32).fill(byte));

const pool: StakePool = {
  manager: address(1),
  staker: address(2),
  stakeDepositAuthority: address(3),
  withdrawBump: 254,
  validatorList: address(4),
  reserveStake: address(5),
  poolMint: address(6),
  managerFeeAccount: address(7),
  tokenProgram: address(8),
  totalLamports: 0x1122_3344_5566_7788n,
  poolTokenSupply: 0xffff_ffff_ffff_fff1n,
  lastUpdateEpoch: 77n,
  lockup: { unixTimestamp: -5n, epoch: 9n, custodian: address(9) },
  epochFee: { denominator: 100n, numerator: 4n },
  nextEpochFee: null,
  preferredDepositVote: null,
  preferredWithdrawVote: null,
  stakeDepositFee: { denominator: 0n, numerator: 0n },
  stakeWithdrawalFee: { denominator: 1_000n, numerator: 1n },
  nextStakeWithdrawalFee: null,
  stakeReferralFee: 50,
  solDepositAuthority: null,
  solDepositFee: { denominator: 7n, numerator: 2n },
  solReferralFee: 25,
  solWithdrawAuthority: null,
  solWithdrawalFee: { denominator: 8n, numerator: 3n },
  nextSolWithdrawalFee: null,
  lastEpochPoolTokenSupply: 123n,
  lastEpochTotalLamports: 456n,
};

const full: StakePool = {
  ...pool,
  nextEpochFee: { epochs: 2, fee: { denominator: 10n, numerator: 1n } },
  preferredDepositVote: address(10),
  preferredWithdrawVote: address(11),
  nextStakeWithdrawalFee: { epochs: 1, fee: { denominator: 20n, numerator: 2n } },
  solDepositAuthority: address(12),
  solWithdrawAuthority: address(13),
  nextSolWithdrawalFee: { epochs: 2, fee: { denominator: 30n, numerator: 3n } },
};

test("a pool's fixed fields lie where the program keeps them", () => {
  const data = encodeStakePool(pool);
  const view = new DataView(data.buffer);
  expect(data.length).toBe(611);
  expect(data[0]).toBe(1);
  const keys = [1, 33, 65, 98, 130, 162, 194, 226, 298];
  expect(keys.map((at) => data.subarray(at, at + 32).every((byte) => byte === data[at]) && data[at])).toEqual([
    1, 2, 3, 4, 5, 6, 7, 8, 9,
  ]);
  expect(data[97]).toBe(254);
  expect([258, 266, 274, 290, 330, 338].map((at) => view.getBigUint64(at, true))).toEqual([
    pool.totalLamports,
    pool.poolTokenSupply,
    77n,
    9n,
    100n,
    4n,
  ]);
  expect(view.getBigInt64(282, true)).toBe(-5n);
});

test("without options a pool takes 435 bytes and with all of them 611, its last fields at the end", () => {
  const view = (data: Uint8Array) => new DataView(data.buffer, data.byteOffset);
  const least = encodeStakePool(pool);
  expect(view(least).getBigUint64(419, true)).toBe(123n);
  expect(view(least).getBigUint64(427, true)).toBe(456n);
  expect(least.subarray(435).every((byte) => byte === 0)).toBe(true);
  const most = encodeStakePool(full);
  expect(view(most).getBigUint64(603, true)).toBe(456n);
});

test("what was encoded is decoded as it was, with every option and without", () => {
  expect(decodeStakePool(encodeStakePool(pool))).toEqual(pool);
  expect(decodeStakePool(encodeStakePool(full))).toEqual(full);
});

test("other accounts, cut ones and impossible tags are null", () => {
  const data = encodeStakePool(full);
  for (let length = 0; length < stakePoolSize; length += 1)
    expect(decodeStakePool(data.subarray(0, length))).toBeNull();
  const wrongType = data.slice();
  wrongType[0] = 2;
  expect(decodeStakePool(wrongType)).toBeNull();
  const wrongFuture = data.slice();
  wrongFuture[346] = 3;
  expect(decodeStakePool(wrongFuture)).toBeNull();
});

test("a list's entries are 73 bytes from byte 9 on, in the program's order", () => {
  const entry = {
    activeStakeLamports: 5n,
    transientStakeLamports: 6n,
    lastUpdateEpoch: 7n,
    transientSeedSuffix: 8n,
    validatorSeedSuffix: 9,
    status: "deactivatingValidator",
    voteAccount: address(200),
  } as const;
  const list = { maxValidators: 3, validators: [{ ...entry, activeStakeLamports: 1n }, entry] };
  const data = encodeValidatorList(list);
  const view = new DataView(data.buffer);
  expect(data.length).toBe(9 + 3 * 73);
  expect([data[0], view.getUint32(1, true), view.getUint32(5, true)]).toEqual([2, 3, 2]);
  const at = 9 + 73;
  expect([0, 8, 16, 24].map((offset) => view.getBigUint64(at + offset, true))).toEqual([5n, 6n, 7n, 8n]);
  expect([view.getUint32(at + 32, true), view.getUint32(at + 36, true), data[at + 40]]).toEqual([0, 9, 3]);
  expect(encodeBase58(data.subarray(at + 41, at + 73))).toBe(address(200));
  expect(decodeValidatorList(data)).toEqual(list);
});

test("no bytes make a decoder throw, and a count that the bytes do not hold is null", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 700 }), fc.constantFrom(1, 2), (bytes, type) => {
      bytes[0] = type;
      decodeStakePool(bytes);
      const list = decodeValidatorList(bytes);
      if (list !== null) expect(9 + list.validators.length * 73).toBeLessThanOrEqual(bytes.length);
    }),
  );
});

test("authorities of a pool on mainnet are those that its program derived", () => {
  const mainnet = decodeAddress("Jito4APyf642JPZPx3hGc6WWJ8zPKtRbRs4P815Awbb") ?? new Uint8Array();
  const text = ({ bytes }: { readonly bytes: Uint8Array }) => encodeBase58(bytes);
  expect(text(stakePoolWithdrawAuthority(mainnet, program, sha256))).toBe(
    "6iQKfEyhr3bZMotVkW6beNZz5CPAkiwvgV2CTje9pVSS",
  );
  expect(text(stakePoolDepositAuthority(mainnet, program, sha256))).toBe(
    "74opVa3v51hUmTrsZn8YusZw4fXB16vGQY4WYHt9UegR",
  );
});

test("a validator's stake has another address for each pool, vote account and suffix, and none for suffix 0", () => {
  const [vote, other] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
  const at = (parts: { vote: Uint8Array; pool: Uint8Array; suffix: number }) =>
    encodeBase58(poolValidatorStakeAddress(parts, program, sha256));
  const addresses = [
    at({ vote, pool: other, suffix: 0 }),
    at({ vote: other, pool: vote, suffix: 0 }),
    at({ vote, pool: other, suffix: 1 }),
    encodeBase58(poolTransientStakeAddress({ vote, pool: other, suffix: 0n }, program, sha256)),
  ];
  expect(new Set(addresses).size).toBe(4);
});

test("each option may be there or not beside every other one, and what follows is read from where it then lies", () => {
  const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
  const fee = fc.record({ denominator: u64, numerator: u64 });
  const future = fc.option(fc.record({ epochs: fc.constantFrom(1 as const, 2 as const), fee }), { nil: null });
  const key = fc.option(fc.uint8Array({ minLength: 32, maxLength: 32 }).map(addressOfBytes), { nil: null });
  const options = fc.record({
    nextEpochFee: future,
    preferredDepositVote: key,
    preferredWithdrawVote: key,
    nextStakeWithdrawalFee: future,
    solDepositAuthority: key,
    solWithdrawAuthority: key,
    nextSolWithdrawalFee: future,
    lastEpochPoolTokenSupply: u64,
    lastEpochTotalLamports: u64,
  });
  fc.assert(
    fc.property(options, (drawn) => {
      const data = encodeStakePool({ ...pool, ...drawn });
      expect(decodeStakePool(data)).toEqual({ ...pool, ...drawn });
      // An address takes 32 bytes and a fee 16; the last two fields stand behind all that are there.
      const addresses = [drawn.preferredDepositVote, drawn.preferredWithdrawVote, drawn.solDepositAuthority];
      const held = [...addresses, drawn.solWithdrawAuthority].filter((each) => each !== null).length;
      const fees = [drawn.nextEpochFee, drawn.nextStakeWithdrawalFee, drawn.nextSolWithdrawalFee];
      const end = 435 + 32 * held + 16 * fees.filter((each) => each !== null).length;
      const view = new DataView(data.buffer, data.byteOffset);
      expect(view.getBigUint64(end - 16, true)).toBe(drawn.lastEpochPoolTokenSupply);
      expect(view.getBigUint64(end - 8, true)).toBe(drawn.lastEpochTotalLamports);
      expect(data.subarray(end).every((byte) => byte === 0)).toBe(true);
    }),
  );
});
