import { Chacha20Poly1305 } from "@hpke/chacha20poly1305";
import { CipherSuite, DhkemX25519HkdfSha256, HkdfSha256 } from "@hpke/core";
import { additionalData, pad, type SealedClaims, writeEnvelope } from "@sluice/contract/sealed-bundle";

export interface SealParts extends SealedClaims {
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /** A serialized BundleRequest. */
  readonly message: Uint8Array;
  /** What is encrypted in place of the padded message. */
  readonly padded?: Uint8Array;
}

/** Seals a bundle as a searcher does. */
export async function seal(parts: SealParts): Promise<Uint8Array> {
  const suite = new CipherSuite({
    kem: new DhkemX25519HkdfSha256(),
    kdf: new HkdfSha256(),
    aead: new Chacha20Poly1305(),
  });
  const recipientPublicKey = await suite.kem.deserializePublicKey(new Uint8Array(parts.publicKey).buffer);
  const padded = parts.padded ?? pad(parts.message);
  if (padded === null) throw new Error("too long to be sealed");
  const { enc, ct } = await suite.seal(
    { recipientPublicKey },
    new Uint8Array(padded).buffer,
    new Uint8Array(additionalData(parts)).buffer,
  );
  return writeEnvelope({ keyId: parts.keyId, enc: new Uint8Array(enc), ciphertext: new Uint8Array(ct) });
}
