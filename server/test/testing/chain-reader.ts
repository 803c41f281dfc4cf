/** What the chain itself says, asked without Sluice between. */
import { eventually } from "@sluice/lib/testing";
import { Keypair, type VersionedTransaction } from "@solana/web3.js";
import { signatureOf, textOf } from "./bundles.ts";
import { post } from "./network.ts";

interface Wallets {
  readonly 1: readonly [Keypair];
  readonly 2: readonly [Keypair, Keypair];
}

export class ChainReader {
  readonly #rpc: string;

  constructor(rpc: string) {
    this.#rpc = rpc;
  }

  // biome-ignore lint/suspicious/noExplicitAny: answers are asserted on, member by member.
  async call(method: string, ...params: readonly unknown[]): Promise<any> {
    const { body } = await post(this.#rpc, { jsonrpc: "2.0", id: 1, method, params });
    if (body.error !== undefined) throw new Error(`${method}: ${body.error.message}`);
    return body.result;
  }

  async blockhash(commitment = "confirmed"): Promise<string> {
    return (await this.call("getLatestBlockhash", { commitment })).value.blockhash;
  }

  async slot(): Promise<number> {
    return await this.call("getSlot", { commitment: "processed" });
  }

  async balance(address: string): Promise<number> {
    return (await this.call("getBalance", address, { commitment: "processed" })).value;
  }

  /** Wallets with 10 SOL each, which the chain has confirmed. */
  async wallets<Count extends 1 | 2>(count: Count): Promise<Wallets[Count]> {
    const all = { 1: [Keypair.generate()], 2: [Keypair.generate(), Keypair.generate()] } as const satisfies Wallets;
    const wallets: Wallets[Count] = all[count];
    await Promise.all(wallets.map((each) => this.call("requestAirdrop", each.publicKey.toBase58(), 10_000_000_000)));
    for (const { publicKey } of wallets) {
      const held = async (): Promise<boolean> =>
        (await this.call("getBalance", publicKey.toBase58(), { commitment: "confirmed" })).value > 0;
      await eventually("the wallet is funded", held);
    }
    return wallets;
  }

  /** Sends it as anybody would, and waits until the chain has confirmed it. */
  async land(transaction: VersionedTransaction): Promise<void> {
    await this.call("sendTransaction", textOf(transaction), { encoding: "base64", skipPreflight: true });
    await eventually("the transaction is confirmed", async () => {
      const status = await this.landed(signatureOf(transaction));
      return status !== null && status.confirmationStatus !== "processed";
    });
  }

  /** The signatures of a confirmed block, in its order. */
  async block(slot: number): Promise<readonly string[]> {
    const config = { commitment: "confirmed", maxSupportedTransactionVersion: 0, transactionDetails: "signatures" };
    return (await this.call("getBlock", slot, { ...config, rewards: false })).signatures;
  }

  /** The slot of a transaction whose outcome the chain knows, and whether it failed; null where there is none. */
  async landed(
    signature: string,
  ): Promise<{ readonly slot: number; readonly err: unknown; readonly confirmationStatus: string } | null> {
    const [status] = (await this.call("getSignatureStatuses", [signature], { searchTransactionHistory: true })).value;
    return status ?? null;
  }
}
