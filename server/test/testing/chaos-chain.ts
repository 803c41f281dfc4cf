/** What the campaign of chaos asks of the chain itself, and sends to it past the block engine. */
import { eventually } from "@sluice/lib/testing";
import type { TextRandom } from "../../../devnet/random.ts";
import type { ChainMoment } from "./chaos-bundles.ts";
import { post } from "./network.ts";

interface Hash {
  readonly blockhash: string;
  /** The last height at which it is valid. */
  readonly height: number;
}

/** Hashes that are kept, so that one can be taken that is nearly too old. */
const hashesKept = 260;
/** Blocks; a hash is too old after 150. */
const nearlyOver = { from: 100, to: 154 } as const;

export class ChainWatch {
  /** Transactions that were sent past the engine. */
  readonly sentAlone = new Set<string>();
  readonly #rpc: string;
  readonly #draw: TextRandom;
  readonly #hashes: Hash[] = [];

  constructor(rpc: string, draw: TextRandom) {
    this.#rpc = rpc;
    this.#draw = draw;
  }

  /** What a bundle that is drawn now is drawn for. */
  async look(): Promise<ChainMoment> {
    const [final, settled, newest] = await Promise.all([
      this.#hash("finalized"),
      this.#hash("confirmed"),
      this.#hash("processed"),
    ]);
    this.#hashes.push(settled);
    if (this.#hashes.length > hashesKept) this.#hashes.shift();
    const age = nearlyOver.from + this.#draw.below(nearlyOver.to - nearlyOver.from);
    const old = this.#hashes.findLast(({ height }) => newest.height - height >= age) ?? this.#hashes[0] ?? settled;
    return {
      slot: BigInt((await this.ask<{ result: number }>("getSlot", [{ commitment: "processed" }])).result),
      final: final.blockhash,
      settled: settled.blockhash,
      newest: newest.blockhash,
      old: old.blockhash,
    };
  }

  async finalized(): Promise<number> {
    return (await this.ask<{ result: number }>("getSlot", [{ commitment: "finalized" }])).result;
  }

  async fund(address: string, lamports: bigint): Promise<void> {
    const { result } = await this.ask<{ result: string }>("requestAirdrop", [address, Number(lamports)]);
    this.sentAlone.add(result);
  }

  async funded(address: string): Promise<void> {
    await eventually("funds", async () => {
      const { result } = await this.ask<{ result: { value: number } }>("getBalance", [address]);
      return result.value > 0;
    });
  }

  /** Sends a transaction to the node for itself. */
  async send(bytes: Uint8Array, signature: string): Promise<void> {
    this.sentAlone.add(signature);
    const options = { encoding: "base64", skipPreflight: true };
    await this.ask("sendTransaction", [Buffer.from(bytes).toString("base64"), options]);
  }

  async ask<T = unknown>(method: string, params: readonly unknown[]): Promise<T> {
    const { body } = await post(this.#rpc, { jsonrpc: "2.0", id: 1, method, params });
    return body;
  }

  async #hash(commitment: string): Promise<Hash> {
    const { result } = await this.ask<{ result: { value: { blockhash: string; lastValidBlockHeight: number } } }>(
      "getLatestBlockhash",
      [{ commitment }],
    );
    return { blockhash: result.value.blockhash, height: result.value.lastValidBlockHeight };
  }
}
