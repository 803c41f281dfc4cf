import { ByteWriter } from "@sluice/wire/bytes";
import { accountTag } from "../runtime.ts";

/**
 * Accounts and numbers of the pool program: those of a constant-product program of the CPMM family, which X1's exchange
 * is of too, so that what reads that one reads this one.
 */

/** The id of X1's exchange on its testnet. */
export const ammProgram = "7EEuq61z9VKdkUzj7G36xGd7ncyz8KBtUwAWVjypYQHf";
export const authoritySeed = "vault_and_lp_mint_auth_seed";

/** Fees are parts of a million. */
export const feeDenominator = 1_000_000n;
const configBytes = 236;
export const poolBytes = 637;
/** tag 8, observation count and so on: nothing in it is kept by this program. */
export const observationBytes = 4_075;

export const configOffsets = { tradeFeeRate: 12 } as const;

export const poolOffsets = {
  config: 8,
  creator: 40,
  vaults: [72, 104],
  lpMint: 136,
  mints: [168, 200],
  tokenPrograms: [232, 264],
  observation: 296,
  authorityBump: 328,
  status: 329,
  lpSupply: 333,
} as const;

/** Bits of a pool's status. */
export const poolStatus = { noDeposit: 1, noWithdraw: 2, noSwap: 4 } as const;

export const ammErrors = {
  notApproved: 6_000n,
  emptySupply: 6_002n,
  invalidInput: 6_003n,
  incorrectLpMint: 6_004n,
  exceededSlippage: 6_005n,
  zeroTradingTokens: 6_006n,
  invalidVault: 6_008n,
} as const;

interface PoolSide {
  readonly vault: Uint8Array;
  readonly mint: Uint8Array;
  readonly tokenProgram: Uint8Array;
  readonly decimals: number;
}

export interface PoolParts {
  readonly config: Uint8Array;
  readonly creator: Uint8Array;
  /** The mint with the smaller bytes first. */
  readonly sides: readonly [PoolSide, PoolSide];
  readonly lpMint: Uint8Array;
  readonly lpDecimals: number;
  readonly lpSupply: bigint;
  readonly observation: Uint8Array;
  readonly authorityBump: number;
}

export function encodePool(pool: PoolParts): Uint8Array {
  const [zero, one] = pool.sides;
  return new ByteWriter()
    .bytes(accountTag("PoolState"))
    .bytes(pool.config)
    .bytes(pool.creator)
    .bytes(zero.vault)
    .bytes(one.vault)
    .bytes(pool.lpMint)
    .bytes(zero.mint)
    .bytes(one.mint)
    .bytes(zero.tokenProgram)
    .bytes(one.tokenProgram)
    .bytes(pool.observation)
    .bytes(Uint8Array.of(pool.authorityBump, 0, pool.lpDecimals, zero.decimals, one.decimals))
    .u64(pool.lpSupply)
    .finish(poolBytes);
}

export function encodeConfig(config: { readonly bump: number; readonly tradeFeeRate: bigint }): Uint8Array {
  return new ByteWriter()
    .bytes(accountTag("AmmConfig"))
    .bytes(Uint8Array.of(config.bump, 1, 0, 0))
    .u64(config.tradeFeeRate)
    .finish(configBytes);
}
