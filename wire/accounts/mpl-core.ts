import { ByteReader, orNull } from "../bytes.ts";
import type { Address } from "../identifiers.ts";

/**
 * Accounts of MPL Core: one account is one asset, or one collection. Plugins follow on its own fields: a header that
 * says where the registry is, the plugins, and the registry, which says where each of them is. Source: mpl-core,
 * programs/mpl-core/src/state and /plugins.
 */

/** The program that owns assets and collections. */
export const mplCoreProgram = "CoREENxT6tW1HoK8ypY1SxRMZTcVPm7R94rH4PZNhX7d" as Address;

const keys = { asset: 1, header: 3, registry: 4, collection: 5 } as const;

/** Plugins by their number; those that are not here are passed over. */
const pluginTypes = [
  "royalties",
  "freezeDelegate",
  "burnDelegate",
  "transferDelegate",
  "updateDelegate",
  "permanentFreezeDelegate",
  "attributes",
  "permanentTransferDelegate",
  "permanentBurnDelegate",
  "edition",
  "masterEdition",
  "addBlocker",
  "immutableMetadata",
  "verifiedCreators",
  "autograph",
  "bubblegumV2",
  "freezeExecute",
  "permanentFreezeExecute",
  "groups",
] as const;

/** The name of a plugin; `unknown` for a number that the table does not have. */
export type CorePluginName = (typeof pluginTypes)[number] | "unknown";

/** Who may change an asset: nobody, an address, or whoever may change its collection. */
export type CoreUpdateAuthority =
  | { readonly kind: "none" }
  | { readonly kind: "address" | "collection"; readonly address: Address };

/** Who manages a plugin. */
export type CorePluginAuthority =
  | { readonly kind: "none" | "owner" | "updateAuthority" }
  | { readonly kind: "address"; readonly address: Address };

/** What plugins say that is told of assets. A member is null where there is no such plugin. */
export interface CorePlugins {
  /** All that the registry names, in its order. */
  readonly names: readonly CorePluginName[];
  readonly royalties: {
    readonly basisPoints: number;
    readonly creators: readonly { readonly address: Address; readonly share: number }[];
  } | null;
  /** Whether one of the plugins that freeze says so. */
  readonly isFrozen: boolean;
  /** Who may move it in its owner's place, by the plugin that its owner gave out. */
  readonly transferDelegate: CorePluginAuthority | null;
  readonly attributes: readonly { readonly key: string; readonly value: string }[];
  readonly edition: number | null;
  readonly masterEdition: { readonly maxSupply: number | null } | null;
  readonly isImmutable: boolean;
  readonly verifiedCreators: readonly { readonly address: Address; readonly isVerified: boolean }[];
}

/** An asset. */
export interface CoreAsset {
  readonly kind: "asset";
  readonly owner: Address;
  readonly updateAuthority: CoreUpdateAuthority;
  readonly name: string;
  readonly uri: string;
  readonly plugins: CorePlugins;
}

/** A collection. */
export interface CoreCollection {
  readonly kind: "collection";
  readonly updateAuthority: Address;
  readonly name: string;
  readonly uri: string;
  /** Assets that were ever made in it. */
  readonly minted: number;
  /** Assets that are in it. */
  readonly size: number;
  readonly plugins: CorePlugins;
}

/** More plugins than there are types of them are no registry. */
const recordsMax = 64;
const creatorBytes = 33;

/**
 * Decodes an asset (key 1: owner at 1, update authority, name, URI, optional sequence) or a collection (key 5: update
 * authority at 1, name, URI, two counts), with its plugins.
 *
 * @returns null when it is neither, or its registry is not where its header says
 */
export function decodeMplCore(data: Uint8Array): CoreAsset | CoreCollection | null {
  if (data[0] !== keys.asset && data[0] !== keys.collection) return null;
  return orNull(() => {
    const reader = new ByteReader(data, 1);
    if (data[0] === keys.asset) {
      const owner = reader.address();
      const updateAuthority = updateAuthorityOf(reader);
      const texts = { name: reader.sizedText(), uri: reader.sizedText() };
      reader.optional(() => reader.u64());
      return { kind: "asset", owner, updateAuthority, ...texts, plugins: pluginsAt(data, reader.offset) };
    }
    const updateAuthority = reader.address();
    const texts = { name: reader.sizedText(), uri: reader.sizedText() };
    const counts = { minted: reader.u32(), size: reader.u32() };
    return { kind: "collection", updateAuthority, ...texts, ...counts, plugins: pluginsAt(data, reader.offset) };
  });
}

function updateAuthorityOf(reader: ByteReader): CoreUpdateAuthority {
  const tag = reader.u8();
  if (tag === 0) return { kind: "none" };
  return { kind: tag === 1 ? "address" : "collection", address: reader.address() };
}

function pluginAuthorityOf(reader: ByteReader): CorePluginAuthority {
  const tag = reader.u8();
  if (tag === 3) return { kind: "address", address: reader.address() };
  return { kind: tag === 0 ? "none" : tag === 1 ? "owner" : "updateAuthority" };
}

interface PluginsFound {
  names: CorePluginName[];
  royalties: CorePlugins["royalties"];
  isFrozen: boolean;
  transferDelegate: CorePluginAuthority | null;
  attributes: CorePlugins["attributes"];
  edition: number | null;
  masterEdition: CorePlugins["masterEdition"];
  isImmutable: boolean;
  verifiedCreators: CorePlugins["verifiedCreators"];
}

/** The plugins behind an account's own fields, which end at `at`; none where nothing follows. */
function pluginsAt(data: Uint8Array, at: number): CorePlugins {
  const found: PluginsFound = {
    names: [],
    royalties: null,
    isFrozen: false,
    transferDelegate: null,
    attributes: [],
    edition: null,
    masterEdition: null,
    isImmutable: false,
    verifiedCreators: [],
  };
  if (data[at] !== keys.header) return found;
  const registry = readerAt(data, new ByteReader(data, at + 1).u64());
  if (registry.u8() !== keys.registry) return found;
  const records = registry.list(Math.min(registry.u32(), recordsMax), 10, () => {
    const name: CorePluginName = pluginTypes[registry.u8()] ?? "unknown";
    return { name, authority: pluginAuthorityOf(registry), offset: registry.u64() };
  });
  for (const { name, authority, offset } of records) {
    found.names.push(name);
    // The plugin's own number stands before it once more.
    const reader = readerAt(data, offset);
    reader.skip(1);
    readPlugin(found, name, { authority, reader });
  }
  return found;
}

function readerAt(data: Uint8Array, offset: bigint): ByteReader {
  const reader = new ByteReader(data);
  reader.skip(offset > BigInt(data.length) ? data.length + 1 : Number(offset));
  return reader;
}

function readPlugin(
  found: PluginsFound,
  name: CorePluginName,
  { authority, reader }: { readonly authority: CorePluginAuthority; readonly reader: ByteReader },
): void {
  switch (name) {
    case "royalties":
      found.royalties = {
        basisPoints: reader.u16(),
        creators: reader.list(reader.u32(), creatorBytes, () => ({ address: reader.address(), share: reader.u8() })),
      };
      break;
    case "freezeDelegate":
    case "permanentFreezeDelegate":
      if (reader.flag()) found.isFrozen = true;
      break;
    case "transferDelegate":
      found.transferDelegate = authority;
      break;
    case "attributes":
      found.attributes = reader.list(reader.u32(), 8, () => ({ key: reader.sizedText(), value: reader.sizedText() }));
      break;
    case "edition":
      found.edition = reader.u32();
      break;
    case "masterEdition":
      found.masterEdition = { maxSupply: reader.optional(() => reader.u32()) };
      break;
    case "immutableMetadata":
      found.isImmutable = true;
      break;
    case "verifiedCreators":
      found.verifiedCreators = reader.list(reader.u32(), creatorBytes, () => ({
        address: reader.address(),
        isVerified: reader.flag(),
      }));
      break;
    default:
      break;
  }
}
