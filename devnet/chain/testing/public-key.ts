import { createPublicKey, type KeyObject } from "node:crypto";

/** DER of an Ed25519 public key up to the 32 bytes of the key itself. Source: RFC 8410. */
const spkiPrefix = Buffer.from("302a300506032b6570032100", "hex");

/** A key of the runtime's from the 32 bytes of a public key. */
export function publicKeyOf(bytes: Uint8Array): KeyObject {
  return createPublicKey({ key: Buffer.concat([spkiPrefix, bytes]), format: "der", type: "spki" });
}
