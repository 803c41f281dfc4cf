import type { Random } from "@sluice/lib";
import type { Advance, AdvanceRecords } from "../advances.ts";

/** A record that is being written. */
interface Writing {
  readonly holder: string;
  readonly advance: Advance;
  readonly done: () => void;
}

/**
 * The files in which processes record their advances: what is written is on disk some time later, and a kill falls
 * before it or between it and the answer.
 */
export class SimulatedAdvances {
  readonly #random: Random;
  readonly #processes: number;
  readonly #writing: Writing[] = [];
  readonly #onDisk = new Map<string, Advance[]>();
  /** All that was ever on disk, by account and month. */
  readonly recorded = new Map<string, number>();
  /** What was charged by the processes that gave it. */
  charged = 0;

  constructor(processes: number, random: Random) {
    this.#processes = processes;
    this.#random = random;
  }

  facet(holder: string): AdvanceRecords {
    return {
      processes: this.#processes,
      record: (advance) =>
        new Promise((resolve) => {
          this.#writing.push({ holder, advance, done: resolve });
        }),
      booked: (advance, spent) => {
        this.charged += spent;
        const left = this.left(holder).filter(({ number }) => number !== advance.number);
        // A file is emptied when all of it is charged; until then it holds what was charged before.
        if (left.length === 0 || this.#random.next() < 0.5) this.#onDisk.set(holder, left);
      },
    };
  }

  /** Finishes one write. */
  step(): void {
    const [writing] = this.#writing.splice(Math.floor(this.#random.next() * this.#writing.length), 1);
    if (writing === undefined) return;
    this.#put(writing);
    writing.done();
  }

  /** The process is dead: what it was writing is on disk or not, and it learns of neither. */
  orphan(holder: string): void {
    for (const writing of this.#writing.filter((each) => each.holder === holder)) {
      this.#writing.splice(this.#writing.indexOf(writing), 1);
      if (this.#random.next() < 0.5) this.#put(writing);
    }
  }

  /** What the process has left. */
  left(holder: string): readonly Advance[] {
    return this.#onDisk.get(holder) ?? [];
  }

  #put({ holder, advance }: Writing): void {
    this.#onDisk.set(holder, [...this.left(holder), advance]);
    const name = `${advance.accountId} ${advance.month}`;
    this.recorded.set(name, (this.recorded.get(name) ?? 0) + advance.credits);
  }
}
