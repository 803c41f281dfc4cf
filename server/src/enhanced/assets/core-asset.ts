import { type CoreAsset, type CoreCollection, type CorePlugins, decodeMplCore } from "@sluice/wire/accounts/mpl-core";
import { type Asset, type AssetCreator, type AssetEdition, assetWithout } from "./asset.ts";

/** The collection that an asset of MPL Core names; null for data of another kind, and for an asset without one. */
export function coreCollectionOf(data: Uint8Array): string | null {
  const decoded = decodeMplCore(data);
  return decoded?.kind === "asset" && decoded.updateAuthority.kind === "collection"
    ? decoded.updateAuthority.address
    : null;
}

/**
 * An asset or collection of MPL Core. What an asset's own plugins do not say, those of its collection do: royalties,
 * and whether it is frozen.
 *
 * @param collection - data of the account that `coreCollectionOf` names; null where there is none
 * @returns null when the data are neither
 */
export function coreAsset(id: string, data: Uint8Array, collection: Uint8Array | null): Asset | null {
  const decoded = decodeMplCore(data);
  if (decoded === null) return null;
  if (decoded.kind === "collection") return ofCollection(id, decoded);
  const above = collection === null ? null : decodeMplCore(collection);
  return ofAsset(id, decoded, above?.kind === "collection" ? above : null);
}

function ofCollection(id: string, { name, uri, updateAuthority, plugins }: CoreCollection): Asset {
  return {
    ...assetWithout,
    ...{ id, name, uri, updateAuthority },
    interface: "MplCoreCollection",
    source: "mpl_core",
    ...told(plugins, null),
    // Nobody holds a collection but who may change it.
    ownership: { ...single, owner: updateAuthority },
    edition: plugins.masterEdition === null ? null : master(plugins.masterEdition),
    isMutable: !plugins.isImmutable,
    isBurnt: false,
    passedOn: passedOn(updateAuthority, plugins),
  };
}

/** All that `ofAsset` takes from a collection. */
const passedOn = (
  updateAuthority: string,
  { royalties, verifiedCreators, isFrozen, isImmutable }: CorePlugins,
): string => JSON.stringify([updateAuthority, royalties, verifiedCreators, isFrozen, isImmutable]);

function ofAsset(id: string, { name, uri, owner, updateAuthority, plugins }: CoreAsset, above: CoreCollection | null) {
  const { transferDelegate } = plugins;
  const collection =
    updateAuthority.kind === "collection" ? { address: updateAuthority.address, isVerified: true } : null;
  const authority = updateAuthority.kind === "address" ? updateAuthority.address : (above?.updateAuthority ?? null);
  return {
    ...assetWithout,
    ...{ id, name, uri, collection },
    interface: "MplCoreAsset",
    source: "mpl_core",
    updateAuthority: authority,
    ...told(plugins, above),
    ownership: {
      ...single,
      owner,
      delegate: transferDelegate?.kind === "address" ? transferDelegate.address : null,
      isFrozen: plugins.isFrozen || above?.plugins.isFrozen === true,
    },
    edition: editionOf(plugins, collection?.address ?? null),
    isMutable: updateAuthority.kind !== "none" && !plugins.isImmutable && above?.plugins.isImmutable !== true,
    isBurnt: false,
  } satisfies Asset;
}

const single = { model: "single", owner: null, delegate: null, isFrozen: false, tokenAccount: null } as const;

const master = ({ maxSupply }: NonNullable<CorePlugins["masterEdition"]>): AssetEdition => ({
  kind: "master",
  supply: null,
  maxSupply: maxSupply === null ? null : BigInt(maxSupply),
});

function editionOf({ edition, masterEdition }: CorePlugins, parent: string | null): AssetEdition | null {
  if (edition !== null) return { kind: "print", parent, number: BigInt(edition) };
  return masterEdition === null ? null : master(masterEdition);
}

/** Facts of the plugins; a creator is verified where the plugin of verified creators says so. */
function told(plugins: CorePlugins, above: CoreCollection | null) {
  const royalties = plugins.royalties ?? above?.plugins.royalties ?? null;
  const signed = [...plugins.verifiedCreators, ...(above?.plugins.verifiedCreators ?? [])];
  const verified = new Set(signed.filter(({ isVerified }) => isVerified).map(({ address }) => address));
  const creators: AssetCreator[] = (royalties?.creators ?? []).map(({ address, share }) => ({
    address,
    share,
    isVerified: verified.has(address),
  }));
  return {
    creators,
    royalty: { basisPoints: royalties?.basisPoints ?? 0, primarySaleHappened: false },
    attributes: plugins.attributes,
    plugins: plugins.names,
  };
}
