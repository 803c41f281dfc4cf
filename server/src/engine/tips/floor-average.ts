const hourMs = 3_600_000;
/** The average goes back this far. */
const hoursKept = 24;

/** An hour's share of the average: which hour since 1970, the mean floor in it, and for how long it was known. */
export interface FloorHour {
  readonly hour: number;
  /** Lamports. */
  mean: number;
  /** Milliseconds. */
  known: number;
}

/**
 * The mean of the floor over the last 24 hours, weighted by time. It is kept by the hour, so that it fits into a small
 * value that survives a restart; the hour that is 24 hours old counts with the part of it that lies within.
 */
export class FloorAverage {
  readonly #hours: FloorHour[];
  /** Until when the floor has been counted; null before the first time. */
  #until: number | null = null;

  constructor(hours: readonly FloorHour[] = []) {
    this.#hours = hours.map((each) => ({ ...each }));
  }

  get hours(): readonly FloorHour[] {
    return this.#hours;
  }

  /** The floor has been this one since the last call. The first call only sets the time; so does a clock that goes back. */
  hold(floor: bigint, now: number): void {
    const until = this.#until;
    this.#until = now;
    if (until === null || now <= until) return;
    let from = Math.max(until, now - hoursKept * hourMs);
    while (from < now) {
      const hour = Math.floor(from / hourMs);
      const to = Math.min(now, (hour + 1) * hourMs);
      this.#add(hour, Number(floor), to - from);
      from = to;
    }
    const oldest = Math.floor(now / hourMs) - hoursKept;
    while ((this.#hours[0]?.hour ?? oldest) < oldest) this.#hours.shift();
  }

  #add(hour: number, floor: number, duration: number): void {
    const last = this.#hours.at(-1);
    if (last !== undefined && last.hour >= hour) {
      // A clock that was set back adds to the newest hour, so that hours stay in order.
      last.mean += ((floor - last.mean) * duration) / (last.known + duration);
      last.known = Math.min(hourMs, last.known + duration);
    } else this.#hours.push({ hour, mean: floor, known: duration });
  }

  /** Lamports; null before any time has passed. */
  mean(now: number): number | null {
    const begin = now - hoursKept * hourMs;
    let sum = 0;
    let known = 0;
    for (const hour of this.#hours) {
      const inside = Math.min(1, Math.max(0, ((hour.hour + 1) * hourMs - begin) / hourMs));
      sum += hour.mean * hour.known * inside;
      known += hour.known * inside;
    }
    return known > 0 ? sum / known : null;
  }
}
