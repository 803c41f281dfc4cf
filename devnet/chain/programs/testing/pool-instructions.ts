import { type AccountMeta, PublicKey, TransactionInstruction } from "@solana/web3.js";
import type { GenesisPool } from "../../genesis/pools.ts";
import { associatedTokenAddress } from "../../model/token-accounts.ts";
import { instructionTag } from "../runtime.ts";

const read = (address: string, isSigner = false): AccountMeta => ({
  pubkey: new PublicKey(address),
  isSigner,
  isWritable: false,
});
const write = (address: string, isSigner = false): AccountMeta => ({ ...read(address, isSigner), isWritable: true });

export function poolNamed(pools: readonly GenesisPool[], name: string): GenesisPool {
  const pool = pools.find((each) => each.name === name);
  if (pool === undefined) throw new Error(`no pool ${name}`);
  return pool;
}

export function holding(owner: PublicKey, side: GenesisPool["sides"][number]): string {
  return associatedTokenAddress(owner.toBytes(), side.mint.program, side.mint.bytes);
}

function data(name: string, ...values: readonly bigint[]): Buffer {
  const bytes = Buffer.alloc(8 + values.length * 8);
  bytes.set(instructionTag(name));
  for (const [index, value] of values.entries()) bytes.writeBigUInt64LE(value, 8 + index * 8);
  return bytes;
}

export interface SwapRequest {
  readonly owner: PublicKey;
  readonly pool: GenesisPool;
  /** Which side goes in. */
  readonly from: 0 | 1;
  readonly by: "input" | "output";
  /** Amount in and least out by input; most in and amount out by output. */
  readonly amounts: readonly [bigint, bigint];
}

export function swapInstruction({ owner, pool, from, by, amounts }: SwapRequest): TransactionInstruction {
  const [into, out] = from === 0 ? [pool.sides[0], pool.sides[1]] : [pool.sides[1], pool.sides[0]];
  return new TransactionInstruction({
    programId: new PublicKey(pool.program),
    keys: [
      read(owner.toBase58(), true),
      read(pool.authority),
      read(pool.config),
      write(pool.address),
      write(holding(owner, into)),
      write(holding(owner, out)),
      write(into.vault),
      write(out.vault),
      read(into.mint.program),
      read(out.mint.program),
      read(into.mint.address),
      read(out.mint.address),
      write(pool.observation),
    ],
    data: data(by === "input" ? "swap_base_input" : "swap_base_output", ...amounts),
  });
}

export interface LiquidityRequest {
  readonly owner: PublicKey;
  readonly pool: GenesisPool;
  readonly change: "deposit" | "withdraw";
  readonly lp: bigint;
  readonly bounds: readonly [bigint, bigint];
}

const tokenProgramAddress = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
const token2022 = "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb";

export function liquidityInstruction({ owner, pool, change, lp, bounds }: LiquidityRequest): TransactionInstruction {
  const [zero, one] = pool.sides;
  const lpAccount = associatedTokenAddress(owner.toBytes(), tokenProgramAddress, new PublicKey(pool.lpMint).toBytes());
  return new TransactionInstruction({
    programId: new PublicKey(pool.program),
    keys: [
      read(owner.toBase58(), true),
      read(pool.authority),
      write(pool.address),
      write(lpAccount),
      write(holding(owner, zero)),
      write(holding(owner, one)),
      write(zero.vault),
      write(one.vault),
      read(tokenProgramAddress),
      read(token2022),
      read(zero.mint.address),
      read(one.mint.address),
      write(pool.lpMint),
    ],
    data: data(change, lp, ...bounds),
  });
}
