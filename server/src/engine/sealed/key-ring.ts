import { Chacha20Poly1305 } from "@hpke/chacha20poly1305";
import { CipherSuite, DhkemX25519HkdfSha256, HkdfSha256 } from "@hpke/core";
import type { Clock, Random, SecretVault } from "@sluice/lib";
import type { Slot } from "@sluice/wire/identifiers";
import type { EncryptionKeyRecord, EncryptionKeyStore } from "../../state/index.ts";

/** The one suite of encrypted bundles, RFC 9180 in base mode. Opening one costs about 0.8 ms (WebCrypto, 1 KiB). */
const suite = (): CipherSuite =>
  new CipherSuite({ kem: new DhkemX25519HkdfSha256(), kdf: new HkdfSha256(), aead: new Chacha20Poly1305() });

export interface RawKeyPair {
  /** 32 bytes each. */
  readonly publicKey: Uint8Array;
  readonly privateKey: Uint8Array;
}

/** A fresh key pair, X25519. */
export async function generateKeyPair(): Promise<RawKeyPair> {
  const { kem } = suite();
  const pair = await kem.generateKeyPair();
  const [publicKey, privateKey] = await Promise.all([
    kem.serializePublicKey(pair.publicKey),
    kem.serializePrivateKey(pair.privateKey),
  ]);
  return { publicKey: new Uint8Array(publicKey), privateKey: new Uint8Array(privateKey) };
}

const bufferOf = (bytes: Uint8Array): ArrayBuffer => new Uint8Array(bytes).buffer;

/** The plaintext, or null when the key, the data or the ciphertext do not belong together. */
export async function openCiphertext(
  sealed: { readonly enc: Uint8Array; readonly ciphertext: Uint8Array },
  privateKey: Uint8Array,
  additional: Uint8Array,
): Promise<Uint8Array | null> {
  const created = suite();
  try {
    const recipientKey = await created.kem.deserializePrivateKey(bufferOf(privateKey));
    const plain = await created.open(
      { recipientKey, enc: bufferOf(sealed.enc) },
      bufferOf(sealed.ciphertext),
      bufferOf(additional),
    );
    return new Uint8Array(plain);
  } catch {
    return null;
  }
}

export interface KeyRingDependencies {
  readonly store: EncryptionKeyStore;
  readonly vault: SecretVault;
  readonly random: Random;
  readonly clock: Pick<Clock, "now">;
  /** The first and the last slot of the epoch that a slot is in; null while the chain has not reported. */
  readonly epochOf: (slot: Slot) => { readonly first: bigint; readonly last: bigint } | null;
}

interface HeldKey extends EncryptionKeyRecord {
  /** As it came from the vault. */
  readonly opened: Uint8Array;
}

/** How many slots after its end a key still opens what was sealed with it in time: a bundle's life at 400 ms a slot. */
const afterlifeSlots = 750n;
/** Another replica may have made the epoch's key; the store is read again after so many slots. */
const lookSlots = 25n;

/**
 * The keys that bundles are sealed to: one made at the start of each epoch, valid to the end of the next one. Replicas
 * share them by the store; each may make its own, and every one of them is good.
 */
export class KeyRing {
  readonly #dependencies: KeyRingDependencies;
  #keys: readonly HeldKey[] = [];
  #readAt: bigint | null = null;
  #madeFor: bigint | null = null;
  #turning: Promise<void> | null = null;

  constructor(dependencies: KeyRingDependencies) {
    this.#dependencies = dependencies;
  }

  /** Looks after the keys at a slot: reads what others have made, makes what is missing, forgets what is over. */
  turn(slot: Slot): Promise<void> {
    this.#turning ??= this.#turn(slot).finally(() => {
      this.#turning = null;
    });
    return this.#turning;
  }

  async #turn(slot: Slot): Promise<void> {
    const epoch = this.#dependencies.epochOf(slot);
    if (epoch === null) return;
    const isDue = this.#readAt === null || slot < this.#readAt || slot >= this.#readAt + lookSlots;
    if (isDue) await this.#look(slot);
    if (this.#madeFor === epoch.first || this.#keys.some(({ validFrom }) => validFrom === epoch.first)) return;
    await this.#make(epoch);
    await this.#look(slot);
    await this.#dependencies.store.forget(slot > afterlifeSlots ? slot - afterlifeSlots : 0n);
  }

  async #look(slot: Slot): Promise<void> {
    const stored = await this.#dependencies.store.since(slot > afterlifeSlots ? slot - afterlifeSlots : 0n);
    this.#keys = stored.flatMap((key) => {
      const opened = this.#dependencies.vault.unwrap(key.id, key.privateKey);
      return opened === null ? [] : [{ ...key, opened }];
    });
    this.#readAt = slot;
  }

  async #make({ first, last }: { readonly first: bigint; readonly last: bigint }): Promise<void> {
    const { store, vault, random, clock } = this.#dependencies;
    const id = Buffer.from(random.bytes(8)).toString("hex");
    const pair = await generateKeyPair();
    const length = last - first + 1n;
    await store.insert({
      id,
      createdAt: clock.now(),
      validFrom: first,
      validUntil: last + length,
      publicKey: pair.publicKey,
      privateKey: vault.wrap(id, pair.privateKey),
    });
    this.#madeFor = first;
  }

  /** Those that bundles may be sealed to at this slot, the newest first. */
  valid(slot: bigint): readonly EncryptionKeyRecord[] {
    return this.#keys
      .filter(({ validFrom, validUntil }) => validFrom <= slot && slot <= validUntil)
      .toSorted((one, other) => Number(other.validFrom - one.validFrom));
  }

  /** The private key to this id, 32 bytes; null for one that is unknown or long over. */
  privateKey(id: string): Uint8Array | null {
    return this.#keys.find((key) => key.id === id)?.opened ?? null;
  }
}
