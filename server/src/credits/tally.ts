import { invariant } from "@sluice/lib";

/** Cells of one entry: the lease account's number, 0 for none, and what was spent on it. */
const cellsPerEntry = 2;

/** How much was spent on one lease account. Adding to it is one store to memory. */
export class TallyEntry {
  readonly number: number;
  readonly slot: number;
  readonly #cells: Float64Array;
  readonly #cell: number;

  constructor(number: number, slot: number, cells: Float64Array) {
    this.number = number;
    this.slot = slot;
    this.#cells = cells;
    this.#cell = slot * cellsPerEntry + 1;
    // The amount first: an entry that has its number is whole, wherever a kill falls.
    cells[this.#cell] = 0;
    cells[this.#cell - 1] = number;
  }

  /** Whole credits; below zero for what comes back. */
  spend(cost: number): void {
    const spent = this.spent + cost;
    invariant(this.#cells[this.#cell - 1] === this.number, "credits are spent on a lease account that is open");
    invariant(spent >= 0, "no more credits come back than were spent");
    this.#cells[this.#cell] = spent;
  }

  get spent(): number {
    return this.#cells[this.#cell] ?? 0;
  }

  /** The lease account is closed: whatever of it is found afterwards was never spent. */
  strike(): void {
    this.#cells[this.#cell - 1] = 0;
  }
}

/**
 * What this process has spent of its leases, lease account by lease account, in memory that may be a file's: then it is
 * there after the process was killed. Entries are bounded by the memory's size.
 */
export class Tally {
  /** Under this name the lease accounts stand in the store. */
  readonly holder: string;
  readonly #cells: Float64Array;
  readonly #freeSlots: number[] = [];
  #nextSlot = 0;
  #nextNumber = 1;

  constructor(holder: string, cells: Float64Array) {
    this.holder = holder;
    this.#cells = cells;
  }

  /** An entry for a lease account with a number that was never used before; null when there is no room. */
  open(): TallyEntry | null {
    const slot = this.#freeSlots.pop() ?? this.#nextSlot;
    if ((slot + 1) * cellsPerEntry > this.#cells.length) return null;
    if (slot === this.#nextSlot) this.#nextSlot += 1;
    const entry = new TallyEntry(this.#nextNumber, slot, this.#cells);
    this.#nextNumber += 1;
    return entry;
  }

  free(entry: TallyEntry): void {
    entry.strike();
    this.#freeSlots.push(entry.slot);
  }
}

/** A tally of numbers only, for a process that can keep no file: a kill loses it. */
export function tallyInMemory(holder: string, entries: number): Tally {
  return new Tally(holder, new Float64Array(entries * cellsPerEntry));
}

/** What a dead process has left of its tally. */
export class LeftTally {
  readonly #cells: Float64Array;
  readonly #slots = new Map<number, number>();

  private constructor(cells: Float64Array) {
    this.#cells = cells;
  }

  /** Null when it holds what no process of this program writes. */
  static read(cells: Float64Array): LeftTally | null {
    const left = new LeftTally(cells);
    for (let cell = 0; cell < cells.length; cell += cellsPerEntry) {
      const [number, spent] = [cells[cell] ?? 0, cells[cell + 1] ?? 0];
      if (number === 0) continue;
      if (!isCount(number) || !isCount(spent) || left.#slots.has(number)) return null;
      left.#slots.set(number, cell);
    }
    return left;
  }

  /** What was spent on a lease account; a lease account without an entry was opened for nothing, or closed before. */
  spent(number: number): number {
    const cell = this.#slots.get(number);
    return cell === undefined ? 0 : (this.#cells[cell + 1] ?? 0);
  }

  /**
   * The lease account has been settled: what is leased on it from now on, by a call that came late, was never spent.
   */
  strike(number: number): void {
    const cell = this.#slots.get(number);
    if (cell === undefined) return;
    this.#cells[cell] = 0;
    this.#slots.delete(number);
  }
}

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;
