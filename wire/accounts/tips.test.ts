import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { decodeAddress, encodeBase58 } from "../base58.ts";
import { addressOfBytes } from "../identifiers.ts";
import {
  decodeTipDistributionAccount,
  decodeTipDistributionConfig,
  decodeTipPaymentConfig,
  encodeTipAccount,
  encodeTipDistributionAccount,
  encodeTipDistributionConfig,
  encodeTipPaymentConfig,
  isTipAccount,
  type TipDistributionAccount,
  tipAccountAddress,
  tipConfigAddress,
  tipDistributionAddress,
  tipPrograms,
} from "./tips.ts";

const sha256 = (bytes: Uint8Array) => new Uint8Array(createHash("sha256").update(bytes).digest());
const payment = decodeAddress(tipPrograms.payment) ?? new Uint8Array();
const distribution = decodeAddress(tipPrograms.distribution) ?? new Uint8Array();
const address = (byte: number) => addressOfBytes(new Uint8Array(32).fill(byte));
const named = (name: string) =>
  sha256(new TextEncoder().encode(`account:${name}`))
    .subarray(0, 8)
    .toHex();

const open: TipDistributionAccount = {
  voteAccount: address(1),
  merkleRootUploadAuthority: address(2),
  merkleRoot: null,
  epochCreatedAt: 600n,
  validatorCommissionBps: 800,
  expiresAt: 610n,
  bump: 253,
};
const claimed: TipDistributionAccount = {
  ...open,
  merkleRoot: {
    root: new Uint8Array(32).fill(3),
    maxTotalClaim: 10n,
    maxNumNodes: 4n,
    totalFundsClaimed: 9n,
    numNodesClaimed: 2n,
  },
};

test("the eight tip accounts and the configuration are those that the chain knows", () => {
  const found = Array.from({ length: 8 }, (_, index) => tipAccountAddress(index, payment, sha256));
  expect(found.map(({ bytes }) => encodeBase58(bytes))).toEqual([
    "96gYZGLnJYVFmbjzopPSU6QiEV5fGqZNyN9nmNhvrZU5",
    "HFqU5x63VTqvQss8hp11i4wVV8bD44PvwucfZ2bU7gRe",
    "Cw8CFyM9FkoMi7K7Crf6HNQqf4uEMzpKw6QNghXLvLkY",
    "ADaUMid9yfUytqMBgopwjb2DTLSokTSzL1zt6iGPaS49",
    "DfXygSm4jCyNCybVYYK6DwvWqjKee8pbDmJGcLWNDXjh",
    "ADuUkR4vqLUMWXxW9gh6D6L8pMSawimctcNZ5pGwDcEt",
    "DttWaMuVvTiduZRnguLF7jNxTgiMBZ1hyAumKUiL2KRL",
    "3AVi9Tg9Uo68tJfuvoKvqKNWKkC5wPdSSdeBnizKZ6jT",
  ]);
  expect(found.map(({ bump }) => bump)).toEqual([255, 254, 255, 255, 252, 255, 252, 255]);
  const config = (program: Uint8Array) => encodeBase58(tipConfigAddress(program, sha256).bytes);
  expect(config(payment)).toBe("HgzT81VF1xZ3FT9Eq1pHhea7Wcfq2bv4tWTP3VvJ8Y9D");
  expect(config(distribution)).toBe("STGR71TeAeycQUDKzku1GqPQdErQcTcdqxJuQmCjBu6");
});

test("accounts begin with the discriminator of their name", () => {
  expect(encodeTipAccount().toHex()).toBe(named("TipPaymentAccount"));
  expect(encodeTipDistributionAccount(open).subarray(0, 8).toHex()).toBe(named("TipDistributionAccount"));
  expect(isTipAccount(encodeTipAccount())).toBe(true);
  expect(isTipAccount(new Uint8Array(8))).toBe(false);
});

test("a distribution account's fields lie where the program keeps them, before and after its root is known", () => {
  const before = encodeTipDistributionAccount(open);
  const view = new DataView(before.buffer);
  expect(before.length).toBe(168);
  expect([before[8], before[40], before[72], before[91]]).toEqual([1, 2, 0, 253]);
  expect([view.getBigUint64(73, true), view.getUint16(81, true), view.getBigUint64(83, true)]).toEqual([
    600n,
    800,
    610n,
  ]);
  const after = encodeTipDistributionAccount(claimed);
  const later = new DataView(after.buffer);
  expect([after[72], after[73], after[104], after[155]]).toEqual([1, 3, 3, 253]);
  expect([105, 113, 121, 129, 137, 147].map((at) => later.getBigUint64(at, true))).toEqual([
    10n,
    4n,
    9n,
    2n,
    600n,
    610n,
  ]);
  expect(later.getUint16(145, true)).toBe(800);
  expect(decodeTipDistributionAccount(before)).toEqual(open);
  expect(decodeTipDistributionAccount(after)).toEqual(claimed);
});

test("the configurations are read back as they were", () => {
  const tips = {
    tipReceiver: address(1),
    blockBuilder: address(2),
    blockBuilderCommissionPercent: 5n,
    bumps: [255, 255, 254, 255, 255, 252, 255, 252, 255],
  };
  expect(encodeTipPaymentConfig(tips).length).toBe(89);
  expect(decodeTipPaymentConfig(encodeTipPaymentConfig(tips))).toEqual(tips);
  const claims = {
    authority: address(3),
    expiredFundsAccount: address(4),
    epochsValid: 10n,
    maxValidatorCommissionBps: 10_000,
    bump: 255,
  };
  expect(decodeTipDistributionConfig(encodeTipDistributionConfig(claims))).toEqual(claims);
});

test("each validator has an account for each epoch", () => {
  const vote = new Uint8Array(32).fill(7);
  const at = (epoch: bigint) => encodeBase58(tipDistributionAddress({ vote, epoch }, distribution, sha256).bytes);
  expect(new Set([at(0n), at(1n), at(256n), at(2n ** 63n)]).size).toBe(4);
});

test("no bytes make a decoder throw", () => {
  const start = encodeTipDistributionAccount(claimed);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(199), (noise, at) => {
      decodeTipPaymentConfig(noise);
      const bytes = start.slice(0, Math.max(8, 168 - at));
      const from = Math.min(72, bytes.length);
      bytes.set(noise.subarray(0, bytes.length - from), from);
      decodeTipDistributionAccount(bytes);
    }),
  );
});
