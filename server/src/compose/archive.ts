import { createArchiveEvents, LedgerArchive } from "../history/index.ts";
import type { Archive } from "../rpc/index.ts";
import type { Dependencies } from "./dependencies.ts";
import type { Stores } from "./stores.ts";

/** What the ledger answers for nodes that have pruned it. */
export function openArchive(dependencies: Dependencies & { readonly stores: Stores }): Archive {
  const { clock, stores } = dependencies;
  return new LedgerArchive({ chain: stores.ledger.chainReads, clock, events: createArchiveEvents(dependencies) });
}
