import type { AssetFillRecord } from "@sluice/contract/schemas";
import type { Network } from "@sluice/contract/tiers";
import type { Clock, Random } from "@sluice/lib";
import type { HeldIdentity, LedgerAssetStore } from "../../ledger/index.ts";
import { readFill, saveFill } from "./fill-state.ts";

export interface AssetFillsDependencies {
  readonly store: Pick<LedgerAssetStore, "progress" | "saveProgress">;
  /** Those whose logs this process opens. */
  readonly networks: () => readonly Network[];
  /** The chain of a network; null while nobody knows it. */
  readonly chainOf: (network: Network) => HeldIdentity | null;
  readonly clock: Pick<Clock, "now">;
  readonly random: Random;
}

type Ordered =
  | { readonly ok: true; readonly record: AssetFillRecord }
  | { readonly ok: false; readonly reason: "network" | "busy" };

/** Orders to fill the index of assets from nodes, for operators. They are rows of the ledger: any process fills. */
export class AssetFills {
  readonly #dependencies: AssetFillsDependencies;

  constructor(dependencies: AssetFillsDependencies) {
    this.#dependencies = dependencies;
  }

  /** The last order of each network. @throws {LedgerUnavailableError | LedgerQueryError} */
  async list(): Promise<readonly AssetFillRecord[]> {
    const { store, networks, chainOf } = this.#dependencies;
    const records: AssetFillRecord[] = [];
    for (const network of networks()) {
      const chain = chainOf(network);
      const fill = chain === null ? null : await readFill(store, network, chain);
      if (fill !== null) records.push(fill.record);
    }
    return records;
  }

  /** Orders a fill; one that has not ended stands in its way. @throws {LedgerUnavailableError | LedgerQueryError} */
  async order(network: Network, terms: Pick<AssetFillRecord, "of" | "per_second">): Promise<Ordered> {
    const { store, networks, chainOf, clock, random } = this.#dependencies;
    const chain = networks().includes(network) ? chainOf(network) : null;
    if (chain === null) return { ok: false, reason: "network" };
    const before = await readFill(store, network, chain);
    if (before?.record.state === "active") return { ok: false, reason: "busy" };
    const id = `${Math.trunc(clock.now()).toString(36)}${Buffer.from(random.bytes(4)).toString("hex")}`;
    const record: AssetFillRecord = { id, network, ...terms, state: "active", assets: null, read: 0, fault: null };
    // What has no version is before all that has one.
    const version = (before?.version ?? 0n) + 1n;
    await saveFill(store, { network, chain }, { record, cursor: "", version, listedSlot: null });
    return { ok: true, record };
  }

  /** False where no order with the id runs. @throws {LedgerUnavailableError | LedgerQueryError} */
  async cancel(id: string): Promise<boolean> {
    const { store, networks, chainOf } = this.#dependencies;
    for (const network of networks()) {
      const chain = chainOf(network);
      const fill = chain === null ? null : await readFill(store, network, chain);
      if (chain === null || fill === null || fill.record.id !== id || fill.record.state !== "active") continue;
      const record: AssetFillRecord = { ...fill.record, state: "cancelled" };
      // Above what the fill itself writes meanwhile.
      await saveFill(store, { network, chain }, { ...fill, record, version: fill.version + 1_000n });
      return true;
    }
    return false;
  }
}
