import { CodedError } from "@sluice/contract/errors";
import type { CommitmentName } from "@sluice/contract/rpc";
import type { Slot } from "@sluice/wire/identifiers";
import type { JsonValue } from "@sluice/wire/json";
import type { ChainValue } from "../../chain/index.ts";

/** The engine's port to its chain: reads and sends at the nodes of one network. */
export interface EngineChain {
  /**
   * A read at the nodes: its `result`, whole numbers as bigint.
   *
   * @throws {EngineChainError} when the node refuses, or no node answers.
   */
  read(
    method: string,
    params: readonly JsonValue[],
    options?: { readonly commitment?: CommitmentName; readonly minimumSlot?: bigint; readonly archive?: boolean },
  ): Promise<ChainValue>;
  /** Sends the bytes of one transaction to the nodes of the send group, without preflight; whether any took it. */
  send(transaction: Uint8Array): Promise<boolean>;
  /** Calls the listener with the newest known slot of a commitment, whenever it moves. */
  onSlot(listener: (commitment: CommitmentName, slot: Slot) => void): Disposable;
  newestSlot(commitment: CommitmentName): Slot | null;
  /** The hash of the chain's genesis, in base58; null while no node has told it. */
  genesis(): string | null;
}

/** `CHAIN_REFUSED`: a node answered with an error. `CHAIN_UNAVAILABLE`: no node gave an answer that can be used. */
export type EngineChainCode = "CHAIN_REFUSED" | "CHAIN_UNAVAILABLE";

/** A failed call to the chain. `details.nodeCode` is the JSON-RPC code of the node's refusal, else null. */
export class EngineChainError extends CodedError<EngineChainCode, { readonly nodeCode: number | null }> {
  constructor(message: string, nodeCode: number | null) {
    super(nodeCode === null ? "CHAIN_UNAVAILABLE" : "CHAIN_REFUSED", { message, details: { nodeCode } });
  }
}
