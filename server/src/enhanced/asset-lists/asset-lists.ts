import type { Network } from "@sluice/contract/tiers";
import type { JsonObject, JsonValue } from "@sluice/encode";
import type { Clock } from "@sluice/lib";
import type { AssetPage, HeldIdentity, IndexedAsset, LedgerAssetReads, LedgerAssetStore } from "../../ledger/index.ts";
import { assetOfIndex } from "../asset-index/indexed-asset.ts";
import { readingRow } from "../asset-index/rows.ts";
import type { Asset } from "../assets/asset.ts";
import type { AssetReader } from "../assets/asset-reader.ts";
import { mastersOf } from "../assets/editions.ts";
import { dasAsset } from "../das/das-asset.ts";
import { memberOf } from "../node-accounts.ts";
import { type Asking, callNode, type NodeCallDependencies } from "../node-calls.ts";
import { Coverage, type IndexCoverage, indexRecord } from "./coverage.ts";
import { cursorOf, type DasInput, InvalidInput, type WantedPage, type WrittenEdge } from "./das-input.ts";
import { nftEditions } from "./editions.ts";
import { type HeldToken, heldByMint, heldTokens } from "./held-tokens.ts";
import { ListRefusal } from "./list-refusal.ts";
import { leafProof } from "./proofs.ts";
import { type ListQuestion, listMethods } from "./questions.ts";

export interface AssetListsDependencies extends NodeCallDependencies {
  readonly reads: LedgerAssetReads;
  readonly store: Pick<LedgerAssetStore, "progress" | "write">;
  readonly assets: Pick<AssetReader, "read">;
  /** The chain that a network is now; null while it is not known. */
  readonly identityOf: (network: Network) => HeldIdentity | null;
  readonly clock: Pick<Clock, "monotonic">;
}

/** Mints of an owner that one answer looks at, and those of them that it reads into the index itself. */
const heldMax = 4_000;
const readMax = 500;
const signaturesMax = 1_000;
const proofsMax = 100;

/** Lists of assets, and what else the index alone can tell. Throw InvalidInput, ListRefusal and the ledger's errors. */
export class AssetLists {
  readonly #dependencies: AssetListsDependencies;
  readonly #coverage: Coverage;

  constructor(dependencies: AssetListsDependencies) {
    this.#dependencies = dependencies;
    this.#coverage = new Coverage(dependencies);
  }

  async answer(method: string, asking: Asking, input: DasInput): Promise<JsonValue> {
    if (method === "getNftEditions") {
      const coverage = await this.#covered(asking.network);
      return await nftEditions(this.#dependencies, asking, { input, coverage });
    }
    if (method === "getSignaturesForAsset") return await this.#signatures(asking, input);
    if (method === "getAssetProof") return await this.#proof(asking.network, input.requiredAddress("id"));
    if (method === "getAssetProofBatch") return await this.#proofs(asking.network, input);
    const read = listMethods.get(method);
    if (read === undefined) throw new ListRefusal("METHOD_NOT_FOUND", "There is no such method");
    return await this.#list(asking, read(input));
  }

  async #list(asking: Asking, { filter, page, options }: ListQuestion): Promise<JsonObject> {
    const { network } = asking;
    const { reads } = this.#dependencies;
    const { owner } = filter;
    const showsFungible = !filter.withoutInterfaces.includes("FungibleToken");
    const held = owner === null ? null : await this.#held(asking, owner, { showsFungible, ...options });
    const asked = held === null ? filter : { ...filter, held: held.mints };
    const wanted = await this.#page(network, page);
    const [found, total, coverage, native] = await Promise.all([
      reads.list(network, asked, wanted),
      options.showGrandTotal ? reads.count(network, asked) : null,
      this.#covered(network),
      options.showNativeBalance && owner !== null ? this.#native(asking, owner) : null,
    ]);
    const collections = options.showCollectionMetadata ? await this.#collections(network, found) : new Map();
    const assets = found.flatMap((indexed) => assetOfIndex(indexed) ?? []);
    const masters = await mastersOf(reads, network, assets);
    const items = assets.map((asset) => {
      const { showUnverifiedCollections } = options;
      const collectionMetadata = collections.get(asset.collection?.address ?? "") ?? null;
      const shown = dasAsset(heldBy(asset, owner, held), {
        ...{ showUnverifiedCollections, collectionMetadata, masters },
      });
      return withBalance(shown, held?.tokens.get(asset.id));
    });
    const last = found.at(-1);
    const slot =
      last === undefined ? 0n : page.sort === "created" ? last.created : page.sort === "updated" ? last.updated : 0n;
    const isFull = last !== undefined && found.length === page.limit;
    return {
      last_indexed_slot: coverage.lastSlot ?? 0n,
      ...(total === null ? {} : { grand_total: total }),
      total: items.length,
      limit: page.limit,
      ...(page.page === null ? {} : { page: page.page }),
      ...(isFull ? { cursor: cursorOf({ slot, asset: last.asset }) } : {}),
      items,
      ...(native === null ? {} : { nativeBalance: native }),
      index: indexRecord(coverage, held?.unread ?? 0),
    };
  }

  /** What an owner holds by tokens now; what of it the index does not have is read into it. */
  async #held(
    asking: Asking,
    owner: string,
    { showsFungible, showZeroBalance }: { readonly showsFungible: boolean; readonly showZeroBalance: boolean },
  ) {
    const { reads } = this.#dependencies;
    const read = await heldTokens(this.#dependencies, asking, owner);
    if (!read.ok) throw new ListRefusal(read.code, "The nodes do not tell what the owner holds");
    const wanted = read.tokens.filter(
      ({ amount, decimals }) => (amount > 0n || (showZeroBalance && decimals > 0)) && (showsFungible || decimals === 0),
    );
    const tokens = heldByMint(wanted.slice(0, heldMax));
    const mints = [...tokens.keys()];
    const known = await reads.known(asking.network, mints);
    const missing = mints.filter((mint) => !known.has(mint));
    const unread = await this.#readMissing(asking, missing.slice(0, readMax));
    return {
      mints,
      tokens,
      unread: unread + Math.max(0, missing.length - readMax) + Math.max(0, wanted.length - heldMax),
    };
  }

  /** @returns how many of them could not be read */
  async #readMissing(asking: Asking, ids: readonly string[]): Promise<number> {
    if (ids.length === 0) return 0;
    const { assets, store } = this.#dependencies;
    const read = await assets.read(asking, ids);
    if (!read.ok || read.slot === null) return ids.length;
    const place = { slot: read.slot, isFinal: false, changedSlot: 0n, known: undefined };
    const rows = [...read.assets].map(([id, asset]) => readingRow(id, asset, place));
    await store.write(asking.network, rows);
    return ids.length - rows.length;
  }

  async #page(network: Network, { sort, order, limit, page, after, before }: WantedPage): Promise<AssetPage> {
    const edgeOf = async (written: WrittenEdge | null) => {
      if (written === null) return null;
      const { asset, slot } = written;
      if (slot !== null || sort === "id") return { asset, slot: slot ?? 0n };
      const found = (await this.#dependencies.reads.byIds(network, [asset])).get(asset);
      if (found === undefined) throw new InvalidInput(`before and after must be assets of the index: ${asset} is none`);
      return { asset, slot: sort === "created" ? found.created : found.updated };
    };
    const skip = ((page ?? 1) - 1) * limit;
    return { sort, order, limit, skip, after: await edgeOf(after), before: await edgeOf(before) };
  }

  async #covered(network: Network): Promise<IndexCoverage> {
    const chain = this.#dependencies.identityOf(network);
    if (chain !== null) return await this.#coverage.of(network, chain);
    return { lastSlot: null, since: null, accountsComplete: false, leavesComplete: false };
  }

  async #native(asking: Asking, owner: string): Promise<JsonObject | null> {
    const call = { method: "getBalance", params: [owner, { commitment: "confirmed" }] };
    const answer = await callNode(this.#dependencies, asking, call);
    const lamports = answer.ok ? memberOf(answer.result, "value") : undefined;
    if (typeof lamports !== "bigint" && typeof lamports !== "number") return null;
    // Values in dollars are the oracle's, and are told with wallets.
    return { lamports, price_per_sol: null, total_price: null };
  }

  async #collections(network: Network, found: readonly IndexedAsset[]): Promise<ReadonlyMap<string, JsonObject>> {
    const addresses = [...new Set(found.map(({ description }) => description?.collection ?? "").filter(Boolean))];
    const known = await this.#dependencies.reads.byIds(network, addresses);
    const records = new Map<string, JsonObject>();
    for (const [address, indexed] of known) {
      const asset = assetOfIndex(indexed);
      if (asset !== null) records.set(address, { name: asset.name, symbol: asset.symbol });
    }
    return records;
  }

  async #signatures({ network }: Asking, input: DasInput): Promise<JsonObject> {
    input.allow(["id", "page", "limit", "before", "after"]);
    const id = input.requiredAddress("id");
    const limit = input.whole("limit", 1, signaturesMax) ?? signaturesMax;
    const [before, after] = [input.text("before"), input.text("after")];
    const page = input.whole("page", 1, 100_001) ?? 1;
    // The types of helius-sdk ask for a page beside every edge.
    if (page > 1 && (before !== null || after !== null)) {
      throw new InvalidInput("page does not go with before or after");
    }
    const { reads } = this.#dependencies;
    const edges = [before, after].filter((each) => each !== null);
    const places = await reads.signaturePlaces(network, id, edges);
    const placeOf = (signature: string | null) => {
      const place = signature === null ? null : places.get(signature);
      if (place === undefined) throw new InvalidInput("before and after must be signatures of this asset in the index");
      return place;
    };
    const asked = { limit, skip: (page - 1) * limit, before: placeOf(before), after: placeOf(after) };
    const [found, coverage] = await Promise.all([reads.signatures(network, id, asked), this.#covered(network)]);
    const named = (operation: string): string => `${operation.slice(0, 1).toUpperCase()}${operation.slice(1)}`;
    return {
      last_indexed_slot: coverage.lastSlot ?? 0n,
      ...{ total: found.length, limit },
      ...(edges.length === 0 ? { page } : {}),
      ...(before === null ? {} : { before }),
      ...(after === null ? {} : { after }),
      items: found.map(({ signature, operation }) => [signature, named(operation)]),
      index: indexRecord(coverage, 0),
    };
  }

  async #proof(network: Network, id: string): Promise<JsonObject> {
    const indexed = (await this.#dependencies.reads.byIds(network, [id])).get(id);
    const proof = indexed === undefined ? null : await this.#recordOf(network, indexed);
    if (proof !== null) return proof;
    const refused = (text: string) =>
      new ListRefusal("ASSET_PROOF_UNAVAILABLE", `The proof of ${id} cannot be told: ${text}`);
    if (indexed === undefined) throw refused("the index does not have the asset");
    if (indexed.leaf === null) throw refused("it is not compressed");
    throw refused(`the index does not have every change of the tree ${indexed.leaf.tree}`);
  }

  async #proofs(network: Network, input: DasInput): Promise<JsonObject> {
    const ids = input.addresses("ids", proofsMax);
    const known = await this.#dependencies.reads.byIds(network, [...new Set(ids)]);
    const proofs: Record<string, JsonValue> = {};
    for (const id of ids) {
      const indexed = known.get(id);
      proofs[id] ??= indexed === undefined ? null : await this.#recordOf(network, indexed);
    }
    return proofs;
  }

  async #recordOf(network: Network, indexed: IndexedAsset): Promise<JsonObject | null> {
    const proof = await leafProof(this.#dependencies.reads, network, indexed);
    if (proof === null) return null;
    const { root, nodeIndex, leaf, tree, burnt } = proof;
    return { root, proof: [...proof.proof], node_index: nodeIndex, leaf, tree_id: tree, burnt };
  }
}

interface Held {
  readonly mints: readonly string[];
  readonly tokens: ReadonlyMap<string, HeldToken>;
  readonly unread: number;
}

/** An asset that a token account of the owner holds is the owner's, whatever the index has by now. */
function heldBy(asset: Asset, owner: string | null, held: Held | null): Asset {
  const token = held?.tokens.get(asset.id);
  if (owner === null || token === undefined) return asset;
  const { account: tokenAccount, delegate, isFrozen } = token;
  // The account of a programmable NFT is always frozen, and its delegate is in its record.
  const ofAccount = asset.interface === "ProgrammableNFT" ? {} : { delegate, isFrozen };
  return { ...asset, ownership: { ...asset.ownership, ...ofAccount, owner, tokenAccount } };
}

function withBalance(shown: JsonObject, token: HeldToken | undefined): JsonObject {
  const info = shown["token_info"];
  if (token === undefined || typeof info !== "object" || info === null || Array.isArray(info)) return shown;
  return { ...shown, token_info: { ...info, balance: token.amount, associated_token_address: token.account } };
}
