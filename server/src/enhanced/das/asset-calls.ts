import type { JsonValue } from "@sluice/encode";
import { parseJsonExact } from "@sluice/wire/json";
import type { LedgerAssetReads } from "../../ledger/index.ts";
import type { Asset } from "../assets/asset.ts";
import type { AssetReader } from "../assets/asset-reader.ts";
import { mastersOf } from "../assets/editions.ts";
import type { Asking } from "../node-calls.ts";
import { type DocumentRead, type DocumentSource, documentWaitMs } from "../off-chain/documents.ts";
import { type DasAnswer, type DasCall, failure, notFound, result } from "./das-call.ts";
import { type Display, presentAsset } from "./present.ts";

export interface AssetCallsDependencies {
  readonly assets: Pick<AssetReader, "read">;
  readonly documents: DocumentSource;
  /** The index, which knows the masters of prints. */
  readonly reads: Pick<LedgerAssetReads, "masters">;
}

/** getAsset: one asset by its id. An id that names none is an error. */
export async function getAsset(dependencies: AssetCallsDependencies, call: DasCall): Promise<DasAnswer> {
  const { id } = call.params;
  if (typeof id !== "string") return failure("INVALID_PARAMS", "Invalid params: id is missing");
  const presented = await presentAll(dependencies, call, [id]);
  if (!presented.ok) return presented;
  const [asset = null] = presented.assets;
  return asset === null ? notFound(id) : result(asset);
}

/** getAssetBatch: assets in the order of their ids, null in the place of one that there is not. */
export async function getAssetBatch(dependencies: AssetCallsDependencies, call: DasCall): Promise<DasAnswer> {
  const { ids } = call.params;
  if (!Array.isArray(ids)) return failure("INVALID_PARAMS", "Invalid params: ids is missing");
  const presented = await presentAll(dependencies, call, ids.map(String));
  return presented.ok ? result(presented.assets) : presented;
}

type Presented =
  | { readonly ok: true; readonly assets: readonly (JsonValue | null)[] }
  | Extract<DasAnswer, { ok: false }>;

async function presentAll(
  { assets, documents, reads }: AssetCallsDependencies,
  { asking, params }: DasCall,
  ids: readonly string[],
): Promise<Presented> {
  const read = await assets.read(asking, ids);
  if (!read.ok) return failure(read.code);
  const display = displayOf(params["options"] ?? params["displayOptions"]);
  const collections = display.showCollectionMetadata
    ? await collectionsOf({ assets }, asking, [...read.assets.values()])
    : new Map<string, Asset>();
  const [documentsOf, masters] = await Promise.all([
    documentsByUri(documents, asking, [...read.assets.values(), ...collections.values()]),
    mastersOf(reads, asking.network, read.assets.values()),
  ]);
  const documentOf = ({ uri }: Asset): DocumentRead => documentsOf.get(uri) ?? { state: "pending", document: null };
  return {
    ok: true,
    assets: ids.map((id) => {
      const asset = read.assets.get(id);
      if (asset === undefined) return null;
      const above = collections.get(asset.collection?.address ?? "");
      const collection = above === undefined ? null : { asset: above, document: documentOf(above) };
      return presentAsset(asset, display, { document: documentOf(asset), collection, masters, slot: read.slot });
    }),
  };
}

/** A collection that cannot be read leaves its metadata out, and fails nothing. */
async function collectionsOf(
  { assets }: Pick<AssetCallsDependencies, "assets">,
  asking: Asking,
  members: readonly Asset[],
): Promise<ReadonlyMap<string, Asset>> {
  const named = new Set(members.map(({ collection }) => collection?.address).filter((each) => each !== undefined));
  const read = await assets.read(asking, [...named]);
  return read.ok ? read.assets : new Map();
}

async function documentsByUri(
  documents: DocumentSource,
  { keyId }: Asking,
  assets: readonly Asset[],
): Promise<ReadonlyMap<string, DocumentRead>> {
  const uris = [...new Set(assets.map(({ uri }) => uri))];
  const read = await Promise.all(uris.map((uri) => documents.read(uri, documentWaitMs, keyId)));
  return new Map(uris.map((uri, at) => [uri, read[at] ?? { state: "pending", document: null }]));
}

function displayOf(options: JsonValue | undefined): Display {
  const members = typeof options === "object" && options !== null && !Array.isArray(options) ? options : {};
  const flag = (name: keyof Display): boolean => (members as Readonly<Record<string, JsonValue>>)[name] === true;
  return {
    showUnverifiedCollections: flag("showUnverifiedCollections"),
    showCollectionMetadata: flag("showCollectionMetadata"),
  };
}

/** The parameters of a planned call: an object, or one in a list. */
export function paramsOf(text: string | null): DasCall["params"] {
  const parsed = parseJsonExact(text ?? "{}");
  const value = parsed.ok && Array.isArray(parsed.value) ? parsed.value[0] : parsed.ok ? parsed.value : null;
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as DasCall["params"]) : {};
}
