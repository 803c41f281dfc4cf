import type { AssetFillRecord } from "@sluice/contract/schemas";
import type { Clock } from "@sluice/lib";
import { tokenMetadataProgram } from "@sluice/wire/accounts/metaplex";
import { mplCoreProgram } from "@sluice/wire/accounts/mpl-core";
import { encodeBase58 } from "@sluice/wire/base58";
import { addressOfBytes } from "@sluice/wire/identifiers";
import { memberOf } from "../../chain/index.ts";
import type { LedgerAssetStore } from "../../ledger/index.ts";
import type { BlockIndexer } from "./block-indexer.ts";
import type { AssetIndexEvents } from "./events.ts";
import { type FillState, readFill, saveFill } from "./fill-state.ts";
import type { AssetNodes } from "./node-reads.ts";
import type { IndexedChain } from "./progress.ts";

export interface AssetFillDependencies {
  readonly store: Pick<LedgerAssetStore, "progress" | "saveProgress">;
  readonly nodes: AssetNodes;
  readonly indexer: Pick<BlockIndexer, "read">;
  readonly clock: Clock;
  readonly events: Pick<AssetIndexEvents, "fillEnded">;
}

/** How often the state is looked at: an order may have been given, or cancelled, elsewhere. */
const lookMs = 1_000;
/** Assets that are read before the state is written. */
const groupSize = 100;
/** Assets of one fill: their ids are held in memory. */
const assetsMax = 5_000_000;

const key = (byte: number): string => encodeBase58(Uint8Array.of(byte));
const atOffset = (offset: number, bytes: string) => ({ memcmp: { offset, bytes } });

/** Where ids of assets are in accounts of a program, by what an order asks for. Source: wire's layouts of both. */
interface Listing {
  readonly program: string;
  readonly filters: readonly ReturnType<typeof atOffset>[];
  /** Where the id is in the data; null where the account itself is the asset. */
  readonly idOffset: number | null;
}

function listingsOf({ authority, creator, collection }: AssetFillRecord["of"]): readonly Listing[] {
  const metadata = [atOffset(0, key(4))];
  const core = [atOffset(0, key(1))];
  const isAll = authority === null && creator === null && collection === null;
  const listings: Listing[] = [];
  // The collection of metadata follows on texts, so that no offset finds it.
  if (collection === null) {
    const filters = [...metadata];
    if (authority !== null) filters.push(atOffset(1, authority));
    // The first of the creators stands there in metadata whose texts have their whole length, as all have.
    if (creator !== null) filters.push(atOffset(326, creator));
    listings.push({ program: tokenMetadataProgram, filters, idOffset: 33 });
  }
  if (creator === null) {
    const above = collection ?? authority;
    // Byte 33 says whether an address or a collection may change an asset.
    const filters =
      above === null ? core : [...core, atOffset(33, key(collection === null ? 1 : 2)), atOffset(34, above)];
    listings.push({ program: mplCoreProgram, filters, idOffset: null });
  }
  if (isAll) listings.push({ program: mplCoreProgram, filters: [atOffset(0, key(5))], idOffset: null });
  return listings;
}

/**
 * Reads assets that nodes list into the index, as an order says, at its rate. The ids are read in their order, so that
 * another process, or this one after a kill, goes on where it ended: it lists them again.
 */
export class AssetFill {
  readonly #options: IndexedChain;
  readonly #dependencies: AssetFillDependencies;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #state: FillState | null = null;
  /** Of the order that runs, in their order. */
  #ids: { readonly of: string; readonly ids: readonly string[] } | null = null;
  #nextAtMs = 0;

  constructor(options: IndexedChain, dependencies: AssetFillDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** Does what the rate allows now. @returns whether more may be done at once @throws {Error} the step is repeated */
  async step(): Promise<boolean> {
    const { clock } = this.#dependencies;
    if (clock.monotonic() >= this.#lookedAtMs + lookMs) await this.#look();
    const state = this.#state;
    if (state === null || state.record.state !== "active") {
      this.#ids = null;
      return false;
    }
    if (clock.monotonic() < this.#nextAtMs) return false;
    const ids = await this.#listed(state);
    if (ids === null) return false;
    // Each asset is read at least as late as it was listed, so that blocks from there on tell what the fill does not.
    const minimumSlot = this.#state?.listedSlot ?? 0n;
    const from = state.cursor === "" ? 0 : firstAfter(ids, state.cursor);
    const group = ids.slice(from, from + groupSize);
    if (group.length > 0) {
      const changed = new Map(group.map((id) => [id, 0n]));
      await this.#dependencies.indexer.read(changed, { minimumSlot, holders: new Map() });
      this.#nextAtMs = clock.monotonic() + (group.length / state.record.per_second) * 1_000;
    }
    const isDone = from + group.length >= ids.length;
    await this.#advance(state, { cursor: group.at(-1) ?? state.cursor, read: from + group.length, isDone });
    return !isDone;
  }

  async #look(): Promise<void> {
    const { network, chain } = this.#options;
    const { store, clock } = this.#dependencies;
    this.#state = await readFill(store, network, chain);
    this.#lookedAtMs = clock.monotonic();
  }

  /** Null when the order has ended because nodes do not list what it asks for. */
  async #listed(state: FillState): Promise<readonly string[] | null> {
    const { id } = state.record;
    if (this.#ids?.of === id) return this.#ids.ids;
    const found = new Set<string>();
    let { listedSlot } = state;
    try {
      for (const listing of listingsOf(state.record.of)) {
        const slot = await this.#list(listing, found);
        if (listedSlot === null || slot < listedSlot) listedSlot = slot;
      }
    } catch (error) {
      const fault = error instanceof Error ? error.message : "nodes do not list the accounts";
      await this.#put(state, { ...state.record, state: "failed", fault: fault.slice(0, 500) });
      return null;
    }
    const ids = [...found].sort();
    this.#ids = { of: id, ids };
    await this.#put({ ...state, listedSlot }, { ...state.record, assets: ids.length });
    return ids;
  }

  /** @returns the slot that the list is from */
  async #list({ program, filters, idOffset }: Listing, found: Set<string>): Promise<bigint> {
    const dataSlice = idOffset === null ? { offset: 0, length: 0 } : { offset: idOffset, length: 32 };
    const config = {
      encoding: "base64",
      commitment: "confirmed",
      withContext: true,
      dataSlice,
      filters: filters.map((each) => ({ ...each })),
    };
    const result = await this.#dependencies.nodes.read("getProgramAccounts", [program, config], {});
    const slot = memberOf(memberOf(result, "context"), "slot");
    const listed = memberOf(result, "value");
    if (!Array.isArray(listed) || typeof slot !== "bigint") throw new Error("a node listed accounts in another form");
    for (const entry of listed) {
      const [text] = dataOf(memberOf(memberOf(entry, "account"), "data"));
      const pubkey = memberOf(entry, "pubkey");
      const bytes = idOffset === null || typeof text !== "string" ? null : Buffer.from(text, "base64");
      if (bytes?.length === 32) found.add(addressOfBytes(bytes));
      else if (idOffset === null && typeof pubkey === "string") found.add(pubkey);
      if (found.size > assetsMax)
        throw new Error(`more than ${assetsMax} assets; fill them by authority or collection`);
    }
    return slot;
  }

  async #advance(
    state: FillState,
    { cursor, read, isDone }: { readonly cursor: string; readonly read: number; readonly isDone: boolean },
  ): Promise<void> {
    // The order may have been cancelled meanwhile.
    await this.#look();
    const present = this.#state;
    if (present === null || present.record.id !== state.record.id || present.record.state !== "active") return;
    const record = { ...present.record, read, state: isDone ? ("done" as const) : ("active" as const) };
    await this.#put({ ...present, cursor }, record);
  }

  async #put(state: FillState, record: AssetFillRecord): Promise<void> {
    const { network, chain } = this.#options;
    const { store, events } = this.#dependencies;
    const next = { ...state, record, version: state.version + 1n };
    await saveFill(store, { network, chain }, next);
    this.#state = next;
    if (record.state !== "active") events.fillEnded(network, { id: record.id, state: record.state, read: record.read });
  }
}

const dataOf = (value: ReturnType<typeof memberOf>) => (Array.isArray(value) ? value : []);

/** The place of the first of sorted ids that is after one. */
function firstAfter(ids: readonly string[], id: string): number {
  let [low, high] = [0, ids.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ids[middle] ?? "") <= id) low = middle + 1;
    else high = middle;
  }
  return low;
}
