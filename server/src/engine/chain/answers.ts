import { type Address, parseAddress, parseSlot, parseU64, type Slot } from "@sluice/wire/identifiers";
import { type ChainValue, memberOf } from "../../chain/index.ts";
import { EngineChainError } from "../model/ports.ts";

/** Readers of nodes' answers. Each throws EngineChainError for what a node should not say; it is asked again then. */

export const isList = (value: ChainValue | undefined): value is readonly ChainValue[] => Array.isArray(value);

export function wrong(what: string): EngineChainError {
  return new EngineChainError(`A node's answer is not understood: ${what}.`, null);
}

function known<Value>(value: Value | null, what: string): Value {
  if (value === null) throw wrong(what);
  return value;
}

export const wholeOf = (value: ChainValue | undefined, name: string): bigint => {
  return known(parseU64(memberOf(value, name)), name);
};

export const slotOf = (value: ChainValue | undefined, name: string): Slot => {
  return known(parseSlot(memberOf(value, name)), name);
};

export const addressOf = (value: ChainValue | undefined, name: string): Address => {
  return known(parseAddress(memberOf(value, name)), name);
};

export const listOf = (value: ChainValue | undefined, what: string): readonly ChainValue[] => {
  return known(isList(value) ? value : null, what);
};

/** The `value` of an answer with a context. */
export function contextValue(answer: ChainValue): ChainValue {
  const value = memberOf(answer, "value");
  if (value === undefined) throw wrong("value");
  return value;
}

/** getBlocks: slots in rising order. */
export function readSlots(answer: ChainValue): Slot[] {
  const slots = listOf(answer, "a list of slots").map((each) => known(parseSlot(each), "a slot"));
  if (slots.some((slot, index) => index > 0 && slot <= (slots[index - 1] ?? slot))) throw wrong("slots out of order");
  return slots;
}

/** What getSignatureStatuses knows of one transaction. */
export interface SignatureStatus {
  readonly slot: Slot;
}

/** getSignatureStatuses: one for each signature that was asked for, null for those that are in no block known. */
export function readStatuses(answer: ChainValue, count: number): (SignatureStatus | null)[] {
  const statuses = listOf(contextValue(answer), "signature statuses");
  if (statuses.length !== count) throw wrong("the number of signature statuses");
  return statuses.map((status) => (status === null ? null : { slot: slotOf(status, "slot") }));
}

/** getLatestBlockhash. */
export function readLatestBlockhash(answer: ChainValue): { blockhash: Address; lastValidBlockHeight: bigint } {
  const value = contextValue(answer);
  return {
    blockhash: addressOf(value, "blockhash"),
    lastValidBlockHeight: wholeOf(value, "lastValidBlockHeight"),
  };
}

/** isBlockhashValid. */
export function readValidity(answer: ChainValue): boolean {
  const value = contextValue(answer);
  if (typeof value !== "boolean") throw wrong("the validity of a blockhash");
  return value;
}

/** getEpochInfo: the epoch that a slot is in. */
export function readEpoch(answer: ChainValue): { readonly firstSlot: bigint; readonly slotCount: bigint } {
  const firstSlot = wholeOf(answer, "absoluteSlot") - wholeOf(answer, "slotIndex");
  const slotCount = wholeOf(answer, "slotsInEpoch");
  if (firstSlot < 0n || slotCount === 0n) throw wrong("the epoch");
  return { firstSlot, slotCount };
}

/** getLeaderSchedule: null while the epoch's is not known; else each identity's slots, counted from the epoch's first. */
export function readSchedule(answer: ChainValue): Map<Address, number[]> | null {
  if (answer === null) return null;
  if (typeof answer !== "object" || isList(answer)) throw wrong("the leader schedule");
  return new Map(
    Object.entries(answer).map(([identity, indexes]) => {
      const leader = known(parseAddress(identity), "a leader");
      return [leader, listOf(indexes, "slots of a leader").map((each) => Number(known(parseU64(each), "a slot")))];
    }),
  );
}
