import type { ErrorCode } from "@sluice/contract/errors";
import type { CommitmentName } from "@sluice/contract/rpc";
import type { Network, Permission } from "@sluice/contract/tiers";
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

/** What a key may do here. */
export interface EngineGrant {
  readonly keyId: string;
  readonly accountId: string;
  readonly permissions: readonly Permission[];
}

/** Where a key is used, beside the network, which is the engine's. */
export interface EngineCaller {
  readonly origin: string | null;
  readonly referer: string | null;
  readonly clientAddress: string;
}

export interface EngineKeys {
  authenticate(
    presented: string | null,
  ): EngineGrant | { readonly refused: ErrorCode } | Promise<EngineGrant | { readonly refused: ErrorCode }>;
  checkRestrictions(grant: EngineGrant, caller: EngineCaller): ErrorCode | null;
}

/** The server's keys, which know of every network. */
export interface NetworkKeys extends Pick<EngineKeys, "authenticate"> {
  checkRestrictions(grant: EngineGrant, caller: EngineCaller & { readonly network: Network }): ErrorCode | null;
}

/** The keys as the doors of one network ask them. */
export function keysOn(network: Network, keys: NetworkKeys): EngineKeys {
  return {
    authenticate: (presented) => keys.authenticate(presented),
    checkRestrictions: (grant, caller) => keys.checkRestrictions(grant, { ...caller, network }),
  };
}

export interface EngineLimitDecision {
  readonly allowed: boolean;
  readonly limit: number;
  readonly burst: number;
  readonly remaining: number;
  readonly resetAt: number;
  readonly retryAfterSeconds: number;
}

export interface EngineLimits {
  take(bucket: string, rate: number, burst: number, cost?: number): EngineLimitDecision | Promise<EngineLimitDecision>;
}
