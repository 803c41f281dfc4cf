import type { Network } from "@sluice/contract/tiers";
import type { Config } from "../config/index.ts";
import { upstreamChain } from "../engine/index.ts";
import {
  AssetFills,
  AssetIndexer,
  createAssetIndexEvents,
  createAssetListEvents,
  createAssetMethods,
  type DocumentSource,
} from "../enhanced/index.ts";
import { createLeaseEvents, LeaseHolder, leaseTimesOf, Succession } from "../leases/index.ts";
import type { HeldIdentity } from "../ledger/index.ts";
import type { ChainLogListener, ChainLogs } from "../log/index.ts";
import type { Dependencies } from "./dependencies.ts";
import { opensIngest } from "./endpoints.ts";
import type { Gateway } from "./gateway.ts";
import type { Stores } from "./stores.ts";

interface AssetParts extends Dependencies {
  readonly stores: Stores;
  readonly chainLogs: ChainLogs;
  readonly gateway: Gateway;
}

const job = "asset-index";

/**
 * Has one process of several keep the index of digital assets of each network: the one with the lease, of those that
 * write blocks into the ledger. Null where this process does not have the role.
 */
export async function openAssetIndex(config: Config, dependencies: AssetParts): Promise<AssetFills | null> {
  if (!opensIngest(config)) return null;
  const { resources, events, clock, random, chainLogs, stores, gateway, log, processId } = dependencies;
  const { leaseMs } = config.stores;
  const indexEvents = createAssetIndexEvents(dependencies);
  for (const network of chainLogs.networks) {
    const nodes = upstreamChain(network, gateway.upstreams, gateway.slots);
    const { assets, chainReads } = stores.ledger;
    const start = (chain: HeldIdentity): AssetIndexer =>
      new AssetIndexer({ network, chain }, { ...assets, chain: chainReads, nodes, clock, events: indexEvents });
    const succession = new Succession(
      { ...leaseTimesOf(leaseMs), what: `indexing the assets of ${network}`, retryRenewals: 0 },
      {
        clock,
        lease: new LeaseHolder(
          { network, job, leaseMs },
          {
            store: stores.state.leases,
            clock,
            holder: processId,
            retryableError: (what, error) => log.warn({ what, error }, "an operation failed and is tried again"),
            events: createLeaseEvents(dependencies, { network, job, nowMs: () => clock.monotonic() }),
          },
        ),
        open: async () => {
          const term = new IndexingTerm(network, start);
          await term.begin(chainLogs);
          return term;
        },
        roleChanged: () => undefined,
        internalError: events.internalError,
      },
    );
    resources.use(succession);
    await succession.begin();
  }
  const chainOf = identitiesOf(gateway);
  return new AssetFills({ store: stores.ledger.assets.store, networks: chainLogs.networks, chainOf, clock, random });
}

/** Has the gateway answer the methods over digital assets from the index, which any process with the ledger reads. */
export function serveAssetMethods({
  clock,
  stores,
  gateway,
  documents,
  ...dependencies
}: Omit<AssetParts, "chainLogs"> & { readonly documents: DocumentSource }): void {
  const { rpc } = gateway;
  const { assets } = stores.ledger;
  const identityOf = identitiesOf(gateway);
  rpc.serveAssets(
    createAssetMethods({ ...assets, rpc, documents, identityOf, clock, events: createAssetListEvents(dependencies) }),
  );
}

function identitiesOf({ upstreams }: Gateway): (network: Network) => HeldIdentity | null {
  return (network) => {
    const chain = upstreams.pool(network)?.chain ?? null;
    return chain === null ? null : { genesisHash: chain.genesis, firstBlockhash: chain.first?.blockhash ?? "" };
  };
}

/** While this process has the lease: the indexer of the chain whose log is open. */
class IndexingTerm implements AsyncDisposable {
  readonly #network: Network;
  readonly #start: (chain: HeldIdentity) => AssetIndexer;
  #following: Disposable | null = null;
  #indexer: AssetIndexer | null = null;
  #isClosed = false;

  constructor(network: Network, start: (chain: HeldIdentity) => AssetIndexer) {
    this.#network = network;
    this.#start = start;
  }

  async begin(chainLogs: ChainLogs): Promise<void> {
    const listener: ChainLogListener = async (network, log, { genesisHash, firstBlockhash }) => {
      if (network !== this.#network) return;
      await this.#end();
      if (log === null || this.#isClosed) return;
      this.#indexer = this.#start({ genesisHash, firstBlockhash: firstBlockhash ?? "" });
    };
    this.#following = await chainLogs.follow(listener);
  }

  async #end(): Promise<void> {
    const present = this.#indexer;
    this.#indexer = null;
    await present?.[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#following?.[Symbol.dispose]();
    await this.#end();
  }
}
