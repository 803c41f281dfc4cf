/**
 * events: what blocks say, in the forms that webhooks and `/ws` share, and which subscribers it is for. Fed by blocks
 * of the log through `parser`; feeds streams, webhooks and history. Pure: no store, no socket, no clock.
 */
export {
  type BalanceUpdate,
  closureText,
  creationText,
  type ReadAccountState,
  updateText,
} from "./data/account-events.ts";
export { type BlockEvents, BlockReader } from "./data/block-events.ts";
export type { TransactionEvent } from "./data/transaction-event.ts";
export { TransactionFacts } from "./data/transaction-facts.ts";
export { errorRecord, tokenTransfers } from "./data/transaction-members.ts";
export { type AccountFilter, AccountMatcher } from "./matching/account-matcher.ts";
export type { FilterGroup, FilterMember } from "./matching/filter-group.ts";
export { type TransactionFilter, TransactionMatcher } from "./matching/transaction-matcher.ts";
