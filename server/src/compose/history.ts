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
import { createLeaseEvents, LeaseHolder, leaseTimesOf, Succession } from "../leases/index.ts";
import type { ChainLogListener, ChainLogs } from "../log/index.ts";
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
  const terms = new Map<Network, WritingTerm>();
  for (const network of chainLogs.networks) {
    const open = async (): Promise<WritingTerm> => {
      const term = new WritingTerm(network, (chainLog, chain) =>
        writing(config, { ...dependencies, history, network, chainLog, chain }),
      );
      terms.set(network, term);
      await term.begin(chainLogs);
      return term;
    };
    const succession = new Succession(
      { ...leaseTimesOf(leaseMs), what: `writing ${network} into the ledger`, retryRenewals: 0 },
      {
        clock,
        lease: leaseOf({ network, leaseMs }, dependencies),
        open,
        roleChanged: () => undefined,
        internalError: events.internalError,
      },
    );
    resources.use(succession);
    await succession.begin();
  }
  const progressOf: Progress = (network) => terms.get(network)?.backfill?.progress() ?? null;
  const { chain: store, parsed } = stores.ledger;
  const { networks } = chainLogs;
  return {
    backfills: new Backfills({ store, networks, progressOf, clock, random }),
    reparses: new Reparses({
      ...{ store, parsed, networks, clock, random },
      progressOf: (network) => terms.get(network)?.reparse?.progress() ?? null,
      wake: (network) => terms.get(network)?.reparse?.wake(),
    }),
  };
}

type Progress = ConstructorParameters<typeof Backfills>[0]["progressOf"];
type Log = NonNullable<Parameters<ChainLogListener>[1]>;
type Chain = Parameters<ChainLogListener>[2];

/** What runs over an open log while the lease is held. */
interface Writing {
  readonly writer: LedgerWriter;
  readonly backfill: ChainBackfill;
  readonly reparse: ChainReparse;
}

function writing(
  config: Config,
  {
    history: events,
    network,
    chainLog,
    chain,
    ...dependencies
  }: HistoryParts & {
    readonly upstreams: Pools;
    readonly history: HistoryEvents;
    readonly network: Network;
    readonly chainLog: Log;
    readonly chain: Chain;
  },
): Writing {
  const { clock, stores, upstreams } = dependencies;
  const store = stores.ledger.chain;
  const votes = config.stores.ledgerVotes === "full";
  const { nativeSymbol } = config;
  // A development chain that is started anew is another one; a real one never is.
  const discardsOtherChain = config.mode === "dev";
  const sources = (): readonly BackfillSource[] => backfillSources(upstreams, network);
  const finalized = (): bigint | null => upstreams.pool(network)?.confirmedRoot() ?? null;
  return {
    writer: new LedgerWriter(
      { network, chain, votes, nativeSymbol, discardsOtherChain },
      { store, chainLog, clock, events },
    ),
    backfill: new ChainBackfill({ network, chain, votes, nativeSymbol }, { store, sources, finalized, clock, events }),
    reparse: new ChainReparse(
      { network, chain, votes, nativeSymbol },
      { store, parsed: stores.ledger.parsed, clock, events },
    ),
  };
}

function leaseOf(
  { network, leaseMs }: { readonly network: Network; readonly leaseMs: number },
  dependencies: HistoryParts,
): LeaseHolder {
  const { clock, log, processId, stores } = dependencies;
  const job = "ledger-writer";
  return new LeaseHolder(
    { network, job, leaseMs },
    {
      store: stores.state.leases,
      clock,
      holder: processId,
      retryableError: (what, error) => log.warn({ what, error }, "an operation failed and is tried again"),
      events: createLeaseEvents(dependencies, { network, job, nowMs: () => clock.monotonic() }),
    },
  );
}

/** While this process has the lease: writer, backfill and re-parsing over the log that is open. */
class WritingTerm implements AsyncDisposable {
  readonly #network: Network;
  readonly #start: (log: Log, chain: Chain) => Writing;
  #following: Disposable | null = null;
  #writing: Writing | null = null;
  #isClosed = false;

  constructor(network: Network, start: (log: Log, chain: Chain) => Writing) {
    this.#network = network;
    this.#start = start;
  }

  get backfill(): ChainBackfill | null {
    return this.#writing?.backfill ?? null;
  }

  get reparse(): ChainReparse | null {
    return this.#writing?.reparse ?? null;
  }

  async begin(chainLogs: ChainLogs): Promise<void> {
    this.#following = await chainLogs.follow(async (network, log, chain) => {
      if (network !== this.#network) return;
      await this.#end();
      if (log !== null && !this.#isClosed) this.#writing = this.#start(log, chain);
    });
  }

  async #end(): Promise<void> {
    const present = this.#writing;
    this.#writing = null;
    await present?.reparse[Symbol.asyncDispose]();
    await present?.backfill[Symbol.asyncDispose]();
    await present?.writer[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#following?.[Symbol.dispose]();
    await this.#end();
  }
}
