import { createHash } from "node:crypto";

/** The values that the runtime reads as its own errors. Source: solana-program-error. */
export const runtimeErrors = {
  invalidInstructionData: 3n << 32n,
  invalidAccountData: 4n << 32n,
  incorrectProgramId: 7n << 32n,
  missingRequiredSignature: 8n << 32n,
  accountAlreadyInitialized: 9n << 32n,
  notEnoughAccountKeys: 11n << 32n,
  invalidSeeds: 14n << 32n,
  invalidAccountOwner: 23n << 32n,
  arithmeticOverflow: 24n << 32n,
} as const;

/** Offsets within an account as the loader hands it over. Source: solana-program-entrypoint, aligned layout. */
export const record = { signer: 1, writable: 2, executable: 3, key: 8, owner: 40, lamports: 72, size: 80, data: 88 };

/** The eight bytes by which Anchor programs distinguish instructions, accounts and events. */
function tag(space: "global" | "account" | "event", name: string): Uint8Array {
  return new Uint8Array(createHash("sha256").update(`${space}:${name}`).digest().subarray(0, 8));
}

export const instructionTag = (name: string): Uint8Array => tag("global", name);
export const accountTag = (name: string): Uint8Array => tag("account", name);
export const eventTag = (name: string): Uint8Array => tag("event", name);

/** A tag as a program compares it: one number. */
export function tagNumber(bytes: Uint8Array): bigint {
  return new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0, true);
}
