import {
  decodeTipDistributionAccount,
  encodeTipDistributionAccount,
  type TipDistributionAccount,
  tipPrograms,
} from "@sluice/wire/accounts/tips";
import { decodeAddress } from "@sluice/wire/base58";
import { ByteWriter } from "@sluice/wire/bytes";
import { rentExemptLamports, systemAccount } from "../../model/index.ts";
import type { AccountOverlay } from "../account-overlay.ts";
import { sha256 } from "./tip-programs.ts";

const wholeBps = 10_000n;

interface Claim {
  readonly address: string;
  readonly lamports: bigint;
}

interface ClaimsInput {
  /** The epoch that begins. */
  readonly epoch: bigint;
  /** By vote account, the stake accounts that were active in the epoch that has ended. */
  readonly stakes: ReadonlyMap<string, readonly { readonly address: string; readonly stake: bigint }[]>;
  readonly operator: string;
}

/** The root of the tree of claims: the first byte distinguishes leaves from nodes, pairs are in byte order. */
function merkleRoot(claims: readonly Claim[]): Uint8Array {
  let level = claims.map(({ address, lamports }) => {
    const node = new ByteWriter()
      .bytes(decodeAddress(address) ?? new Uint8Array(32))
      .u64(lamports)
      .finish();
    return sha256(Buffer.concat([Uint8Array.of(0), sha256(node)]));
  });
  while (level.length > 1) {
    const above: Uint8Array[] = [];
    for (let index = 0; index < level.length; index += 2) {
      const left = level[index] ?? new Uint8Array(32);
      const right = level[index + 1] ?? left;
      const pair = Buffer.compare(left, right) <= 0 ? [left, right] : [right, left];
      above.push(sha256(Buffer.concat([Uint8Array.of(1), ...pair])));
    }
    level = above;
  }
  return level[0] ?? new Uint8Array(32);
}

/**
 * The validator's commission goes to its vote account, the rest to its stake in proportion. Rounding leaves a little.
 */
function claimsOf(held: TipDistributionAccount, lamports: bigint, input: ClaimsInput): Claim[] {
  const commission = (lamports * BigInt(held.validatorCommissionBps)) / wholeBps;
  const stakes = input.stakes.get(held.voteAccount) ?? [];
  const total = stakes.reduce((sum, { stake }) => sum + stake, 0n);
  const shares = stakes.map(({ address, stake }) => ({ address, lamports: ((lamports - commission) * stake) / total }));
  return [{ address: held.voteAccount, lamports: commission }, ...shares].filter((claim) => claim.lamports > 0n);
}

function distribute(address: string, held: TipDistributionAccount, input: ClaimsInput, accounts: AccountOverlay): void {
  const account = accounts.read(address);
  if (account === null) return;
  const lamports = account.lamports - rentExemptLamports(account.data.length);
  const claims = lamports > 0n ? claimsOf(held, lamports, input) : [];
  let claimed = 0n;
  let numNodesClaimed = 0n;
  for (const claim of claims) {
    if (accounts.read(claim.address) === null) continue;
    accounts.add(claim.address, claim.lamports, systemAccount(0n));
    claimed += claim.lamports;
    numNodesClaimed += 1n;
  }
  const root = {
    root: merkleRoot(claims),
    maxTotalClaim: claims.reduce((sum, claim) => sum + claim.lamports, 0n),
    maxNumNodes: BigInt(claims.length),
    totalFundsClaimed: claimed,
    numNodesClaimed,
  };
  const data = encodeTipDistributionAccount({ ...held, merkleRoot: root });
  accounts.write(address, { ...account, data, lamports: account.lamports - claimed });
}

/** Its rent goes back to the validator, and unclaimed tips to the operator of the tip programs. */
function close(address: string, held: TipDistributionAccount, operator: string, accounts: AccountOverlay): void {
  const account = accounts.read(address);
  if (account === null) return;
  const rent = rentExemptLamports(account.data.length);
  accounts.write(address, null);
  accounts.add(held.voteAccount, rent, systemAccount(0n));
  if (account.lamports > rent) accounts.add(operator, account.lamports - rent, systemAccount(0n));
}

/**
 * Gives the tips of the epochs that are over to those who may claim them, all at once, and closes the distribution
 * accounts whose time has run out. `addresses` are the accounts of the distribution program.
 */
export function settleTips(addresses: Iterable<string>, input: ClaimsInput, accounts: AccountOverlay): void {
  for (const address of [...addresses]) {
    const account = accounts.read(address);
    const held = account?.owner === tipPrograms.distribution ? decodeTipDistributionAccount(account.data) : null;
    if (held === null) continue;
    if (held.expiresAt < input.epoch) close(address, held, input.operator, accounts);
    else if (held.merkleRoot === null && held.epochCreatedAt < input.epoch) distribute(address, held, input, accounts);
  }
}
