import { encodeBase58 } from "@sluice/wire/base58";
import { programs } from "@sluice/wire/programs";
import { bytesOf, derive, encodeMint } from "../model/index.ts";
import { ammProgram, authoritySeed, encodeConfig, encodePool, observationBytes } from "../programs/index.ts";
import type { PoolEntry } from "./file.ts";
import { type GenesisLedger, type KnownMint, rentFree } from "./ledger.ts";

/** 0.3%, in parts of a million; all of it stays in the pool. */
const tradeFeeRate = 3_000n;
const lpDecimals = 9;
/** Units without a holder, so that a pool is never empty. */
const lockedLp = 100n;
const utf8 = new TextEncoder();

interface GenesisPoolSide {
  readonly mint: KnownMint;
  readonly vault: string;
  readonly amount: bigint;
}

/** A pool of genesis, with everything that a swap must name. */
export interface GenesisPool {
  readonly name: string;
  readonly address: string;
  readonly program: string;
  readonly config: string;
  readonly authority: string;
  readonly observation: string;
  readonly lpMint: string;
  /** The mint with the smaller bytes first. */
  readonly sides: readonly [GenesisPoolSide, GenesisPoolSide];
}

const authority = () => derive([utf8.encode(authoritySeed)], ammProgram);
const config = () => derive([utf8.encode("amm_config"), new Uint8Array(2)], ammProgram);

/** The whole square root: the first liquidity of a pool. */
function squareRoot(value: bigint): bigint {
  if (value < 2n) return value;
  let guess = 1n << BigInt((value.toString(2).length + 1) >> 1);
  for (;;) {
    const next = (guess + value / guess) >> 1n;
    if (next >= guess) return guess;
    guess = next;
  }
}

/** The one configuration that all pools share. */
export function addPoolConfig(ledger: GenesisLedger): void {
  const { address, bump } = config();
  ledger.add("pools", address, rentFree(ammProgram, encodeConfig({ bump, tradeFeeRate: tradeFeeRate })));
}

/** The accounts of a pool; null, with a fault recorded, when it cannot exist. */
export function addPool(ledger: GenesisLedger, entry: PoolEntry, path: string): GenesisPool | null {
  const found = [...entry.amounts].map(([name, amount]) => ({ mint: ledger.mint(name), amount }));
  const sides = found.flatMap(({ mint, amount }) => (mint === null ? [] : [{ mint, amount }]));
  sides.sort((left, right) => Buffer.compare(left.mint.bytes, right.mint.bytes));
  const [zero, one] = sides;
  if (zero === undefined || one === undefined || zero.mint.address === one.mint.address) {
    ledger.faults.push({ path: `${path}.amounts`, message: "expected two mints of this file" });
    return null;
  }
  const configured = config();
  const signer = authority();
  const pool = derive([utf8.encode("pool"), configured.bytes, zero.mint.bytes, one.mint.bytes], ammProgram);
  const vault = (mint: KnownMint) => derive([utf8.encode("pool_vault"), pool.bytes, mint.bytes], ammProgram);
  const lpMint = derive([utf8.encode("pool_lp_mint"), pool.bytes], ammProgram);
  const observation = derive([utf8.encode("observation"), pool.bytes], ammProgram);
  const vaults = [vault(zero.mint), vault(one.mint)] as const;
  const side = (index: 0 | 1) => {
    const { mint } = index === 0 ? zero : one;
    const { bytes } = vaults[index];
    return { vault: bytes, mint: mint.bytes, tokenProgram: bytesOf(mint.program), decimals: mint.decimals };
  };
  const lpSupply = squareRoot(zero.amount * one.amount);
  if (lpSupply <= lockedLp) ledger.faults.push({ path: `${path}.amounts`, message: "expected more units" });
  const data = encodePool({
    config: configured.bytes,
    creator: ledger.key(entry.owner),
    sides: [side(0), side(1)],
    lpMint: lpMint.bytes,
    lpDecimals: lpDecimals,
    lpSupply,
    observation: observation.bytes,
    authorityBump: signer.bump,
  });
  ledger.add(path, pool.address, rentFree(ammProgram, data));
  ledger.add(path, observation.address, rentFree(ammProgram, new Uint8Array(observationBytes)));
  const units = { authority: signer.bytes, freezeAuthority: null, supply: lpSupply, decimals: lpDecimals };
  const lpData = encodeMint({ ...units, mint: lpMint.bytes, metadata: null });
  ledger.add(path, lpMint.address, rentFree(programs.token, lpData));
  const lp = { ...lpMint, program: programs.token, decimals: lpDecimals, authority: null };
  if (lpSupply > lockedLp) ledger.addHolding(path, lp, ledger.key(entry.owner), lpSupply - lockedLp);
  for (const [index, { mint, amount }] of [zero, one].entries()) {
    const at = encodeBase58((index === 0 ? vaults[0] : vaults[1]).bytes);
    ledger.addUnits(path, at, mint, signer.bytes, amount, false);
  }
  return {
    name: entry.name,
    address: pool.address,
    program: ammProgram,
    config: configured.address,
    authority: signer.address,
    observation: observation.address,
    lpMint: lpMint.address,
    sides: [
      { mint: zero.mint, vault: vaults[0].address, amount: zero.amount },
      { mint: one.mint, vault: vaults[1].address, amount: one.amount },
    ],
  };
}
