import { addressAt, ByteReader, ByteWriter, orNull, readU16, readU64 } from "../bytes.ts";
import type { Address } from "../identifiers.ts";
import { findProgramAddress, type ProgramAddress, type Sha256 } from "../program-address.ts";

/**
 * Accounts of Jito's tip programs: the eight tip accounts with their configuration, and for each validator and epoch
 * the account from which that epoch's tips are claimed. Source: jito-programs, tip-payment and tip-distribution. Each
 * decoder gives null for anything else.
 */

/** The programs on mainnet; other clusters have other ids and the same layouts and seeds. */
export const tipPrograms = {
  payment: "T1pyyaTNZsKv2WcRAB8oVnk93mLJw2XzjtVYqCsaHqt" as Address,
  distribution: "4R3gSG8BpU4t19KYj8CfnbtRpnT8gtk4dvTHxVRwc2r7" as Address,
} as const;

/** How many tip accounts the tip payment program has. */
export const tipAccountCount = 8;

/** Bytes of a tip account: the discriminator. */
const tipAccountSize = 8;

/** Bytes of the configuration of the tip payment program. */
const tipPaymentConfigSize = 89;

/** Bytes of the configuration of the tip distribution program. */
const tipDistributionConfigSize = 83;

/** Bytes of a tip distribution account; what its fields do not take is zero. */
const tipDistributionAccountSize = 168;

/** First eight bytes of SHA-256("account:<name>"), by which an account of an Anchor program says what it is. */
const discriminators = {
  config: Uint8Array.fromHex("9b0caae01efacc82"),
  tipAccount: Uint8Array.fromHex("c921f474e0446128"),
  distribution: Uint8Array.fromHex("554071c6ea5e787b"),
} as const;

function begins(data: Uint8Array, discriminator: Uint8Array, size: number): boolean {
  return data.length >= size && discriminator.every((byte, at) => data[at] === byte);
}

const utf8 = new TextEncoder();

function derived(seeds: readonly Uint8Array[], program: Uint8Array, sha256: Sha256): ProgramAddress {
  const found = findProgramAddress(seeds, program, sha256);
  if (found === null) throw new RangeError("no bump gives an address off the curve");
  return found;
}

/** The address of the configuration of either tip program: seed "CONFIG_ACCOUNT". */
export function tipConfigAddress(program: Uint8Array, sha256: Sha256): ProgramAddress {
  return derived([utf8.encode("CONFIG_ACCOUNT")], program, sha256);
}

/** The address of tip account `index` (0 to 7) of the tip payment program: seed "TIP_ACCOUNT_<index>". */
export function tipAccountAddress(index: number, program: Uint8Array, sha256: Sha256): ProgramAddress {
  return derived([utf8.encode(`TIP_ACCOUNT_${index}`)], program, sha256);
}

/**
 * The address of the account that holds the tips of one validator and epoch: seeds "TIP_DISTRIBUTION_ACCOUNT", the vote
 * account (32 bytes) and the epoch (u64).
 */
export function tipDistributionAddress(
  at: { readonly vote: Uint8Array; readonly epoch: bigint },
  program: Uint8Array,
  sha256: Sha256,
): ProgramAddress {
  const seeds = [utf8.encode("TIP_DISTRIBUTION_ACCOUNT"), at.vote, new ByteWriter(8).u64(at.epoch).finish()];
  return derived(seeds, program, sha256);
}

/** Whether data is that of a tip account. Its tips are its lamports above the rent minimum. */
export function isTipAccount(data: Uint8Array): boolean {
  return data.length === tipAccountSize && begins(data, discriminators.tipAccount, tipAccountSize);
}

/** The data of a tip account: its discriminator, 8 bytes. */
export function encodeTipAccount(): Uint8Array {
  return discriminators.tipAccount.slice();
}

/** The configuration of the tip payment program. */
export interface TipPaymentConfig {
  /** Where tips go that are swept next: the distribution account of the leader who collects them. */
  readonly tipReceiver: Address;
  readonly blockBuilder: Address;
  readonly blockBuilderCommissionPercent: bigint;
  /** Of the configuration itself and of tip accounts 0 to 7. */
  readonly bumps: readonly number[];
}

/**
 * Decodes the configuration of the tip payment program: discriminator at 0, tip receiver at 8, block builder at 40,
 * commission (u64) at 72, nine bumps at 80.
 *
 * @returns null when the discriminator differs or fewer than 89 bytes are there
 */
export function decodeTipPaymentConfig(data: Uint8Array): TipPaymentConfig | null {
  if (!begins(data, discriminators.config, tipPaymentConfigSize)) return null;
  return {
    tipReceiver: addressAt(data, 8),
    blockBuilder: addressAt(data, 40),
    blockBuilderCommissionPercent: readU64(data, 72),
    bumps: [...data.subarray(80, 89)],
  };
}

/** Encodes what `decodeTipPaymentConfig` decodes, 89 bytes. */
export function encodeTipPaymentConfig(config: TipPaymentConfig): Uint8Array {
  return new ByteWriter(tipPaymentConfigSize)
    .bytes(discriminators.config)
    .address(config.tipReceiver)
    .address(config.blockBuilder)
    .u64(config.blockBuilderCommissionPercent)
    .bytes(Uint8Array.from(config.bumps))
    .finish(tipPaymentConfigSize);
}

/** The configuration of the tip distribution program. */
export interface TipDistributionConfig {
  readonly authority: Address;
  readonly expiredFundsAccount: Address;
  /** Epochs in which tips can be claimed. */
  readonly epochsValid: bigint;
  readonly maxValidatorCommissionBps: number;
  readonly bump: number;
}

/**
 * Decodes the configuration of the tip distribution program: discriminator at 0, authority at 8, expired funds account
 * at 40, epochs (u64) at 72, commission (u16) at 80, bump at 82.
 *
 * @returns null when the discriminator differs or fewer than 83 bytes are there
 */
export function decodeTipDistributionConfig(data: Uint8Array): TipDistributionConfig | null {
  if (!begins(data, discriminators.config, tipDistributionConfigSize)) return null;
  return {
    authority: addressAt(data, 8),
    expiredFundsAccount: addressAt(data, 40),
    epochsValid: readU64(data, 72),
    maxValidatorCommissionBps: readU16(data, 80),
    bump: data[82] ?? 0,
  };
}

/** Encodes what `decodeTipDistributionConfig` decodes, 83 bytes. */
export function encodeTipDistributionConfig(config: TipDistributionConfig): Uint8Array {
  return new ByteWriter(tipDistributionConfigSize)
    .bytes(discriminators.config)
    .address(config.authority)
    .address(config.expiredFundsAccount)
    .u64(config.epochsValid)
    .u16(config.maxValidatorCommissionBps)
    .u8(config.bump)
    .finish(tipDistributionConfigSize);
}

/** What may be claimed from a distribution account, and what was. Amounts in lamports; the root has 32 bytes. */
export interface TipMerkleRoot {
  readonly root: Uint8Array;
  readonly maxTotalClaim: bigint;
  readonly maxNumNodes: bigint;
  readonly totalFundsClaimed: bigint;
  readonly numNodesClaimed: bigint;
}

/** The tips of one validator and epoch. */
export interface TipDistributionAccount {
  readonly voteAccount: Address;
  readonly merkleRootUploadAuthority: Address;
  /** Null until the epoch is over and its claims are known. */
  readonly merkleRoot: TipMerkleRoot | null;
  readonly epochCreatedAt: bigint;
  readonly validatorCommissionBps: number;
  /** The last epoch in which tips can be claimed. */
  readonly expiresAt: bigint;
  readonly bump: number;
}

function readMerkleRoot(reader: ByteReader): TipMerkleRoot {
  return {
    root: reader.bytes(32).slice(),
    maxTotalClaim: reader.u64(),
    maxNumNodes: reader.u64(),
    totalFundsClaimed: reader.u64(),
    numNodesClaimed: reader.u64(),
  };
}

/**
 * Decodes a tip distribution account: discriminator at 0, vote account at 8, merkle root authority at 40, then from 72
 * on the optional merkle root (Borsh), epoch, commission (u16, basis points), last epoch and bump.
 *
 * @returns null when the discriminator differs, the bytes end early or an option's tag is neither 0 nor 1
 */
export function decodeTipDistributionAccount(data: Uint8Array): TipDistributionAccount | null {
  if (!begins(data, discriminators.distribution, 92)) return null;
  return orNull(() => {
    const reader = new ByteReader(data, 72);
    return {
      voteAccount: addressAt(data, 8),
      merkleRootUploadAuthority: addressAt(data, 40),
      merkleRoot: reader.optional(() => readMerkleRoot(reader)),
      epochCreatedAt: reader.u64(),
      validatorCommissionBps: reader.u16(),
      expiresAt: reader.u64(),
      bump: reader.u8(),
    };
  });
}

/** Encodes what `decodeTipDistributionAccount` decodes, 168 bytes. */
export function encodeTipDistributionAccount(account: TipDistributionAccount): Uint8Array {
  const writer = new ByteWriter(tipDistributionAccountSize)
    .bytes(discriminators.distribution)
    .address(account.voteAccount)
    .address(account.merkleRootUploadAuthority);
  writer.option(account.merkleRoot, (merkle) => {
    writer.bytes(merkle.root).u64(merkle.maxTotalClaim).u64(merkle.maxNumNodes);
    writer.u64(merkle.totalFundsClaimed).u64(merkle.numNodesClaimed);
  });
  writer.u64(account.epochCreatedAt).u16(account.validatorCommissionBps).u64(account.expiresAt).u8(account.bump);
  return writer.finish(tipDistributionAccountSize);
}
