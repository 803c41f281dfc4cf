/** Clients that are counted at once; the one that was not seen longest is forgotten beyond. */
const clientsMax = 4_096;

export interface Taken {
  readonly isAllowed: boolean;
  /** With this one. */
  readonly used: number;
  readonly resetMs: number;
}

/** So many units in each stretch of a fixed length, by key. */
export class Windows {
  readonly limit: number;
  readonly #windowMs: number;
  readonly #used = new Map<string, { window: number; used: number }>();

  constructor(options: { readonly limit: number; readonly windowMs: number }) {
    this.limit = options.limit;
    this.#windowMs = options.windowMs;
  }

  take(key: string, cost: number, nowMs: number): Taken {
    const window = Math.floor(nowMs / this.#windowMs);
    const known = this.#used.get(key);
    this.#used.delete(key);
    const used = (known?.window === window ? known.used : 0) + cost;
    this.#used.set(key, { window, used });
    forgetOldest(this.#used);
    return { isAllowed: used <= this.limit, used, resetMs: (window + 1) * this.#windowMs };
  }
}

/** So many units a second with a burst, by key. */
export class Buckets {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #level = new Map<string, { atMs: number; level: number }>();

  constructor(options: { readonly perSecond: number; readonly burst: number }) {
    this.#perSecond = options.perSecond;
    this.#burst = options.burst;
  }

  take(key: string, nowMs: number): boolean {
    const known = this.#level.get(key);
    this.#level.delete(key);
    const gained = known === undefined ? 0 : (Math.max(0, nowMs - known.atMs) * this.#perSecond) / 1_000;
    const level = Math.min(this.#burst, (known?.level ?? this.#burst) + gained);
    const isAllowed = level >= 1;
    this.#level.set(key, { atMs: nowMs, level: isAllowed ? level - 1 : level });
    forgetOldest(this.#level);
    return isAllowed;
  }
}

/** Clients that went on after so many refusals in a row are shut out for a while. */
export class Bans {
  readonly #after: number;
  readonly #banMs: number;
  readonly #strikes = new Map<string, { count: number; untilMs: number }>();

  constructor(options: { readonly after: number; readonly banMs: number }) {
    this.#after = options.after;
    this.#banMs = options.banMs;
  }

  isBanned(key: string, nowMs: number): boolean {
    const known = this.#strikes.get(key);
    return known !== undefined && nowMs < known.untilMs;
  }

  /** Notes whether a request was refused, and says whether that led to a ban. */
  note(key: string, wasRefused: boolean, nowMs: number): boolean {
    const known = this.#strikes.get(key);
    this.#strikes.delete(key);
    if (!wasRefused) return false;
    const count = (known !== undefined && known.untilMs === 0 ? known.count : 0) + 1;
    const isBan = count > this.#after;
    this.#strikes.set(key, { count, untilMs: isBan ? nowMs + this.#banMs : 0 });
    forgetOldest(this.#strikes);
    return isBan;
  }
}

function forgetOldest(map: Map<string, unknown>): void {
  if (map.size <= clientsMax) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}
