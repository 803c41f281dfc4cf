import type { QueuedDelivery } from "../../state/index.ts";
import type { EventRows } from "./event-circuits.ts";

/** Never tried ones that are held in memory; the rest is read when it comes to that. */
const freshMax = 2_000;
const retriesMax = 1_000;
/** How long after their commit rows may be handed over, by a process that was held up. */
const handOverMsMax = 10_000;
/** Fewer are left before more are read. */
const refillBelow = 500;

const freshPage = 1_000;
const retryPage = 500;

/** What was so when a read of the store began. */
interface RowsReading {
  readonly sorting: number;
  readonly doubts: number;
  readonly isAsked: boolean;
}

/** What is in memory of a queue's deliveries, in the order in which they are tried, without events set aside. */
export class QueueRows implements EventRows {
  /** In the order of the chain; those before `#first` are gone. */
  #fresh: QueuedDelivery[] = [];
  #first = 0;
  /** By the time of the next attempt, latest first. */
  #retries: QueuedDelivery[] = [];
  /** Events of which nothing is here. */
  readonly #aside = new Set<string>();
  /** Counts changes of `#aside`: what was read before one has too much or too little. */
  #sorting = 0;
  #doubts = 0;
  /** Whether owners have made something due that may be here with a later time. */
  #isAsked = false;
  /** All of them, and those that an attempt has. */
  readonly #known = new Set<string>();
  /** Recorded while the store is being read: what it says of them may be older than their outcome. */
  readonly #settled = new Set<string>();
  /** Those that came from the store: whoever has committed them may hand them over only now. */
  readonly #read = new Set<string>();
  /** Those of them that have ended, in two generations. */
  #ended = new Set<string>();
  #endedBefore = new Set<string>();
  #agedAtMs = 0;
  #reads = 0;
  #isWhole = false;
  #retriesUntil = 0;
  #knowsRetries = false;

  /** Events that are not to be read. */
  get aside(): readonly string[] {
    return [...this.#aside];
  }

  /** Whether nothing is here, or in the store, that could be tried now. */
  isEmpty(nowMs: number): boolean {
    return this.#isWhole && this.fresh === 0 && this.dueRetry(nowMs) === null && this.#retriesUntil > nowMs;
  }

  /**
   * Whether what is to be tried again has been read since the queue was taken: since then only this process adds to it,
   * but for what owners make due.
   */
  get knowsRetries(): boolean {
    return this.#knowsRetries;
  }

  /** Deliveries that are here or that an attempt has. */
  get size(): number {
    return this.#known.size;
  }

  get fresh(): number {
    return this.#fresh.length - this.#first;
  }

  get retries(): number {
    return this.#retries.length;
  }

  get wantsFresh(): boolean {
    return !this.#isWhole && this.fresh < refillBelow;
  }

  wantsRetries(nowMs: number): boolean {
    return this.#retriesUntil <= nowMs && this.retries < refillBelow;
  }

  /** How many to read so that at least a page is new: those that are here come first in the store too. */
  get freshLimit(): number {
    return this.#known.size + freshPage;
  }

  /** As `freshLimit`, for retries. */
  get retryLimit(): number {
    return this.#retries.length + retryPage;
  }

  /** Up to when retries have been read. */
  get retriesUntil(): number {
    return this.#retriesUntil;
  }

  /** The store may hold more than is here. */
  doubt(): void {
    this.#doubts += 1;
    this.#isWhole = false;
    this.#retriesUntil = 0;
  }

  /** As `doubt`; what is here may also be due earlier than it was. */
  ask(): void {
    this.#isAsked = true;
    this.doubt();
  }

  /** Nothing of the event is tried until it is brought back. */
  setAside(event: string): void {
    if (this.#aside.has(event)) return;
    this.#aside.add(event);
    this.#sorting += 1;
    const isKept = (row: QueuedDelivery): boolean => {
      if (row.event !== event) return true;
      this.#forget(row.deliveryId);
      return false;
    };
    this.#fresh = this.#fresh.slice(this.#first).filter(isKept);
    this.#first = 0;
    this.#retries = this.#retries.filter(isKept);
  }

  bringBack(event: string): void {
    if (!this.#aside.delete(event)) return;
    this.#sorting += 1;
    this.doubt();
  }

  /** Rows that have just been committed; they are read later where not all before them are here. */
  offer(rows: readonly QueuedDelivery[]): void {
    if (!this.#isWhole) return;
    for (const row of rows) {
      // It has been read, delivered and written before this hand-over.
      if (this.#ended.has(row.deliveryId) || this.#endedBefore.has(row.deliveryId)) continue;
      this.#insert(row);
    }
    this.#bound();
  }

  /** The whole queue, as it was committed when it was taken. */
  begin(rows: readonly QueuedDelivery[]): void {
    this.#isWhole = true;
    this.#retriesUntil = Number.POSITIVE_INFINITY;
    this.#knowsRetries = true;
    this.offer(rows);
  }

  /** The store is being read; call `endRead` in every case. */
  beginRead(): RowsReading {
    this.#reads += 1;
    return { sorting: this.#sorting, doubts: this.#doubts, isAsked: this.#isAsked };
  }

  endRead(): void {
    this.#reads -= 1;
    if (this.#reads === 0) this.#settled.clear();
  }

  loadFresh(rows: readonly QueuedDelivery[], limit: number, { sorting, doubts }: RowsReading): void {
    if (sorting !== this.#sorting) return;
    for (const row of rows) if (this.#insert(row)) this.#read.add(row.deliveryId);
    this.#isWhole = rows.length < limit && doubts === this.#doubts;
    this.#bound();
  }

  loadRetries(
    rows: readonly QueuedDelivery[],
    { until, limit, reading }: { readonly until: number; readonly limit: number; readonly reading: RowsReading },
  ): void {
    if (reading.sorting !== this.#sorting) return;
    if (reading.isAsked) this.#hasten(rows);
    for (const row of rows) if (!this.#known.has(row.deliveryId) && !this.#settled.has(row.deliveryId)) this.later(row);
    this.#knowsRetries = true;
    if (reading.doubts !== this.#doubts) return;
    const isAll = rows.length < limit;
    if (isAll) this.#isAsked = false;
    // More may be due until then than were read.
    this.#retriesUntil = isAll ? until : (rows.at(-1)?.dueAt ?? 0);
  }

  /** What was made due since it came here. What an attempt has had meanwhile is known better here. */
  #hasten(rows: readonly QueuedDelivery[]): void {
    const read = new Map(rows.map((row) => [row.deliveryId, row]));
    const hastened: QueuedDelivery[] = [];
    this.#retries = this.#retries.filter((here) => {
      const row = read.get(here.deliveryId);
      if (row === undefined || row.attempts !== here.attempts || (row.dueAt ?? 0) >= (here.dueAt ?? 0)) return true;
      hastened.push(row);
      return false;
    });
    for (const row of hastened) this.later(row);
  }

  /** The next one that is due to be tried again; null when none is. */
  dueRetry(nowMs: number): QueuedDelivery | null {
    const next = this.#retries.at(-1);
    return next !== undefined && (next.dueAt ?? 0) <= nowMs ? next : null;
  }

  /** When the first retry that is here is due. */
  get nextRetryAt(): number | null {
    return this.#retries.at(-1)?.dueAt ?? null;
  }

  get nextFresh(): QueuedDelivery | null {
    return this.#fresh[this.#first] ?? null;
  }

  /** An attempt takes it: the one that `dueRetry` or `nextFresh` has given. */
  take(row: QueuedDelivery): void {
    if (this.#retries.at(-1) === row) {
      this.#retries.pop();
      return;
    }
    this.#first += 1;
    if (this.#first < 64 || this.#first * 2 < this.#fresh.length) return;
    this.#fresh = this.#fresh.slice(this.#first);
    this.#first = 0;
  }

  /** It was not tried: it is the first again. */
  putBack(row: QueuedDelivery): void {
    this.#known.delete(row.deliveryId);
    if (row.attempts > 0) this.later(row);
    else this.#insert(row);
  }

  /** To be tried at its `dueAt`. One that is too far off for what is held is read again when it is time. */
  later(row: QueuedDelivery): void {
    if (this.#aside.has(row.event)) {
      this.#forget(row.deliveryId);
      return;
    }
    this.#known.add(row.deliveryId);
    const at = lowerBound(this.#retries, (other) => isBefore(other, row));
    this.#retries.splice(at, 0, row);
    if (this.#retries.length <= retriesMax) return;
    const last = this.#retries.shift();
    if (last === undefined) return;
    this.#forget(last.deliveryId);
    this.#retriesUntil = Math.min(this.#retriesUntil, (last.dueAt ?? 0) - 1);
  }

  /** It has ended. */
  settle(deliveryId: string): void {
    if (this.#read.has(deliveryId)) this.#ended.add(deliveryId);
    this.#forget(deliveryId);
    if (this.#reads > 0) this.#settled.add(deliveryId);
  }

  /** Forgets what nobody hands over any more. Monotonic milliseconds. */
  age(nowMs: number): void {
    if (nowMs - this.#agedAtMs < handOverMsMax) return;
    this.#agedAtMs = nowMs;
    this.#endedBefore = this.#ended;
    this.#ended = new Set();
  }

  #forget(deliveryId: string): void {
    this.#known.delete(deliveryId);
    this.#read.delete(deliveryId);
  }

  /** False for one that is here or has just ended. */
  #insert(row: QueuedDelivery): boolean {
    if (this.#aside.has(row.event)) return false;
    if (this.#known.has(row.deliveryId) || this.#settled.has(row.deliveryId)) return false;
    this.#known.add(row.deliveryId);
    const last = this.#fresh.at(-1);
    if (last === undefined || this.fresh === 0 || comesAfter(row, last)) {
      this.#fresh.push(row);
      return true;
    }
    const at = lowerBound(this.#fresh, (other) => comesAfter(row, other), this.#first);
    this.#fresh.splice(at, 0, row);
    return true;
  }

  #bound(): void {
    if (this.fresh <= freshMax) return;
    for (const row of this.#fresh.splice(this.#first + freshMax)) this.#forget(row.deliveryId);
    this.#isWhole = false;
  }
}

/** Whether a row's place on the chain is behind another's. */
function comesAfter(row: QueuedDelivery, other: QueuedDelivery): boolean {
  if (row.slot !== other.slot) return row.slot > other.slot;
  return row.ordinal >= other.ordinal;
}

/** Whether `other` stands before `row` among retries, of which the last is the first due. */
function isBefore(other: QueuedDelivery, row: QueuedDelivery): boolean {
  const [otherAt, rowAt] = [other.dueAt ?? 0, row.dueAt ?? 0];
  return otherAt !== rowAt ? otherAt > rowAt : !comesAfter(row, other);
}

/** The first place whose row is not before. */
function lowerBound(
  rows: readonly QueuedDelivery[],
  isBeforePlace: (other: QueuedDelivery) => boolean,
  from = 0,
): number {
  let [low, high] = [from, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const row = rows[middle];
    if (row !== undefined && isBeforePlace(row)) low = middle + 1;
    else high = middle;
  }
  return low;
}
