import { optional } from "./key-definition.ts";
import { programId, stakePool } from "./parsers.ts";

/** What operators decide about the stake pool whose figures are shown. */
export const poolKeys = {
  STAKE_POOL: optional(
    "Stake pool",
    "stake_pool.address",
    stakePool,
    "The SPL stake pool, on the default network, whose figures the block engine's REST endpoint shows. Without it they are 0.",
    { defaults: { dev: "3DVHWmsC4342enfRBcN2oZ8bhC45zn4Z59mTYijDU3qy", serve: null } },
  ),
  STAKE_POOL_PROGRAM: optional(
    "Stake pool",
    "stake_pool.program",
    programId,
    "The program that owns the pool, where it is a fork. Without it the SPL stake pool program of mainnet or devnet.",
  ),
  TIP_DISTRIBUTION_PROGRAM: optional(
    "Stake pool",
    "stake_pool.tip_distribution_program",
    programId,
    "The program from whose accounts validators' tips of an epoch are claimed. Without it Jito's of mainnet, which the development chain has too; other clusters have others.",
  ),
} as const;
