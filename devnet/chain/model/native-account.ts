import { maxU64 } from "@sluice/wire/identifiers";
import { programs } from "@sluice/wire/programs";
import type { ChainAccount } from "./records.ts";
import { rentExemptLamports } from "./sysvars.ts";

/** An account of `owner` that pays no rent: with just enough lamports for that when none are named. */
export function ownedAccount(owner: string, data: Uint8Array, lamports?: bigint): ChainAccount {
  return {
    lamports: lamports ?? rentExemptLamports(data.length),
    data,
    owner,
    executable: false,
    rentEpoch: maxU64,
  };
}

export function systemAccount(lamports: bigint): ChainAccount {
  return ownedAccount(programs.system, new Uint8Array(), lamports);
}

/**
 * A program that only stands there, as one of the node itself: it can be seen and not called, and no loader looks into
 * it. What it would do the chain does.
 */
export function standInProgram(name: string): ChainAccount {
  const data = new TextEncoder().encode(name);
  return { ...ownedAccount(programs.nativeLoader, data), executable: true };
}
