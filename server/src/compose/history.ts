import type { Network } from "@sluice/contract/tiers";
import type { Config } from "../config/index.ts";
import {
  type BackfillSource,
  Backfills,
  ChainBackfill,
  ChainReparse,
  createHistoryEvents,
  type HistoryEvents,
  LedgerWriter,
  Reparses,
} from "../history/index.ts";
import { ChainTerms, type TermChain } from "../leases/index.ts";
import type { ChainLogs } from "../log/index.ts";
import type { Dependencies } from "./dependencies.ts";
import { opensIngest } from "./endpoints.ts";
import { backfillSources, type Pools } from "./ingest.ts";
import type { Stores } from "./stores.ts";

interface HistoryParts extends Dependencies {
  readonly stores: Stores;
  readonly chainLogs: ChainLogs;
}

/** What operators order of the ledger's writers. */
export interface HistoryOrders {
  readonly backfills: Backfills;
  readonly reparses: Reparses;
}

/**
 * Has one process of several write each network's chain into the ledger, fill what is missing there and parse again
 * what an older version has parsed: the one with the lease, of those that have the log open. Null where this process
 * does not have the role.
 */
export async function openLedgerWriters(
  config: Config,
  dependencies: HistoryParts & { readonly upstreams: Pools },
): Promise<HistoryOrders | null> {
  if (!opensIngest(config)) return null;
  const { resources, events, clock, random, chainLogs, stores } = dependencies;
  const { leaseMs } = config.stores;
  const history = createHistoryEvents(dependencies);
  const terms = resources.use(
    new ChainTerms(
      { job: "ledger-writer", what: "writing into the ledger", leaseMs },
      {
        ...dependencies,
        leases: stores.state.leases,
        open: (of) => new Writing(config, { ...dependencies, ...of, history }),
        internalError: events.internalError,
      },
    ),
  );
  await terms.begin();
  const { chain: store, parsed } = stores.ledger;
  const networks = (): readonly Network[] => chainLogs.networks;
  return {
    backfills: new Backfills({
      ...{ store, networks, clock, random, keptSince: blocksKeptSince(stores) },
      progressOf: (network) => terms.of(network)?.backfill.progress() ?? null,
    }),
    reparses: new Reparses({
      ...{ store, parsed, networks, clock, random },
      progressOf: (network) => terms.of(network)?.reparse.progress() ?? null,
      wake: (network) => terms.of(network)?.reparse.wake(),
    }),
  };
}

const blocksKeptSince = (stores: Stores) => (): number | null => stores.ledger.tables.keptSince("blocks");

/** What runs over an open log while the lease is held. */
class Writing implements AsyncDisposable {
  readonly backfill: ChainBackfill;
  readonly reparse: ChainReparse;
  readonly #writer: LedgerWriter;

  constructor(
    config: Config,
    {
      history: events,
      network,
      chainLog,
      chain,
      ...dependencies
    }: HistoryParts & TermChain & { readonly upstreams: Pools; readonly history: HistoryEvents },
  ) {
    const { clock, stores, upstreams } = dependencies;
    const { chain: store, parsed } = stores.ledger;
    const votes = config.stores.ledgerVotes === "full";
    const { nativeSymbol } = config;
    // A development chain that is started anew is another one; a real one never is.
    const discardsOtherChain = config.mode === "dev";
    const sources = (): readonly BackfillSource[] => backfillSources(upstreams, network);
    const finalized = (): bigint | null => upstreams.pool(network)?.confirmedRoot() ?? null;
    const keptSince = blocksKeptSince(stores);
    const of = { network, chain, votes, nativeSymbol };
    this.#writer = new LedgerWriter({ ...of, discardsOtherChain }, { store, chainLog, clock, events });
    this.backfill = new ChainBackfill(of, { store, sources, finalized, keptSince, clock, events });
    this.reparse = new ChainReparse(of, { store, parsed, clock, events });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.reparse[Symbol.asyncDispose]();
    await this.backfill[Symbol.asyncDispose]();
    await this.#writer[Symbol.asyncDispose]();
  }
}
