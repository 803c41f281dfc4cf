import type { EncodeClock, JsonObject, JsonValue } from "@sluice/encode";
import type { Log } from "@sluice/lib";
import type { AccountStore } from "../accounts/index.ts";
import type { AbandonedFork, Chain, PerformanceSamples, StatusCache } from "../bank/index.ts";
import type { AddressEntry, AddressRange, History } from "../history/index.ts";
import type { BankSlot, ChainAccount } from "../model/index.ts";
import { minContextSlotNotReached } from "./errors.ts";
import type { FaucetRequests } from "./faucet-requests.ts";
import { commitmentMember, u64Member } from "./params.ts";

/** The version that the node claims: the release whose wire behaviour it follows. */
export const nodeVersion = "4.0.0";
export const featureSet = 3_640_012_085;

/** The chain as a node shows it, which may be an older state than the chain's own. */
export interface ChainView
  extends Pick<
    Chain,
    | "genesis"
    | "blockhashes"
    | "bundles"
    | "cluster"
    | "epochs"
    | "at"
    | "abandonedFork"
    | "bankAt"
    | "tip"
    | "openSlot"
    | "submit"
    | "simulate"
    | "simulateBundle"
    | "yearsAt"
  > {
  readonly accounts: Pick<AccountStore, "get" | "ofProgram" | "largestHolders" | "richest" | "written"> & {
    find(...asked: Parameters<AccountStore["find"]>): Iterable<[string, ChainAccount]>;
  };
  readonly history: Pick<History, "firstSlot" | "block" | "slots" | "transaction" | "lowestUnitPrice"> & {
    ofAddress(address: string, range: AddressRange): Iterable<AddressEntry>;
  };
  readonly statuses: Pick<StatusCache, "slotOf">;
}

/** The sources of the methods' answers. */
export interface RpcNode {
  readonly chain: ChainView;
  readonly performance: PerformanceSamples;
  readonly faucet: FaucetRequests;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly log: Log;
  /** Addresses of this node's endpoints, for getClusterNodes: "ip:port". */
  readonly endpoints: { readonly rpc: string; readonly pubsub: string };
}

export interface Method {
  /** Parameters that must be given, and that may be given after them. */
  readonly required: number;
  readonly optional: number;
  readonly run: (params: readonly JsonValue[], node: RpcNode) => JsonValue | Promise<JsonValue>;
}

export type MethodTable = { readonly [name: string]: Method };

/** The bank of a config's commitment, once it has reached `minContextSlot`. */
export function bankOf(node: RpcNode, config: JsonObject | null): BankSlot {
  return reached(node.chain.at(commitmentMember(config)), config);
}

/** Refuses a bank that is behind a config's `minContextSlot`. */
export function reached(bank: BankSlot, config: JsonObject | null): BankSlot {
  const minimum = u64Member(config, "minContextSlot");
  if (minimum !== undefined && bank.slot < minimum) throw minContextSlotNotReached(bank.slot);
  return bank;
}

/** A value with the slot that it was read at. */
export function withContext(bank: BankSlot, value: JsonValue): JsonObject {
  return { context: { slot: bank.slot, apiVersion: nodeVersion }, value };
}

/** The branch that a call answers from whose bank is this one; null where the bank is of the chain itself. */
export function abandonedForkAt({ chain: { abandonedFork } }: RpcNode, slot: bigint): AbandonedFork | null {
  return abandonedFork?.bank.slot === slot ? abandonedFork : null;
}

export function clockOf(node: RpcNode, bank: BankSlot): EncodeClock {
  return { epoch: node.chain.epochs.epochOf(bank.slot), unixTimestamp: bank.time };
}
