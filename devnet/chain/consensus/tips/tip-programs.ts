import { createHash } from "node:crypto";
import type { AccountWrite } from "@sluice/svm/bank";
import {
  encodeTipAccount,
  encodeTipDistributionConfig,
  encodeTipPaymentConfig,
  tipAccountAddress,
  tipAccountCount,
  tipConfigAddress,
  tipDistributionAddress,
  tipPrograms,
} from "@sluice/wire/accounts/tips";
import { decodeAddress } from "@sluice/wire/base58";
import { type Address, addressOfBytes } from "@sluice/wire/identifiers";
import { GenesisKeypair, ownedAccount, standInProgram, systemAccount } from "../../model/index.ts";

export const sha256 = (bytes: Uint8Array): Uint8Array => new Uint8Array(createHash("sha256").update(bytes).digest());

function programBytes(program: Address): Uint8Array {
  return decodeAddress(program) ?? new Uint8Array(32);
}

const payment = programBytes(tipPrograms.payment);
const distribution = programBytes(tipPrograms.distribution);

const SOL = 1_000_000_000n;
const BUILDER_COMMISSION_PERCENT = 5n;
/** Epochs after its own in which a distribution account may still be claimed from. */
export const CLAIM_EPOCHS = 10n;

const payable = Array.from({ length: tipAccountCount }, (_, index) => tipAccountAddress(index, payment, sha256));
const paymentConfig = tipConfigAddress(payment, sha256);
const distributionConfig = tipConfigAddress(distribution, sha256);

/** The eight accounts that tips are paid to. */
export const tipAccounts: readonly Address[] = payable.map(({ bytes }) => addressOfBytes(bytes));
export const tipPaymentConfigAddress: Address = addressOfBytes(paymentConfig.bytes);
export const tipDistributionConfigAddress: Address = addressOfBytes(distributionConfig.bytes);

/** Where a validator's tips of an epoch are collected. */
export function distributionAddress(vote: Uint8Array, epoch: bigint): { address: Address; bump: number } {
  const { bytes, bump } = tipDistributionAddress({ vote, epoch }, distribution, sha256);
  return { address: addressOfBytes(bytes), bump };
}

/** Who runs the tip programs: signs for roots, builds blocks, and gets what nobody claims. */
export function tipKeeper(seed: string): Address {
  return addressOfBytes(new GenesisKeypair(seed, "tips").publicKey);
}

/** The tip programs, which only stand there, with their configurations and the eight accounts. */
export function tipGenesis(seed: string): AccountWrite[] {
  const keeper = tipKeeper(seed);
  const config = encodeTipPaymentConfig({
    tipReceiver: keeper,
    blockBuilder: keeper,
    blockBuilderCommissionPercent: BUILDER_COMMISSION_PERCENT,
    bumps: [paymentConfig.bump, ...payable.map(({ bump }) => bump)],
  });
  const claims = encodeTipDistributionConfig({
    authority: keeper,
    expiredFundsAccount: keeper,
    epochsValid: CLAIM_EPOCHS,
    maxValidatorCommissionBps: 10_000,
    bump: distributionConfig.bump,
  });
  return [
    { address: tipPrograms.payment, account: standInProgram("devnet_tip_payment") },
    { address: tipPrograms.distribution, account: standInProgram("devnet_tip_distribution") },
    { address: keeper, account: systemAccount(SOL) },
    { address: tipPaymentConfigAddress, account: ownedAccount(tipPrograms.payment, config) },
    { address: tipDistributionConfigAddress, account: ownedAccount(tipPrograms.distribution, claims) },
    ...tipAccounts.map((address) => ({ address, account: ownedAccount(tipPrograms.payment, encodeTipAccount()) })),
  ];
}
