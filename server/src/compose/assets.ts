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
import { ChainTerms, type TermChain } from "../leases/index.ts";
import type { HeldIdentity } from "../ledger/index.ts";
import type { ChainLogs } from "../log/index.ts";
import type { Dependencies } from "./dependencies.ts";
import { opensIngest } from "./endpoints.ts";
import type { Gateway } from "./gateway.ts";
import type { Stores } from "./stores.ts";

interface AssetParts extends Dependencies {
  readonly stores: Stores;
  readonly chainLogs: ChainLogs;
  readonly gateway: Gateway;
}

/**
 * Has one process of several keep the index of digital assets of each network: the one with the lease, of those that
 * write blocks into the ledger. Null where this process does not have the role.
 */
export async function openAssetIndex(config: Config, dependencies: AssetParts): Promise<AssetFills | null> {
  if (!opensIngest(config)) return null;
  const { resources, events, clock, random, chainLogs, stores, gateway } = dependencies;
  const { assets, chainReads } = stores.ledger;
  const indexEvents = createAssetIndexEvents(dependencies);
  const open = ({ network, chain: { genesisHash, firstBlockhash } }: TermChain): AssetIndexer => {
    const nodes = upstreamChain(network, gateway.upstreams, gateway.slots);
    return new AssetIndexer(
      { network, chain: { genesisHash, firstBlockhash: firstBlockhash ?? "" } },
      { ...assets, chain: chainReads, nodes, clock, events: indexEvents },
    );
  };
  const terms = resources.use(
    new ChainTerms(
      { job: "asset-index", what: "indexing the assets of", leaseMs: config.stores.leaseMs },
      { ...dependencies, leases: stores.state.leases, open, internalError: events.internalError },
    ),
  );
  await terms.begin();
  const networks = (): readonly Network[] => chainLogs.networks;
  return new AssetFills({ store: assets.store, networks, chainOf: identitiesOf(gateway), clock, random });
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
