import type { CommitmentName } from "@sluice/contract/rpc";
import type { Slot } from "@sluice/wire/identifiers";
import { call, post } from "../../../../../devnet/chain/testing/boot.ts";
import { type ChainValue, memberOf, parseChainJson } from "../../../chain/index.ts";
import { type EngineChain, EngineChainError } from "../../model/chain-port.ts";

/** A development node as the engine sees a network; the test says when its slots are noticed. */
export class DevnetChain implements EngineChain {
  readonly #url: string;
  readonly #newest = new Map<CommitmentName, Slot>();
  readonly #listeners = new Set<(commitment: CommitmentName, slot: Slot) => void>();

  constructor(url: string) {
    this.#url = url;
  }

  /** Reports the newest slots, as notices would. */
  async notice(): Promise<void> {
    for (const commitment of ["processed", "confirmed", "finalized"] as const) {
      const { result } = await call(this.#url, "getSlot", [{ commitment }]);
      const slot = BigInt(Number(result)) as Slot;
      this.#newest.set(commitment, slot);
      for (const listener of this.#listeners) listener(commitment, slot);
    }
  }

  async read(method: string, params: readonly unknown[]): Promise<ChainValue> {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }, (_, value: unknown) => {
      return typeof value === "bigint" ? Number(value) : value;
    });
    const answer = parseChainJson(await (await post(this.#url, body)).text());
    const error = memberOf(answer, "error");
    if (error !== undefined)
      throw new EngineChainError(String(memberOf(error, "message")), Number(memberOf(error, "code")));
    return memberOf(answer, "result") ?? null;
  }

  send(): Promise<boolean> {
    return Promise.reject(new Error("nothing is sent here"));
  }

  onSlot(listener: (commitment: CommitmentName, slot: Slot) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  newestSlot(commitment: CommitmentName): Slot | null {
    return this.#newest.get(commitment) ?? null;
  }

  genesis(): null {
    return null;
  }
}
