import { createHash } from "node:crypto";
import { Keypair } from "@solana/web3.js";

/** The key pair of a wallet's name in a genesis file, as docs/guides/devnet.md describes it. */
export function walletKeypair(name: string): Keypair {
  return Keypair.fromSeed(createHash("sha256").update(`sluice devnet names/${name}`).digest());
}
