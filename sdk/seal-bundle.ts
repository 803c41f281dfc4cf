import { Chacha20Poly1305 } from "@hpke/chacha20poly1305";
import { CipherSuite, DhkemX25519HkdfSha256, HkdfSha256 } from "@hpke/core";
import type { MevType } from "@sluice/contract/engine";
import { additionalData, pad, writeEnvelope } from "@sluice/contract/sealed-bundle";

/** A key of `GET /api/v1/encryption-keys`, to seal with. */
export interface SealingKey {
  /** 16 lowercase hexadecimal digits. */
  readonly id: string;
  /** X25519, 32 bytes. */
  readonly publicKey: Uint8Array;
}

/** The bundle to seal, and the key that seals it. */
export interface SealParts {
  /** The network that the answer with the key names. */
  readonly network: string;
  readonly key: SealingKey;
  /** Serialized transactions, in their order. */
  readonly transactions: readonly Uint8Array[];
  /** Lamports: all that is known of the bundle until its tick. */
  readonly tip: bigint;
  readonly mevType?: MevType;
  readonly targetSlot?: bigint | null;
}

/** A sealed bundle and its id. */
export interface SealedBundle {
  /** The contents of `encrypted_payload`, besides the same tip, MEV type and target slot. */
  readonly envelope: Uint8Array;
  /** Hexadecimal SHA-256 of the envelope. */
  readonly bundleId: string;
}

/**
 * Encrypts a bundle (HPKE, RFC 9180), so that it cannot be read before its tick, by the engine's own auction either.
 * The encapsulated key is new for each call, so two envelopes of one bundle are two bundles.
 *
 * @throws {RangeError} when the transactions together are longer than the largest padded size, or the public key has
 * not 32 bytes
 */
export async function sealBundle(parts: SealParts): Promise<SealedBundle> {
  const { network, key, tip, mevType = "unknown", targetSlot = null } = parts;
  const message = pad(requestOf(parts.transactions));
  if (message === null) throw new RangeError("the transactions are too long to be sealed");
  if (key.publicKey.length !== 32) throw new RangeError("a public key is 32 bytes");
  const suite = new CipherSuite({
    kem: new DhkemX25519HkdfSha256(),
    kdf: new HkdfSha256(),
    aead: new Chacha20Poly1305(),
  });
  const recipientPublicKey = await suite.kem.deserializePublicKey(bufferOf(key.publicKey));
  const claims = additionalData({ network, keyId: key.id, tip, mevType, targetSlot });
  const { enc, ct } = await suite.seal({ recipientPublicKey }, bufferOf(message), bufferOf(claims));
  const envelope = writeEnvelope({ keyId: key.id, enc: new Uint8Array(enc), ciphertext: new Uint8Array(ct) });
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bufferOf(envelope)));
  return { envelope, bundleId: Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("") };
}

/** An ArrayBuffer of exactly these bytes: a view may begin inside of a larger one. */
const bufferOf = (bytes: Uint8Array): ArrayBuffer => new Uint8Array(bytes).buffer;

/** Field 1 of `blockengine.v1.BundleRequest`, with its wire type for bytes. */
const transactionsTag = 0x0a;

/** A serialized BundleRequest that has transactions and nothing else. */
function requestOf(transactions: readonly Uint8Array[]): Uint8Array {
  const bytes: number[] = [];
  for (const transaction of transactions) {
    bytes.push(transactionsTag);
    let length = transaction.length;
    for (; length > 0x7f; length >>>= 7) bytes.push((length & 0x7f) | 0x80);
    bytes.push(length);
    for (const byte of transaction) bytes.push(byte);
  }
  return Uint8Array.from(bytes);
}
