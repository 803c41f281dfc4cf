import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";
import { encodeBase58 } from "@sluice/wire/base58";

/** DER of an Ed25519 private key up to its 32-byte seed. Source: RFC 8410. */
const pkcs8Prefix = Buffer.from("302e020100300506032b657004220420", "hex");
const spkiPrefixBytes = 12;

/** A key pair of the chain's own genesis: the same text gives the same pair, so a seed names a whole chain. */
export class GenesisKeypair {
  readonly publicKey: Uint8Array;
  readonly address: string;
  readonly #privateKey: KeyObject;

  constructor(chainSeed: string, role: string) {
    const seed = createHash("sha256").update(`${chainSeed}/${role}`).digest();
    this.#privateKey = createPrivateKey({ key: Buffer.concat([pkcs8Prefix, seed]), format: "der", type: "pkcs8" });
    const spki = createPublicKey(this.#privateKey).export({ format: "der", type: "spki" });
    this.publicKey = new Uint8Array(spki.subarray(spkiPrefixBytes));
    this.address = encodeBase58(this.publicKey);
  }

  sign(message: Uint8Array): Uint8Array {
    return new Uint8Array(sign(null, message, this.#privateKey));
  }
}
