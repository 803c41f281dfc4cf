import type { CommitmentName } from "@sluice/contract/rpc";
import type { Network } from "@sluice/contract/tiers";

type Listener = (network: Network, commitment: CommitmentName, slot: bigint) => void;

/** Hands each slot notice of the nodes to whoever follows them. */
export class SlotNotices {
  readonly #listeners = new Set<Listener>();

  tell(network: Network, commitment: CommitmentName, slot: bigint): void {
    for (const listener of this.#listeners) listener(network, commitment, slot);
  }

  follow(listener: Listener): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }
}
