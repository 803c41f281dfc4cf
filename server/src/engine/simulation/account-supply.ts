import { type Clock, Debounce } from "@sluice/lib";
import { addressBytes } from "@sluice/wire/base58";
import { programs, sysvars } from "@sluice/wire/programs";
import type { AccountCache, AccountEntry, ReadAt } from "./account-cache.ts";
import { nameOf, nameOfBytes } from "./account-cache.ts";
import type { AccountSource, RawAccount } from "./simulation.ts";

export const supplyBounds = {
  /** Addresses of one read; a node takes no more. */
  addresses: 100,
  /** An account that is not known to be larger is read up to here. */
  smallBytes: 64 * 1_024,
  /** Data of one read of accounts that are known to be larger. A single account holds 10 MiB at most. */
  readBytes: 8 * 1_024 * 1_024,
  /** Reads under way at once. */
  reads: 8,
  /**
   * Reads of a few accounts begin at most once in so many milliseconds, so that those that bundles of these want are one
   * read: at 500 bundles a second nearly every bundle has a payer that is to be read again in its slot.
   */
  readEveryMs: 5,
  /** A read that takes longer has failed. */
  readMs: 5_000,
  /** An answer of a slot further behind the newest is not believed: its node has lost the chain. */
  behindSlots: 32n,
  /** Nor is one further behind what another node told before it was asked for: nodes that are well differ by less. */
  behindOthersSlots: 4n,
} as const;

/** The head of an upgradeable program's code: tag, the slot of its deployment, its authority. */
const PROGRAM_DATA_HEAD = 45;
const PROGRAM = 2;
const PROGRAM_DATA = 3;

const upgradeable = nameOf(programs.bpfLoaderUpgradeable);
const nativeLoader = nameOf(programs.nativeLoader);
/** Loaders whose programs can never be changed again. */
const finalLoaders: ReadonlySet<string> = new Set([nameOf(programs.bpfLoader), nameOf(programs.bpfLoaderDeprecated)]);

/** How much of an account is read. */
type Lane = "small" | "head" | "whole";

/**
 * Keeps the cache in step with the chain. Entries that are wanted at the same moment are read together, an entry is read
 * once however many want it, and the code of a program is read again only after its head says that it was deployed anew.
 */
export class AccountSupply {
  readonly #cache: AccountCache;
  readonly #source: AccountSource;
  readonly #newestSlot: () => bigint;
  readonly #lanes: Readonly<Record<Lane, AccountEntry[]>> = { small: [], head: [], whole: [] };
  readonly #clock: AccountEntry;
  readonly #settle = new Map<AccountEntry, (isRead: boolean) => void>();
  readonly #flushing: Debounce;
  #reads = 0;
  /** The newest slot that any node has told accounts of, as far as there was notice of it. */
  #readable = -1n;

  constructor(deps: {
    readonly cache: AccountCache;
    readonly source: AccountSource;
    readonly newestSlot: () => bigint;
    readonly clock: Pick<Clock, "monotonic" | "after">;
  }) {
    this.#flushing = new Debounce(
      { everyMs: supplyBounds.readEveryMs },
      { clock: deps.clock, work: () => this.#flush() },
    );
    this.#cache = deps.cache;
    this.#source = deps.source;
    this.#newestSlot = deps.newestSlot;
    this.#clock = this.#cache.of(addressBytes(sysvars.clock));
    // Each transaction has this one of its own.
    const instructions = this.#cache.of(addressBytes(sysvars.instructions));
    instructions.isConstant = true;
    instructions.isBuiltIn = true;
    instructions.slot = 0n;
    instructions.readSlot = 0n;
    instructions.pins += 1;
  }

  /** Whether an entry is right as of a slot or later, as far as anybody can tell. */
  isFresh(entry: AccountEntry, slot: bigint): boolean {
    return entry.slot >= slot || (entry.isConstant && entry.slot >= 0n);
  }

  /** Reads entries; false when one could not be had. One that is too large for a first look is known by its `space` then. */
  async read(entries: readonly AccountEntry[]): Promise<boolean> {
    const reads = await Promise.all(entries.map((entry) => entry.reading ?? this.#queue(entry)));
    return reads.every(Boolean);
  }

  #queue(entry: AccountEntry): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    entry.reading = promise;
    this.#settle.set(entry, resolve);
    this.#lanes[laneOf(entry)].push(entry);
    this.#flushing.request();
    return promise;
  }

  #flush(): void {
    for (const lane of ["small", "head", "whole"] as const) {
      while (this.#reads < supplyBounds.reads && this.#lanes[lane].length > 0) {
        void this.#readGroup(lane, takeGroup(this.#lanes[lane]));
      }
    }
  }

  async #readGroup(lane: Lane, group: readonly AccountEntry[]): Promise<void> {
    this.#reads += 1;
    let isRead = false;
    try {
      const addresses = group.map(({ address }) => address);
      const dataBytes = { small: supplyBounds.smallBytes, head: PROGRAM_DATA_HEAD, whole: null }[lane];
      const newest = this.#newestSlot();
      const readable = this.#readable;
      const reading = this.#source.accounts(addresses, { minimumSlot: newest, dataBytes });
      const found = await withinMs(reading, supplyBounds.readMs);
      const at = this.#readAt(found.slot, newest);
      const isBelieved =
        at.slot - at.readSlot <= supplyBounds.behindSlots && readable - at.readSlot <= supplyBounds.behindOthersSlots;
      isRead = found.accounts.length === group.length && isBelieved;
      if (isRead) {
        this.#readable = largest(this.#readable, least(at.readSlot, this.#newestSlot()));
        group.forEach((entry, index) => {
          this.#take(entry, found.accounts[index] ?? null, at);
        });
      }
    } catch {
      // Who waits is told that there are no accounts; the source has said why to whom it may concern.
    }
    this.#reads -= 1;
    for (const entry of group) {
      entry.reading = null;
      this.#settle.get(entry)?.(isRead);
      this.#settle.delete(entry);
    }
    this.#cache.sweep();
    if (Object.values(this.#lanes).some((lane) => lane.length > 0)) this.#flushing.request();
  }

  /**
   * The newest slot is still being built: what can be read is of a slot before it, further back where some were skipped. So
   * an answer counts as of the slot that was the newest when it was asked for. A node that claims to be far beyond what
   * nodes give notice of is taken for no further than it may be, or what it told would never be replaced.
   */
  #readAt(found: bigint, newest: bigint): ReadAt {
    const readSlot = least(found, this.#newestSlot() + supplyBounds.behindOthersSlots);
    return { readSlot, slot: largest(newest, readSlot) };
  }

  /** A node that is behind the one that was asked before says nothing against what that one told. */
  #take(entry: AccountEntry, account: RawAccount | null, at: ReadAt): void {
    if (at.readSlot < entry.readSlot) {
      if (at.slot > entry.slot) entry.slot = at.slot;
      return;
    }
    entry.space = account?.space ?? 0;
    if (account !== null && account.data.length < account.space) {
      // A head that is as it was stands for the whole; anything else that is cut is read whole when it is asked for again.
      if (isSameHead(entry, account)) this.#cache.record(entry, entry.account, at);
      else entry.isProgramData = false;
      return;
    }
    this.#cache.record(entry, entry === this.#clock ? inNextSlot(account) : account, at);
    classify(entry);
  }
}

/**
 * The clock as of the slot after: no bundle lands before that, and addresses that a lookup table gained in the newest slot
 * can be used then.
 */
function inNextSlot(clock: RawAccount | null): RawAccount | null {
  if (clock === null || clock.data.length < 8) return clock;
  const data = new Uint8Array(clock.data);
  const view = new DataView(data.buffer);
  view.setBigUint64(0, view.getBigUint64(0, true) + 1n, true);
  return { ...clock, data };
}

const least = (one: bigint, other: bigint): bigint => (one < other ? one : other);
const largest = (one: bigint, other: bigint): bigint => (one > other ? one : other);

async function withinMs<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no accounts within ${milliseconds} ms`)), milliseconds);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

function laneOf(entry: AccountEntry): Lane {
  if (entry.isProgramData) return "head";
  return entry.space > supplyBounds.smallBytes ? "whole" : "small";
}

/** As many as one read takes, from the front. */
function takeGroup(lane: AccountEntry[]): AccountEntry[] {
  let [count, bytes] = [0, 0];
  for (const { space, isProgramData } of lane) {
    if (!isProgramData && space > supplyBounds.smallBytes) bytes += space;
    if (count === supplyBounds.addresses || (count > 0 && bytes > supplyBounds.readBytes)) break;
    count += 1;
  }
  return lane.splice(0, count);
}

function isSameHead(entry: AccountEntry, read: RawAccount): boolean {
  const { account } = entry;
  if (!entry.isProgramData || account === null || account.space !== read.space) return false;
  if (Buffer.compare(account.owner, read.owner) !== 0) return false;
  return Buffer.compare(account.data.subarray(0, PROGRAM_DATA_HEAD), read.data.subarray(0, PROGRAM_DATA_HEAD)) === 0;
}

/** Sees what kind of account an entry now is. */
function classify(entry: AccountEntry): void {
  const { account } = entry;
  const owner = account === null ? "" : nameOfBytes(account.owner);
  const tag = account === null || owner !== upgradeable ? -1 : (account.data[0] ?? -1);
  entry.isBuiltIn = owner === nativeLoader;
  entry.isConstant = entry.isBuiltIn || (finalLoaders.has(owner) && account?.executable === true);
  // A small one is read like anything else.
  entry.isProgramData = tag === PROGRAM_DATA && (account?.space ?? 0) > supplyBounds.smallBytes;
  entry.programData = tag === PROGRAM && account?.data.length === 36 ? account.data.subarray(4, 36) : null;
}
