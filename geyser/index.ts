/**
 * geyser: what a client of a Yellowstone stream may ask for, and which updates its filters take: the protocol's
 * requests, limits, texts of refusal and semantics of filters. Fed the requests of clients and the contents of slots;
 * feeds the development chain's stream and the server's. Pure. Source: yellowstone-grpc, geyser.proto and the plugin's
 * filters.
 */

export type {
  BlockSelection,
  FilteredAccount,
  FilteredEntry,
  FilteredTransaction,
  SlotContent,
  UpdateContent,
} from "./content.ts";
export { FilterFault } from "./filter-fault.ts";
export {
  type Commitment,
  commitmentOf,
  type FilteredUpdate,
  type FilterNeeds,
  FilterSet,
  type MatchedTransaction,
} from "./filter-set.ts";
export { defaultFilterLimits, type FilterLimits } from "./limits.ts";
export type {
  AccountsRequest,
  BlocksRequest,
  SubscribeRequest,
  TransactionsRequest,
} from "./requests.ts";
export type { TransactionFilter } from "./transaction-filter.ts";
