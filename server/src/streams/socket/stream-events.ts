import type { AccountFilter, TransactionFilter } from "../../events/index.ts";
import type { BlockHeader, Stage } from "../../log/index.ts";
import type { StreamSpec } from "./stream-spec.ts";

/** The commitments at which blocks are told. */
export type ToldStage = Exclude<Stage, "processed">;

/** What a subscription asks of transactions. */
export const transactionFilterOf = ({ accounts, programs, failed, votes }: StreamSpec): TransactionFilter => ({
  ...(accounts === null ? {} : { accountInclude: accounts }),
  ...(programs === null ? {} : { programs }),
  ...(failed ? {} : { failed: false }),
  ...(votes ? {} : { vote: false }),
});

export const accountFilterOf = ({ accounts, programs }: StreamSpec): AccountFilter => ({
  ...(accounts === null ? {} : { accounts }),
  ...(programs === null ? {} : { owners: programs }),
});

/** `data` of a message about a slot. */
export const slotData = ({ slot, parentSlot }: Pick<BlockHeader, "slot" | "parentSlot">, status: ToldStage): string =>
  `{"slot":${slot},"parent":${parentSlot},"status":"${status}"}`;

/** The same of a slot that a node has begun, whose parent is not told. */
export const processedSlotData = (slot: bigint): string => `{"slot":${slot},"parent":null,"status":"processed"}`;
