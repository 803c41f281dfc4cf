import { createCipheriv, createDecipheriv, createHash } from "node:crypto";
import type { Random } from "./random.ts";

const plainMark = 0;
/** Sealed without the id of the master key, as earlier versions did. */
const unnamedMark = 1;
const sealedMark = 2;
const keyIdBytes = 8;
const nonceBytes = 12;
const tagBytes = 16;

interface Key {
  readonly id: string;
  readonly bytes: Buffer;
}

/** The name of a master key, which tells nothing of it: 16 hexadecimal digits. `masterKey` is 64 of them. */
export function masterKeyId(masterKey: string): string {
  const hash = createHash("sha256").update("sluice master key id").update(Buffer.from(masterKey, "hex"));
  return hash.digest("hex").slice(0, keyIdBytes * 2);
}

/** The id of the master key that a stored secret names; null where it is plain, or names none. */
export function sealedUnder(stored: Uint8Array): string | null {
  if (stored[0] !== sealedMark || stored.length < 1 + keyIdBytes) return null;
  return Buffer.from(stored.subarray(1, 1 + keyIdBytes)).toString("hex");
}

/**
 * Secrets as they lie in a store: under AES-256-GCM with the master key, bound to the id that they lie under, or plain
 * where there is no master key, as under `dev`. Ids of different things differ by how they begin. Further master keys
 * open what was sealed with them, and seal nothing.
 */
export class SecretVault {
  readonly #present: Key | null;
  /** The present one first. */
  readonly #keys: readonly Key[];
  readonly #random: Random;

  /** `masterKey`, and each of `others`, is 64 hexadecimal digits. */
  constructor(masterKey: string | null, random: Random, others: readonly string[] = []) {
    const keyOf = (text: string): Key => ({ id: masterKeyId(text), bytes: Buffer.from(text, "hex") });
    this.#present = masterKey === null ? null : keyOf(masterKey);
    this.#keys = [...(this.#present === null ? [] : [this.#present]), ...others.map(keyOf)];
    this.#random = random;
  }

  /** The id of the key that seals; null where secrets are stored plain. */
  get keyId(): string | null {
    return this.#present?.id ?? null;
  }

  /** The ids of all keys that open, the present one first. */
  get keyIds(): readonly string[] {
    return this.#keys.map(({ id }) => id);
  }

  /** Whether the secret is stored as `wrap` would store it now. */
  isPresent(stored: Uint8Array): boolean {
    return this.#present === null ? stored[0] === plainMark : sealedUnder(stored) === this.#present.id;
  }

  wrap(id: string, secret: Uint8Array): Uint8Array {
    if (this.#present === null) return Uint8Array.of(plainMark, ...secret);
    const nonce = this.#random.bytes(nonceBytes);
    const head = Buffer.from(this.#present.id, "hex");
    const cipher = createCipheriv("aes-256-gcm", this.#present.bytes, nonce).setAAD(Buffer.from(id));
    const sealed = Buffer.concat([cipher.update(secret), cipher.final()]);
    return new Uint8Array(Buffer.concat([Uint8Array.of(sealedMark), head, nonce, sealed, cipher.getAuthTag()]));
  }

  /** Null for what none of the master keys wrapped. */
  unwrap(id: string, stored: Uint8Array): Uint8Array | null {
    if (stored[0] === plainMark) return stored.slice(1);
    if (stored[0] === unnamedMark) return this.#openWithAny(id, stored.subarray(1));
    const named = sealedUnder(stored);
    const key = this.#keys.find((each) => each.id === named);
    return key === undefined ? null : open(key, id, stored.subarray(1 + keyIdBytes));
  }

  #openWithAny(id: string, sealed: Uint8Array): Uint8Array | null {
    for (const key of this.#keys) {
      const opened = open(key, id, sealed);
      if (opened !== null) return opened;
    }
    return null;
  }
}

/** `sealed` is a nonce, the ciphertext and a tag. */
function open({ bytes }: Key, id: string, sealed: Uint8Array): Uint8Array | null {
  const nonce = sealed.subarray(0, nonceBytes);
  const ciphertext = sealed.subarray(nonceBytes, sealed.length - tagBytes);
  try {
    const decipher = createDecipheriv("aes-256-gcm", bytes, nonce).setAAD(Buffer.from(id));
    decipher.setAuthTag(sealed.subarray(sealed.length - tagBytes));
    return new Uint8Array(Buffer.concat([decipher.update(ciphertext), decipher.final()]));
  } catch {
    return null;
  }
}
