import { createHash } from "node:crypto";
import type { AccountWrite } from "@sluice/svm/bank";
import {
  decodeTipPaymentConfig,
  encodeTipAccount,
  encodeTipDistributionAccount,
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
import { sysvars } from "@sluice/wire/programs";
import { GenesisKeypair, ownedAccount, rentExemptLamports, standInProgram, systemAccount } from "../../model/index.ts";
import type { AccountOverlay } from "../account-overlay.ts";
import type { Validator } from "../validator.ts";

export const sha256 = (bytes: Uint8Array): Uint8Array => new Uint8Array(createHash("sha256").update(bytes).digest());

function programBytes(program: Address): Uint8Array {
  return decodeAddress(program) ?? new Uint8Array(32);
}

const payment = programBytes(tipPrograms.payment);
const distribution = programBytes(tipPrograms.distribution);

const sol = 1_000_000_000n;
const builderCommissionPercent = 5n;
/** Epochs after its own in which a distribution account may still be claimed from. */
const claimEpochs = 10n;

const payable = Array.from({ length: tipAccountCount }, (_, index) => tipAccountAddress(index, payment, sha256));
const paymentConfig = tipConfigAddress(payment, sha256);
const distributionConfig = tipConfigAddress(distribution, sha256);

/** The eight accounts that tips are paid to. */
export const tipAccounts: readonly Address[] = payable.map(({ bytes }) => addressOfBytes(bytes));
export const tipPaymentConfigAddress: Address = addressOfBytes(paymentConfig.bytes);
const tipDistributionConfigAddress: Address = addressOfBytes(distributionConfig.bytes);

/** Where a validator's tips of an epoch are collected. */
export function distributionAddress(vote: Uint8Array, epoch: bigint): { address: Address; bump: number } {
  const { bytes, bump } = tipDistributionAddress({ vote, epoch }, distribution, sha256);
  return { address: addressOfBytes(bytes), bump };
}

/** The operator of the tip programs: signs roots, builds blocks, and receives unclaimed tips. */
export function tipOperator(seed: string): Address {
  return addressOfBytes(new GenesisKeypair(seed, "tips").publicKey);
}

/** The tip programs, which only stand there, with their configurations and the eight accounts. */
export function tipGenesis(seed: string): AccountWrite[] {
  const operator = tipOperator(seed);
  const config = encodeTipPaymentConfig({
    tipReceiver: operator,
    blockBuilder: operator,
    blockBuilderCommissionPercent: builderCommissionPercent,
    bumps: [paymentConfig.bump, ...payable.map(({ bump }) => bump)],
  });
  const claims = encodeTipDistributionConfig({
    authority: operator,
    expiredFundsAccount: operator,
    epochsValid: claimEpochs,
    maxValidatorCommissionBps: 10_000,
    bump: distributionConfig.bump,
  });
  return [
    { address: tipPrograms.payment, account: standInProgram("devnet_tip_payment") },
    { address: tipPrograms.distribution, account: standInProgram("devnet_tip_distribution") },
    { address: operator, account: systemAccount(sol) },
    { address: tipPaymentConfigAddress, account: ownedAccount(tipPrograms.payment, config) },
    { address: tipDistributionConfigAddress, account: ownedAccount(tipPrograms.distribution, claims) },
    ...tipAccounts.map((address) => ({ address, account: ownedAccount(tipPrograms.payment, encodeTipAccount()) })),
  ];
}

/** Takes what the tip accounts hold above their rent and gives its sum. */
function drain(accounts: AccountOverlay): bigint {
  let swept = 0n;
  for (const address of tipAccounts) {
    const account = accounts.read(address);
    if (account === null) continue;
    const tips = account.lamports - rentExemptLamports(account.data.length);
    if (tips <= 0n) continue;
    accounts.write(address, { ...account, lamports: account.lamports - tips });
    swept += tips;
  }
  return swept;
}

/** Opens the leader's distribution account of an epoch; its identity pays the rent. False when it cannot. */
function openDistribution(leader: Validator, epoch: bigint, address: string, bump: number, accounts: AccountOverlay) {
  if (accounts.read(address)?.owner === tipPrograms.distribution) return true;
  const data = encodeTipDistributionAccount({
    voteAccount: leader.vote,
    merkleRootUploadAuthority: leader.identity,
    merkleRoot: null,
    epochCreatedAt: epoch,
    validatorCommissionBps: leader.commission * 100,
    expiresAt: epoch + claimEpochs,
    bump,
  });
  const payer = accounts.read(leader.identity);
  const rent = rentExemptLamports(data.length);
  if (payer === null || payer.lamports < rent) return false;
  accounts.add(leader.identity, -rent, payer);
  // Lamports sent to the address before are lost to the sender.
  const already = accounts.read(address)?.lamports ?? 0n;
  accounts.write(address, ownedAccount(tipPrograms.distribution, data, already + rent));
  return true;
}

/** The builder of a leader's blocks, and the percentage of tips that it takes. */
export interface BlockBuilder {
  readonly address: Address;
  readonly commissionPercent: bigint;
}

/** Whether lamports may be added to an account by a program: none may to one that runs, nor to a sysvar. */
function isPayable(address: Address, accounts: AccountOverlay): boolean {
  const account = accounts.read(address);
  return account === null || (!account.executable && account.owner !== sysvars.owner);
}

/**
 * What a leader does before its first bundle, and before its first slot of a row: the tips that came in are paid to the
 * receiver and the block builder of before, and from now on they are this leader's and its builder's; null leaves the
 * builder as it is. False when it cannot be done, and then nothing is. Source: jito-programs, change_tip_receiver and
 * change_block_builder, both of which sweep first.
 */
export function sweepTips(
  leader: Validator,
  epoch: bigint,
  accounts: AccountOverlay,
  newBuilder: BlockBuilder | null = null,
): boolean {
  const before = accounts.read(tipPaymentConfigAddress);
  const config = before === null ? null : decodeTipPaymentConfig(before.data);
  if (config === null) return false;
  const { address, bump } = distributionAddress(leader.voteBytes, epoch);
  const builder = newBuilder ?? {
    address: config.blockBuilder,
    commissionPercent: config.blockBuilderCommissionPercent,
  };
  const isBuilderSame =
    config.blockBuilder === builder.address && config.blockBuilderCommissionPercent === builder.commissionPercent;
  if (config.tipReceiver === address && isBuilderSame) return true;
  if (!isPayable(config.blockBuilder, accounts) || !isPayable(builder.address, accounts)) return false;
  if (!openDistribution(leader, epoch, address, bump, accounts)) return false;
  const swept = drain(accounts);
  const commission = (swept * config.blockBuilderCommissionPercent) / 100n;
  if (commission > 0n) accounts.add(config.blockBuilder, commission, systemAccount(0n));
  if (swept > commission) accounts.add(config.tipReceiver, swept - commission, systemAccount(0n));
  // Read again: a receiver may be the configuration account itself.
  const configAccount = accounts.read(tipPaymentConfigAddress);
  if (configAccount === null) return false;
  const data = encodeTipPaymentConfig({
    ...config,
    tipReceiver: address,
    blockBuilder: builder.address,
    blockBuilderCommissionPercent: builder.commissionPercent,
  });
  accounts.write(tipPaymentConfigAddress, { ...configAccount, data });
  return true;
}
