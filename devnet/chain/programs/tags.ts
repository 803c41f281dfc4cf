import { createHash } from "node:crypto";

/** The eight bytes by which Anchor programs tell instructions, accounts and events apart. */
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
