import type { AccountEntry } from "./accounts/account-entry.ts";
import type { AccountSupply } from "./accounts/account-supply.ts";
import { unavailable } from "./outcome.ts";
import type { PreparedBundle } from "./resolve/prepared-bundle.ts";
import { type ParsedBundle, parseBundle, type Resolver } from "./resolve/resolver.ts";
import type { BundleFailure, BundleUnavailable, SimulatedBundle } from "./simulation.ts";

/**
 * Rounds of reading that one bundle may need: its keys, the keys that lookup tables name, the code of the programs among
 * those, that code whole, and two more for what changes meanwhile.
 */
const ROUNDS_MAX = 6;

export type Preparation =
  | { readonly ok: true; readonly bundle: PreparedBundle }
  | { readonly ok: false; readonly outcome: BundleFailure | BundleUnavailable };

/** Reads whatever a bundle runs on and is not known as of the newest slot. */
export class Preparer {
  readonly #supply: AccountSupply;
  readonly #resolver: Resolver;
  /** Accounts that every bundle runs on. */
  readonly #always: readonly AccountEntry[];
  readonly #newestSlot: () => bigint;
  /** By the list of transactions, which is one from a bundle's admission to its end: each auction that it wins runs it again. */
  readonly #parsed = new WeakMap<SimulatedBundle["transactions"], ParsedBundle>();

  constructor(deps: {
    readonly supply: AccountSupply;
    readonly resolver: Resolver;
    readonly always: readonly AccountEntry[];
    readonly newestSlot: () => bigint;
  }) {
    this.#supply = deps.supply;
    this.#resolver = deps.resolver;
    this.#always = deps.always;
    this.#newestSlot = deps.newestSlot;
  }

  async prepare(bundle: SimulatedBundle): Promise<Preparation> {
    const parsed = this.#parse(bundle);
    if ("ok" in parsed) return { ok: false, outcome: parsed };
    // What is newer than the slot in which it began is not waited for, so that this ends while slots go on.
    const slot = this.#newestSlot();
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const resolution = this.#resolver.resolve(parsed, slot);
      if (resolution.kind === "failed") return { ok: false, outcome: resolution.failure };
      const always = this.#always.filter((entry) => !this.#supply.isFresh(entry, slot));
      if (resolution.kind === "prepared" && always.length === 0) return { ok: true, bundle: resolution.bundle };
      if (resolution.kind === "prepared") resolution.bundle.release();
      const wanted = resolution.kind === "wants" ? resolution.entries : [];
      if (!(await this.#supply.read([...new Set([...wanted, ...always])]))) break;
    }
    return { ok: false, outcome: unavailable("no_accounts") };
  }

  #parse(bundle: SimulatedBundle): ParsedBundle | BundleFailure {
    const known = this.#parsed.get(bundle.transactions);
    if (known?.id === bundle.id) return known;
    const parsed = parseBundle(bundle);
    if (!("ok" in parsed)) this.#parsed.set(bundle.transactions, parsed);
    return parsed;
  }
}
