import type { Network } from "@sluice/contract/tiers";
import type { Config } from "../config/index.ts";
import { createHistoryEvents, LedgerWriter } from "../history/index.ts";
import { createLeaseEvents, LeaseHolder, leaseTimesOf, Succession } from "../leases/index.ts";
import type { ChainLogListener, ChainLogs } from "../log/index.ts";
import type { Dependencies } from "./dependencies.ts";
import { opensIngest } from "./endpoints.ts";
import type { Stores } from "./stores.ts";

interface HistoryParts extends Dependencies {
  readonly stores: Stores;
  readonly chainLogs: ChainLogs;
}

/**
 * Has one process of several write each network's chain into the ledger: the one with the lease, of those that have the
 * log open.
 */
export async function openLedgerWriters(config: Config, dependencies: HistoryParts): Promise<undefined> {
  if (!opensIngest(config)) return;
  const { resources, events, clock, chainLogs } = dependencies;
  const { leaseMs } = config.stores;
  const history = createHistoryEvents(dependencies);
  for (const network of chainLogs.networks) {
    const open = async (): Promise<WritingTerm> => {
      const term = new WritingTerm(network, (log, chain) => {
        const { stores } = dependencies;
        const discardsOtherChain = config.mode === "dev";
        const options = { network, chain, votes: config.stores.ledgerVotes === "full", discardsOtherChain };
        return new LedgerWriter(options, { store: stores.ledger.chain, chainLog: log, clock, events: history });
      });
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

type Log = NonNullable<Parameters<ChainLogListener>[1]>;
type Chain = Parameters<ChainLogListener>[2];

/** While this process has the lease: a writer over the log that is open. */
class WritingTerm implements AsyncDisposable {
  readonly #network: Network;
  readonly #start: (log: Log, chain: Chain) => AsyncDisposable;
  #following: Disposable | null = null;
  #writer: AsyncDisposable | null = null;
  #isClosed = false;

  constructor(network: Network, start: (log: Log, chain: Chain) => AsyncDisposable) {
    this.#network = network;
    this.#start = start;
  }

  async begin(chainLogs: ChainLogs): Promise<void> {
    this.#following = await chainLogs.follow(async (network, log, chain) => {
      if (network !== this.#network) return;
      await this.#end();
      if (log !== null && !this.#isClosed) this.#writer = this.#start(log, chain);
    });
  }

  async #end(): Promise<void> {
    const writer = this.#writer;
    this.#writer = null;
    await writer?.[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#following?.[Symbol.dispose]();
    await this.#end();
  }
}
