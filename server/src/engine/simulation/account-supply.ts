import { type Clock, Debounce, type Timers, within } from "@sluice/lib";
import { addressBytes } from "@sluice/wire/base58";
import { programs, sysvars } from "@sluice/wire/programs";
import { type AccountCache, type AccountEntry, nameOf, nameOfBytes, type ReadAt } from "./account-cache.ts";
import type { AccountSource, RawAccount } from "./simulation.ts";

export const supplyBounds = {
  /** Addresses of one read; a node takes no more. */
  addresses: 100,
  /** Bytes that are read of an account that is not known to be larger. */
  smallBytes: 64 * 1_024,
  /** Data of one read of accounts that are known to be larger. A single account holds 10 MiB at most. */
  readBytes: 8 * 1_024 * 1_024,
  /** Reads under way at once. */
  reads: 8,
  /**
   * Reads begin at most once in so many milliseconds, so that the accounts of several bundles are one read: at 500
   * bundles a second nearly every bundle has a payer that must be read again in its slot.
   */
  readEveryMs: 5,
  /** A read that takes longer has failed. */
  readMs: 5_000,
  /** An answer of a slot further behind the newest is rejected: its node has lost the chain. */
  behindSlots: 32n,
  /** So is an answer further behind what another node had answered before: healthy nodes differ by less. */
  behindOthersSlots: 4n,
} as const;

/** The head of an upgradeable program's code: tag, the slot of its deployment, its authority. */
const programDataHead = 45;
const programTag = 2;
const programDataTag = 3;

const upgradeable = nameOf(programs.bpfLoaderUpgradeable);
const nativeLoader = nameOf(programs.nativeLoader);
/** Loaders whose programs can never be changed again. */
const finalLoaders: ReadonlySet<string> = new Set([nameOf(programs.bpfLoader), nameOf(programs.bpfLoaderDeprecated)]);

/** How much of an account is read. */
type Lane = "small" | "head" | "whole";

/**
 * Keeps the cache in step with the chain. Entries that are requested at the same moment are read together, an entry is
 * read once for all that request it, and the code of a program is read again only after its head shows a new
 * deployment.
 */
export class AccountSupply {
  readonly #cache: AccountCache;
  readonly #source: AccountSource;
  readonly #newestSlot: () => bigint;
  readonly #timers: Pick<Timers, "after">;
  readonly #lanes: Readonly<Record<Lane, AccountEntry[]>> = { small: [], head: [], whole: [] };
  readonly #clock: AccountEntry;
  readonly #settle = new Map<AccountEntry, (isRead: boolean) => void>();
  readonly #flushing: Debounce;
  #reads = 0;
  /** The newest slot that any node has answered from, up to the newest slot that was reported. */
  #readable = -1n;

  constructor(dependencies: {
    readonly cache: AccountCache;
    readonly source: AccountSource;
    readonly newestSlot: () => bigint;
    readonly clock: Pick<Clock, "monotonic" | "after">;
  }) {
    this.#flushing = new Debounce(
      { everyMs: supplyBounds.readEveryMs },
      { clock: dependencies.clock, work: () => this.#flush() },
    );
    this.#cache = dependencies.cache;
    this.#source = dependencies.source;
    this.#newestSlot = dependencies.newestSlot;
    this.#timers = dependencies.clock;
    this.#clock = this.#cache.of(addressBytes(sysvars.clock));
    // Each transaction has its own instructions sysvar.
    const instructions = this.#cache.of(addressBytes(sysvars.instructions));
    instructions.isConstant = true;
    instructions.isBuiltIn = true;
    instructions.slot = 0n;
    instructions.readSlot = 0n;
    instructions.pins += 1;
  }

  /** Whether an entry is known to be right for a slot or a later one. */
  isFresh(entry: AccountEntry, slot: bigint): boolean {
    return entry.slot >= slot || (entry.isConstant && entry.slot >= 0n);
  }

  /**
   * Reads entries; false when one could not be read. An entry too large for the first read has its `space` afterwards.
   */
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
      const dataBytes = { small: supplyBounds.smallBytes, head: programDataHead, whole: null }[lane];
      const newest = this.#newestSlot();
      const readable = this.#readable;
      const reading = this.#source.accounts(addresses, { minimumSlot: newest, dataBytes });
      const found = await within(this.#timers, supplyBounds.readMs, reading);
      if (!found.ok) throw new Error(`no accounts within ${supplyBounds.readMs} ms`);
      const { slot, accounts } = found.value;
      const at = this.#readAt(slot, newest);
      const isAccepted =
        at.slot - at.readSlot <= supplyBounds.behindSlots && readable - at.readSlot <= supplyBounds.behindOthersSlots;
      isRead = accounts.length === group.length && isAccepted;
      if (isRead) {
        this.#readable = largest(this.#readable, least(at.readSlot, this.#newestSlot()));
        group.forEach((entry, index) => {
          this.#take(entry, accounts[index] ?? null, at);
        });
      }
    } catch {
      // The bundles that wait are answered without accounts; the source has logged the error.
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
   * The newest slot is still being built: a read returns a slot before it, further back where slots were skipped. So an
   * answer is right for the slot that was the newest when it was requested. The slot of a node that claims to be far
   * ahead of the reported slots is limited, or its accounts would never be replaced.
   */
  #readAt(found: bigint, newest: bigint): ReadAt {
    const readSlot = least(found, this.#newestSlot() + supplyBounds.behindOthersSlots);
    return { readSlot, slot: largest(newest, readSlot) };
  }

  /** An answer of a node that is behind the previous one's does not replace it. */
  #take(entry: AccountEntry, account: RawAccount | null, at: ReadAt): void {
    if (at.readSlot < entry.readSlot) {
      if (at.slot > entry.slot) entry.slot = at.slot;
      return;
    }
    entry.space = account?.space ?? 0;
    if (account !== null && account.data.length < account.space) {
      // An unchanged head stands for the whole; any other cut account is read whole when it is requested again.
      if (isSameHead(entry, account)) this.#cache.record(entry, entry.account, at);
      else entry.isProgramData = false;
      return;
    }
    this.#cache.record(entry, entry === this.#clock ? inNextSlot(account) : account, at);
    classify(entry);
  }
}

/**
 * The clock of the slot after: no bundle lands before that, and addresses that were added to a lookup table in the
 * newest slot can be used then.
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

function laneOf(entry: AccountEntry): Lane {
  if (entry.isProgramData) return "head";
  return entry.space > supplyBounds.smallBytes ? "whole" : "small";
}

/** Takes as many entries from the front as one read may have. */
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
  return Buffer.compare(account.data.subarray(0, programDataHead), read.data.subarray(0, programDataHead)) === 0;
}

/** Derives from an entry's account how it is read and sent. */
function classify(entry: AccountEntry): void {
  const { account } = entry;
  const owner = account === null ? "" : nameOfBytes(account.owner);
  const tag = account === null || owner !== upgradeable ? -1 : (account.data[0] ?? -1);
  entry.isBuiltIn = owner === nativeLoader;
  entry.isConstant = entry.isBuiltIn || (finalLoaders.has(owner) && account?.executable === true);
  // A small one is read as any other account.
  entry.isProgramData = tag === programDataTag && (account?.space ?? 0) > supplyBounds.smallBytes;
  entry.programData = tag === programTag && account?.data.length === 36 ? account.data.subarray(4, 36) : null;
}
