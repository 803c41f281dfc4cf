import type { Clock } from "@sluice/lib";
import { type NameResolver, systemResolver } from "../../net/index.ts";
import type { EnhancedEvents } from "../events.ts";
import { TextCache } from "../text-cache.ts";
import { DocumentFetch } from "./document-fetch.ts";
import { type DocumentSource, Documents, noDocuments } from "./documents.ts";

export interface DocumentOptions {
  readonly fetches: boolean;
  readonly ipfsGateway: string;
  readonly arweaveGateway: string;
  readonly allowHttp: boolean;
  /** CIDR ranges beside public addresses; for development and tests. */
  readonly allowPrivateCidrs: readonly string[];
}

/** A document is as good as what the chain says of it: an hour. One that cannot be had is tried again after a while. */
const keptMs = 3_600_000;
const faultMs = 300_000;
const keptCharacters = 32 * 1024 * 1024;
/** Keys are URIs of up to 2 KiB. */
const keptEntriesMax = 20_000;
const faultEntriesMax = 10_000;
const timeoutMs = 5_000;

/** The documents behind the URIs of tokens and NFTs, or none at all where the operator does not want them fetched. */
export function openDocuments(
  options: DocumentOptions,
  dependencies: { readonly clock: Clock; readonly events: EnhancedEvents; readonly resolver?: NameResolver },
): DocumentSource {
  if (!options.fetches) return noDocuments;
  const { clock, resolver = systemResolver({ clock }) } = dependencies;
  const kept = new TextCache(
    { lifetimeMs: keptMs, charactersMax: keptCharacters, entriesMax: keptEntriesMax },
    { clock },
  );
  const faults = new TextCache(
    { lifetimeMs: faultMs, charactersMax: keptCharacters, entriesMax: faultEntriesMax },
    { clock },
  );
  const fetch = new DocumentFetch({ ...options, timeoutMs }, { clock, resolver });
  return new Documents(options, { ...dependencies, kept, faults, fetch });
}
