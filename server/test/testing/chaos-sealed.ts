/** Encrypts the bundles of the campaign of chaos, as a searcher does, and in every wrong way. */
import { protoFiles } from "@sluice/contract/proto";
import { seal } from "../../src/engine/testing/seal.ts";
import { PlainClient } from "../../src/net/grpc/testing/grpc-client.ts";

/** How a bundle is sealed; `sound` is the right way. */
export const sealings = ["sound", "unknown key", "other claim", "used key", "bad padding", "no request"] as const;
export type Sealing = (typeof sealings)[number];

/** A key of the engine's, as it publishes them. */
export interface SealingKey {
  readonly network: string;
  readonly id: string;
  readonly publicKey: string;
}

interface Sealable {
  readonly transactions: readonly Uint8Array[];
  readonly tip: bigint;
  readonly targetSlot: bigint | null;
}

const paddedBytes = 1_024;

export class Sealer implements Disposable {
  readonly #client = new PlainClient(1, { file: protoFiles.blockEngine, service: "blockengine.v1.BlockEngine" });
  /** A sound envelope, whose encapsulated key others use again. */
  #last: Uint8Array | null = null;

  /** The envelope of a bundle, sealed so. */
  async seal({ transactions, tip, targetSlot }: Sealable, how: Sealing, key: SealingKey): Promise<Uint8Array> {
    const parts = {
      network: key.network,
      // Before there is a key to be used again it is an unknown one.
      keyId: how === "unknown key" || how === "used key" ? "00000000deadbeef" : key.id,
      publicKey: new Uint8Array(Buffer.from(key.publicKey, "base64")),
      tip: how === "other claim" ? tip + 1n : tip,
      mevType: "arbitrage",
      targetSlot,
      message: this.#message(how === "no request" ? null : transactions),
      // Zeros alone have no mark where the message ends.
      ...(how === "bad padding" ? { padded: new Uint8Array(paddedBytes) } : {}),
    } as const;
    if (how === "used key" && this.#last !== null) {
      const again = this.#last.slice();
      const last = again.length - 1;
      again[last] = (again[last] ?? 0) ^ 1;
      return again;
    }
    const envelope = await seal(parts);
    if (how === "sound") this.#last = envelope;
    return envelope;
  }

  #message(transactions: readonly Uint8Array[] | null): Uint8Array {
    if (transactions === null) return Uint8Array.of(0x0a, 0x7f, 1);
    return this.#client.encoded("SubmitBundle", { transactions: transactions.map((bytes) => Buffer.from(bytes)) });
  }

  [Symbol.dispose](): void {
    this.#client[Symbol.dispose]();
  }
}
