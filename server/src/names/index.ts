/**
 * names: the name resolver. Reads who controls an `@handle` or a domain from a chain's registries, over plain HTTP and
 * for other parts of the server. Fed by one node's RPC (one call for a name, whatever its depth), needs no store; feeds
 * wallets, the console and the SDK. It never guesses: what cannot be read is an error, not a free name.
 */
export type { ChainReader, PostJson, SettledCommitment } from "./chain-reader.ts";
export { type AnswerKind, type AnswerSource, createNamesEvents, type NamesEvents, namesMetrics } from "./events.ts";
export {
  type HandleFault,
  type HandleReading,
  type NameOutcome,
  type NameShape,
  type Namespace,
  type Resolution,
  readHandle,
  readName,
  type ShapeError,
} from "./name.ts";
export {
  createNames,
  Names,
  type NamesDependencies,
  type NamesOptions,
  type ReverseOutcome,
  type VersionRecord,
} from "./names.ts";
