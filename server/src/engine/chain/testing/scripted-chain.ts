import type { CommitmentName } from "@sluice/contract/rpc";
import type { Slot } from "@sluice/wire/identifiers";
import type { ChainValue } from "../../../chain/index.ts";
import type { EngineChain } from "../../model/chain-port.ts";

export type Answer = (params: readonly unknown[]) => ChainValue | Promise<ChainValue>;

/** A chain whose answers the test writes; a call that it did not expect fails. */
export class ScriptedChain implements EngineChain {
  readonly answers = new Map<string, Answer>();
  readonly calls: { readonly method: string; readonly params: readonly unknown[] }[] = [];
  readonly #listeners = new Set<(commitment: CommitmentName, slot: Slot) => void>();
  readonly #newest = new Map<CommitmentName, Slot>();

  on(method: string, answer: Answer): this {
    this.answers.set(method, answer);
    return this;
  }

  countOf(method: string): number {
    return this.calls.filter((call) => call.method === method).length;
  }

  slot(commitment: CommitmentName, slot: bigint): void {
    this.#newest.set(commitment, slot as Slot);
    for (const listener of this.#listeners) listener(commitment, slot as Slot);
  }

  async read(method: string, params: readonly unknown[]): Promise<ChainValue> {
    this.calls.push({ method, params });
    const answer = this.answers.get(method);
    if (answer === undefined) throw new Error(`${method} was not expected`);
    return await answer(params);
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
