import type { CommitmentName } from "@sluice/contract/rpc";
import type { Slot } from "@sluice/wire/identifiers";
import type { JsonValue } from "@sluice/wire/json";
import type { ChainValue } from "../../chain/index.ts";

/** What the engine needs of other rooms, and nothing more; compose hands in the rooms themselves. */

/** What the room asks of its network's nodes; the gateway's upstreams have this shape. */
export interface EngineChain {
  /** A read at the nodes of the network: its `result`, whole numbers as bigint. Throws EngineChainError. */
  read(
    method: string,
    params: readonly JsonValue[],
    options?: { readonly commitment?: CommitmentName; readonly minimumSlot?: bigint; readonly archive?: boolean },
  ): Promise<ChainValue>;
  /** Sends one transaction's bytes to the nodes of the send group, without preflight; whether any took it. */
  send(transaction: Uint8Array): Promise<boolean>;
  /** The newest known slot of each commitment, whenever it moves. */
  onSlot(listener: (commitment: CommitmentName, slot: Slot) => void): Disposable;
  newestSlot(commitment: CommitmentName): Slot | null;
}

/** A node's refusal (`code` is its own), or null where no node answered. */
export class EngineChainError extends Error {
  override readonly name = "EngineChainError";
  readonly code: number | null;

  constructor(message: string, code: number | null) {
    super(message);
    this.code = code;
  }
}
