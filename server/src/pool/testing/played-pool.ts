import { decodeStakePool } from "@sluice/wire/accounts/stake-pool";
import { addressOfBytes } from "@sluice/wire/identifiers";
import { poolFigures } from "../figures.ts";
import type { ReadFigures } from "../figures-source.ts";
import type { EpochFacts, PoolSnapshot } from "../snapshot.ts";

const address = (index: number) => addressOfBytes(new Uint8Array(32).fill(index));

/** A pool of one validator in its second epoch, of round numbers. */
export function playedPool(): ReadFigures & { readonly snapshot: PoolSnapshot } {
  const blank = decodeStakePool(new Uint8Array(611).with(0, 1));
  if (blank === null) throw new Error("a pool of zeros is a pool");
  const vote = address(9);
  const snapshot: PoolSnapshot = {
    address: address(1),
    program: address(2),
    slot: 77n,
    epoch: 2n,
    unixTimestamp: 1_790_000_100n,
    epochStartTimestamp: 1_790_000_000n,
    schedule: { slotsPerEpoch: 32n, firstNormalEpoch: 0n, firstNormalSlot: 0n },
    pool: {
      ...blank,
      totalLamports: 1_200_000_000n,
      poolTokenSupply: 1_000_000_000n,
      lastUpdateEpoch: 2n,
      epochFee: { numerator: 1n, denominator: 10n },
      lastEpochTotalLamports: 1_199_990_000n,
      lastEpochPoolTokenSupply: 1_000_000_000n,
    },
    decimals: 9,
    validators: [
      {
        activeStakeLamports: 500_000_000n,
        transientStakeLamports: 3n,
        lastUpdateEpoch: 2n,
        transientSeedSuffix: 0n,
        validatorSeedSuffix: 0,
        status: "active",
        voteAccount: vote,
      },
    ],
  };
  const facts: EpochFacts = {
    epoch: 1n,
    length: { seconds: 172_800, from: "blocks" },
    counted: { epochs: 1n, seconds: 172_800, from: "sample" },
    validators: new Map([
      [
        vote,
        {
          vote,
          identity: address(8),
          commissionBasisPoints: 500,
          totalStake: 1_000_000_000n,
          tipAccount: address(7),
          tips: 1_000n,
          tipCommissionBasisPoints: 1_000,
          stakeAccount: address(6),
          inflation: { paid: 5_000n, before: 500_000_000n },
        },
      ],
    ]),
  };
  const figures = poolFigures(snapshot, { facts, names: new Map([[address(8), "alpha"]]), kept: null });
  return { snapshot, facts, figures, epochSeconds: 172_800, atMs: 1_790_000_100_000 };
}
