import { createCipheriv, createDecipheriv } from "node:crypto";
import type { Random } from "./random.ts";

const plainMark = 0;
const sealedMark = 1;
const nonceBytes = 12;
const tagBytes = 16;

/**
 * Secrets as they lie in a store: under AES-256-GCM with the master key, bound to the id that they lie under, or plain
 * where there is no master key, as under `dev`. Ids of different things differ by how they begin.
 */
export class SecretVault {
  readonly #masterKey: Buffer | null;
  readonly #random: Random;

  /** `masterKey` is 64 hexadecimal digits. */
  constructor(masterKey: string | null, random: Random) {
    this.#masterKey = masterKey === null ? null : Buffer.from(masterKey, "hex");
    this.#random = random;
  }

  wrap(id: string, secret: Uint8Array): Uint8Array {
    if (this.#masterKey === null) return Uint8Array.of(plainMark, ...secret);
    const nonce = this.#random.bytes(nonceBytes);
    const cipher = createCipheriv("aes-256-gcm", this.#masterKey, nonce).setAAD(Buffer.from(id));
    const sealed = Buffer.concat([cipher.update(secret), cipher.final()]);
    return new Uint8Array(Buffer.concat([Uint8Array.of(sealedMark), nonce, sealed, cipher.getAuthTag()]));
  }

  /** Null for what this master key did not wrap. */
  unwrap(id: string, stored: Uint8Array): Uint8Array | null {
    if (stored[0] === plainMark) return stored.slice(1);
    if (stored[0] !== sealedMark || this.#masterKey === null) return null;
    const nonce = stored.subarray(1, 1 + nonceBytes);
    const sealed = stored.subarray(1 + nonceBytes, stored.length - tagBytes);
    try {
      const decipher = createDecipheriv("aes-256-gcm", this.#masterKey, nonce).setAAD(Buffer.from(id));
      decipher.setAuthTag(stored.subarray(stored.length - tagBytes));
      return new Uint8Array(Buffer.concat([decipher.update(sealed), decipher.final()]));
    } catch {
      return null;
    }
  }
}
