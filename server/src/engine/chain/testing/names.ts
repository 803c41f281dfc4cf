import { createHash } from "node:crypto";
import { type Address, addressOfBytes, type Signature, signatureOfBytes } from "@sluice/wire/identifiers";

const digest = (name: string): Uint8Array => new Uint8Array(createHash("sha256").update(name).digest());

/** An address, or a blockhash, by any name. */
export const addressNamed = (name: string): Address => addressOfBytes(digest(name));

/** A signature by any name. */
export const signatureNamed = (name: string): Signature => {
  return signatureOfBytes(new Uint8Array(Buffer.concat([digest(name), digest(`${name}'`)])));
};
