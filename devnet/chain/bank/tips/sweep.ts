import {
  decodeTipPaymentConfig,
  encodeTipDistributionAccount,
  encodeTipPaymentConfig,
  tipPrograms,
} from "@sluice/wire";
import type { AccountOverlay } from "../account-overlay.ts";
import { ownedAccount, systemAccount } from "../native-account.ts";
import { rentExemptLamports } from "../sysvars.ts";
import type { Validator } from "../validators/validator.ts";
import { CLAIM_EPOCHS, distributionAddress, tipAccounts, tipPaymentConfigAddress } from "./tip-programs.ts";

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
    expiresAt: epoch + CLAIM_EPOCHS,
    bump,
  });
  const payer = accounts.read(leader.identity);
  const rent = rentExemptLamports(data.length);
  if (payer === null || payer.lamports < rent) return false;
  accounts.add(leader.identity, -rent, payer);
  // Whoever sent lamports to the address before has made a gift of them.
  const already = accounts.read(address)?.lamports ?? 0n;
  accounts.write(address, ownedAccount(tipPrograms.distribution, data, already + rent));
  return true;
}

/**
 * What a leader does before its first slot of a row: the tips that came in are paid to the leader before it, less the
 * block builder's commission, and from now on they are this leader's. Source: jito-programs, change_tip_receiver.
 */
export function sweepTips(leader: Validator, epoch: bigint, accounts: AccountOverlay): void {
  const configAccount = accounts.read(tipPaymentConfigAddress);
  const config = configAccount === null ? null : decodeTipPaymentConfig(configAccount.data);
  if (configAccount === null || config === null) return;
  const { address, bump } = distributionAddress(leader.voteBytes, epoch);
  if (config.tipReceiver === address || !openDistribution(leader, epoch, address, bump, accounts)) return;
  const swept = drain(accounts);
  const commission = (swept * config.blockBuilderCommissionPercent) / 100n;
  if (commission > 0n) accounts.add(config.blockBuilder, commission, systemAccount(0n));
  if (swept > commission) accounts.add(config.tipReceiver, swept - commission, systemAccount(0n));
  accounts.write(tipPaymentConfigAddress, {
    ...configAccount,
    data: encodeTipPaymentConfig({ ...config, tipReceiver: address }),
  });
}
