import type { ErrorCode } from "@sluice/contract/errors";
import { metaplexMetadataAddress } from "@sluice/wire/accounts/metaplex";
import { editionAddress, tokenRecordAddress } from "@sluice/wire/accounts/metaplex-editions";
import { mplCoreProgram } from "@sluice/wire/accounts/mpl-core";
import { isAddress } from "@sluice/wire/identifiers";
import { accountsOfCallMax, memberOf, readAccounts, type ShownAccount, sha256 } from "../node-accounts.ts";
import { type Asking, callNode, type NodeCallDependencies } from "../node-calls.ts";
import type { Asset } from "./asset.ts";
import { coreAsset, coreCollectionOf } from "./core-asset.ts";
import { isOfOneUnit, isProgrammable, readToken, type TokenAccounts, tokenAsset } from "./token-asset.ts";

/** Assets without accounts, which an index has. */
export interface CompressedAssets {
  /** Those that it has of the ids. Never rejects. */
  find(network: Asking["network"], ids: readonly string[]): Promise<ReadonlyMap<string, Asset>>;
}

export interface AssetReaderDependencies extends NodeCallDependencies {
  /** Null where nothing indexes leaves. */
  readonly compressed: CompressedAssets | null;
}

/** The assets that there are of those that were asked for, as of a slot; or why nothing can be said. */
export type AssetsRead =
  | { readonly ok: true; readonly slot: bigint | null; readonly assets: ReadonlyMap<string, Asset> }
  | { readonly ok: false; readonly code: ErrorCode };

/** Calls to nodes at a time, for one request. */
const callsMax = 8;
/** The account itself, metadata, and edition. */
const accountsOfId = 3;
const idsOfCall = Math.floor(accountsOfCallMax / accountsOfId);

/** Ids whose addresses are derived in one turn of the event loop: two take half a millisecond. */
const derivedOfTurn = 2;
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

class ReadFailed extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode) {
    super(code);
    this.code = code;
  }
}

/** Reads assets from the accounts that nodes show. */
export class AssetReader {
  readonly #dependencies: AssetReaderDependencies;

  constructor(dependencies: AssetReaderDependencies) {
    this.#dependencies = dependencies;
  }

  /** Assets by their ids, which are addresses. An id that names nothing is not among the answers. */
  async read(asking: Asking, ids: readonly string[]): Promise<AssetsRead> {
    try {
      return await new AssetReading(this.#dependencies, asking).read([...new Set(ids)]);
    } catch (error) {
      if (error instanceof ReadFailed) return { ok: false, code: error.code };
      throw error;
    }
  }
}

interface Found {
  readonly id: string;
  readonly accounts: TokenAccounts;
}

/** One request's reading. */
class AssetReading {
  readonly #dependencies: AssetReaderDependencies;
  readonly #asking: Asking;
  /** The oldest of the slots that answers are from: all of them hold what had happened by then. */
  #slot: bigint | null = null;

  constructor(dependencies: AssetReaderDependencies, asking: Asking) {
    this.#dependencies = dependencies;
    this.#asking = asking;
  }

  async read(ids: readonly string[]): Promise<AssetsRead> {
    const groups = await eachOf(chunksOf(ids, idsOfCall), (group) => this.#accounts(group));
    const found = groups.flat();
    const [cores, others] = [found.filter(isCore), found.filter((each) => !isCore(each))];
    const assets = new Map<string, Asset>();
    for (const asset of await this.#cores(cores)) assets.set(asset.id, asset);
    for (const asset of await this.#tokens(others)) assets.set(asset.id, asset);
    const missing = ids.filter((id) => !assets.has(id));
    const { compressed } = this.#dependencies;
    if (compressed !== null && missing.length > 0) {
      for (const [id, asset] of await compressed.find(this.#asking.network, missing)) assets.set(id, asset);
    }
    return { ok: true, slot: this.#slot, assets };
  }

  async #accounts(ids: readonly string[]): Promise<Found[]> {
    const addresses: string[] = [];
    for (const [at, id] of ids.entries()) {
      if (at % derivedOfTurn === 0) await nextTurn();
      addresses.push(id, metaplexMetadataAddress(id, sha256) ?? id, editionAddress(id, sha256) ?? id);
    }
    const accounts = await this.#read(addresses);
    return ids.map((id, at) => {
      const [mint = null, metadata = null, edition = null] = accounts.slice(at * accountsOfId, (at + 1) * accountsOfId);
      return { id, accounts: { mint, metadata, edition } };
    });
  }

  async #cores(found: readonly Found[]): Promise<Asset[]> {
    const collectionOf = ({ accounts: { mint } }: Found): string | null =>
      mint === null ? null : coreCollectionOf(mint.data);
    const collections = [...new Set(found.map(collectionOf).filter((address) => address !== null))];
    const read = await this.#byAddress(collections);
    return found.flatMap((each) => {
      const above = read.get(collectionOf(each) ?? "") ?? null;
      const data = above?.program === mplCoreProgram ? above.data : null;
      const asset = each.accounts.mint === null ? null : coreAsset(each.id, each.accounts.mint.data, data);
      return asset === null ? [] : [asset];
    });
  }

  async #tokens(found: readonly Found[]): Promise<Asset[]> {
    const held = found.flatMap(({ id, accounts }) => {
      const told = readToken(accounts);
      return told !== null && isOfOneUnit(told) ? [{ id, hasRecord: isProgrammable(told) }] : [];
    });
    const holders = await eachOf(held, async ({ id, hasRecord }) => {
      const address = await this.#holder(id);
      const record = address === null || !hasRecord ? null : tokenRecordAddress(id, address, sha256);
      return { id, address, record };
    });
    const addresses = holders.flatMap(({ address, record }) => [address, record]).filter((each) => each !== null);
    const read = await this.#byAddress(addresses);
    const byId = new Map(holders.map((holder) => [holder.id, holder]));
    return found.flatMap(({ id, accounts }) => {
      const { address = null, record = null } = byId.get(id) ?? {};
      const holder =
        address === null
          ? null
          : { address, account: read.get(address) ?? null, record: read.get(record ?? "") ?? null };
      const asset = tokenAsset(id, accounts, holder);
      return asset === null ? [] : [asset];
    });
  }

  /** The token account with the only unit of a mint. */
  async #holder(mint: string): Promise<string | null> {
    const call = { method: "getTokenLargestAccounts", params: [mint, { commitment: "confirmed" }] };
    const answer = await callNode(this.#dependencies, this.#asking, call);
    if (!answer.ok) throw new ReadFailed(answer.code);
    const value = memberOf(answer.result, "value");
    const holding = Array.isArray(value) ? value.find((each) => memberOf(each, "amount") === "1") : undefined;
    const address = memberOf(holding, "address");
    return typeof address === "string" && isAddress(address) ? address : null;
  }

  async #byAddress(addresses: readonly string[]): Promise<ReadonlyMap<string, ShownAccount | null>> {
    const groups = await eachOf(chunksOf(addresses, accountsOfCallMax), (group) => this.#read(group));
    const accounts = groups.flat();
    return new Map(addresses.map((address, at) => [address, accounts[at] ?? null]));
  }

  async #read(addresses: readonly string[]): Promise<readonly (ShownAccount | null)[]> {
    const read = await readAccounts(this.#dependencies, this.#asking, addresses);
    if (!read.ok) throw new ReadFailed(read.code);
    if (read.slot !== null && (this.#slot === null || read.slot < this.#slot)) this.#slot = read.slot;
    return read.accounts;
  }
}

const isCore = ({ accounts: { mint } }: Found): boolean => mint?.program === mplCoreProgram;

function chunksOf<Item>(items: readonly Item[], size: number): Item[][] {
  const chunks: Item[][] = [];
  for (let at = 0; at < items.length; at += size) chunks.push(items.slice(at, at + size));
  return chunks;
}

/** The results in the order of the items; some at a time. The first failure ends it. */
async function eachOf<Item, Result>(items: readonly Item[], work: (item: Item) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = new Array<Result>(items.length);
  const entries = items.entries();
  const lane = async (): Promise<void> => {
    for (const [at, item] of entries) results[at] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(callsMax, items.length) }, lane));
  return results;
}
