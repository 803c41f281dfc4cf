import { createHash } from "node:crypto";

/** The nonce value that a bank gives after the block of this hash. Source: solana-nonce, DurableNonce::from_blockhash. */
export function durableNonce(blockhash: Uint8Array): Uint8Array {
  return new Uint8Array(createHash("sha256").update("DURABLE_NONCE").update(blockhash).digest());
}
