import { createHash, timingSafeEqual } from "node:crypto";
import { parseApiKey } from "@sluice/contract/api-key";
import { type Clock, type Log, type Timer, within } from "@sluice/lib";
import type { AccountRecord, KeyRecord } from "../state/index.ts";
import type { KeyCacheOutcome, KeysEvents } from "./events.ts";
import { type Grant, grantOf, type KeyRefusal } from "./grant.ts";
import { KeyCache, type KeyEntry, LastUsed } from "./key-cache.ts";
import { brokenRestriction, type RestrictedRequest, type RestrictionCode } from "./restrictions.ts";

export interface KeysOptions {
  /** "refuse" in production: a development key is then as good as none. */
  readonly developmentKeys: "accept" | "refuse";
  /** How long a known key is used without a look-up (spec: node platform, API key cached data). */
  readonly lifetimeMs?: number;
  /** The same for keys that are not active or not known. */
  readonly negativeLifetimeMs?: number;
  /** How much longer than its lifetime a known key serves while the store fails. */
  readonly graceMs?: number;
  /** While the store fails, a key is asked for again after this long. */
  readonly retryMs?: number;
  readonly lookupTimeoutMs?: number;
  readonly knownMax?: number;
  readonly unknownMax?: number;
  /** Look-ups under way, and those of keys that were not seen before among them. */
  readonly lookupsMax?: number;
  readonly unknownLookupsMax?: number;
  /** How often last-used times are written; null leaves it to `flush`. */
  readonly flushIntervalMs?: number | null;
}

export interface KeysDependencies {
  readonly clock: Clock;
  readonly findByHash: (
    hash: string,
    asker: { readonly isKnown: boolean },
  ) => Promise<{ key: KeyRecord; account: AccountRecord } | null>;
  readonly touch: (lastUsed: Map<string, number>) => Promise<void>;
  readonly log: Pick<Log, "warn">;
  readonly events?: KeysEvents;
}

export interface Keys extends AsyncDisposable {
  /**
   * The Grant of the presented key, or the code that refuses it. INVALID_API_KEY for a missing, malformed or unknown
   * key, KEY_INACTIVE for one that is disabled, revoked or expired, or whose account is disabled. Where nothing fresh
   * enough is known, STORE_UNAVAILABLE when the store does not answer and OVERLOADED when too many look-ups are under
   * way: never a grant by default. A promise only when a look-up is needed.
   */
  authenticate(presented: string | null): Grant | KeyRefusal | Promise<Grant | KeyRefusal>;
  /**
   * The grant of a key that was used a while ago at most; null for any other. It says whose a request is that is
   * refused before its key is looked at, and asks no store, so that such requests stay cheap.
   */
  remembered(presented: string): Grant | null;
  /** The code of the first restriction of the key that the request breaks, or null. */
  checkRestrictions(grant: Grant, request: RestrictedRequest): RestrictionCode | null;
  /** Forgets a key at once, also one that is being looked up at this moment; for changes and revocations. */
  invalidate(hash: string): void;
  /** The same for all keys of an account; for changes of its tiers. */
  invalidateAccount(accountId: string): void;
  /** Forgets everything; for when notices from other replicas may have been missed. */
  invalidateAll(): void;
  /** Writes last-used times now. */
  flush(): Promise<void>;
}

interface Flight {
  readonly hash: string;
  /** Whether the key was seen before. */
  readonly isKnown: boolean;
  promise: Promise<Grant | KeyRefusal>;
  /** Set when what is being read may have changed since the read began. */
  isOutdated: boolean;
}

const defaults = {
  lifetimeMs: 5 * 60_000,
  negativeLifetimeMs: 30_000,
  graceMs: 15 * 60_000,
  retryMs: 1_000,
  lookupTimeoutMs: 2_000,
  knownMax: 50_000,
  unknownMax: 10_000,
  lookupsMax: 256,
  unknownLookupsMax: 192,
  flushIntervalMs: 30_000,
} as const;

/**
 * A key that changes while it is read is read again, at most so often; after that the request is refused as OVERLOADED.
 */
const readsMax = 5;

const invalidKey: KeyRefusal = { ok: false, code: "INVALID_API_KEY" };
const inactiveKey: KeyRefusal = { ok: false, code: "KEY_INACTIVE" };
const overloaded: KeyRefusal = { ok: false, code: "OVERLOADED" };
const unavailable: KeyRefusal = { ok: false, code: "STORE_UNAVAILABLE" };

class KeyRing implements Keys {
  readonly #options: Required<Omit<KeysOptions, "flushIntervalMs">>;
  readonly #dependencies: KeysDependencies;
  readonly #clock: Clock;
  readonly #cache: KeyCache;
  readonly #flights = new Map<string, Flight>();
  /** Of keys that were not seen before. */
  #unknownFlights = 0;
  /** Whether the last look-up that ended got no answer. */
  #isFailing = false;
  readonly #lastUsed: LastUsed;
  readonly #timer: Timer | null;

  constructor(options: KeysOptions, dependencies: KeysDependencies) {
    this.#options = { ...defaults, ...options };
    this.#dependencies = dependencies;
    this.#clock = dependencies.clock;
    this.#cache = new KeyCache({ knownMax: this.#options.knownMax, unknownMax: this.#options.unknownMax });
    this.#lastUsed = new LastUsed(dependencies.touch);
    const interval = options.flushIntervalMs === undefined ? defaults.flushIntervalMs : options.flushIntervalMs;
    this.#timer = interval === null ? null : this.#clock.every(interval, () => this.#flushQuietly());
  }

  authenticate(presented: string | null): Grant | KeyRefusal | Promise<Grant | KeyRefusal> {
    if (presented === null) return invalidKey;
    const entry = this.#cache.known(presented);
    if (entry !== undefined && entry.freshUntilMs > this.#clock.monotonic()) {
      this.#count("hit");
      return this.#evaluate(entry);
    }
    return this.#lookUp(presented, entry ?? null);
  }

  remembered(presented: string): Grant | null {
    return this.#cache.known(presented)?.grant ?? null;
  }

  checkRestrictions(grant: Grant, request: RestrictedRequest): RestrictionCode | null {
    return brokenRestriction(grant.restrictions, request);
  }

  invalidate(hash: string): void {
    this.#cache.forgetHash(hash);
    for (const flight of this.#flights.values()) {
      if (flight.hash === hash) flight.isOutdated = true;
    }
  }

  invalidateAccount(accountId: string): void {
    this.#cache.forgetAccount(accountId);
    for (const flight of this.#flights.values()) flight.isOutdated = true;
  }

  invalidateAll(): void {
    this.#cache.clear();
    for (const flight of this.#flights.values()) flight.isOutdated = true;
  }

  flush(): Promise<void> {
    return this.#lastUsed.flush();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#timer?.cancel();
    await this.#lastUsed.drain().catch((error: unknown) => this.#warn(error, "last-used times were not written"));
  }

  #evaluate(entry: KeyEntry): Grant | KeyRefusal {
    const { grant } = entry;
    entry.isUsed = true;
    if (grant === null) return inactiveKey;
    const nowMs = this.#clock.now();
    if (grant.expiresAt !== null && grant.expiresAt <= nowMs) return inactiveKey;
    this.#lastUsed.note(entry, nowMs);
    return grant;
  }

  /** The way of a key that is not in memory, or no longer fresh: one look-up for however many requests carry it. */
  #lookUp(presented: string, stale: KeyEntry | null): Grant | KeyRefusal | Promise<Grant | KeyRefusal> {
    const parsed = parseApiKey(presented);
    if (parsed === null) {
      this.#count("malformed");
      return invalidKey;
    }
    if (parsed.environment === "dev" && this.#options.developmentKeys === "refuse") return invalidKey;
    if (this.#cache.isUnknown(presented, this.#clock.monotonic())) {
      this.#count("negative");
      return invalidKey;
    }
    this.#count("miss");
    const running = this.#flights.get(presented);
    if (running !== undefined) return running.promise;
    const isKnown = this.#cache.wasKnown(presented);
    if (this.#isFull(isKnown)) return this.#withoutStore(stale, this.#isFailing ? unavailable : overloaded);
    const hash = createHash("sha256").update(presented).digest("hex");
    const flight: Flight = { hash, isKnown, promise: Promise.resolve(overloaded), isOutdated: false };
    this.#flights.set(presented, flight);
    if (!isKnown) this.#unknownFlights += 1;
    flight.promise = this.#fly(presented, flight, stale).finally(() => {
      this.#flights.delete(presented);
      if (!isKnown) this.#unknownFlights -= 1;
    });
    return flight.promise;
  }

  /** Made-up keys leave room for those that are in use. */
  #isFull(isKnown: boolean): boolean {
    const { lookupsMax, unknownLookupsMax } = this.#options;
    return this.#flights.size >= lookupsMax || (!isKnown && this.#unknownFlights >= unknownLookupsMax);
  }

  async #fly(presented: string, flight: Flight, stale: KeyEntry | null): Promise<Grant | KeyRefusal> {
    for (let read = 1; ; read += 1) {
      flight.isOutdated = false;
      let found: { key: KeyRecord; account: AccountRecord } | null;
      try {
        found = await this.#ask(flight);
        this.#isFailing = false;
      } catch (error) {
        if (!this.#isFailing) this.#warn(error, "keys cannot be looked up");
        this.#isFailing = true;
        // An entry that was invalidated meanwhile is no longer there to fall back to.
        const left = stale !== null && this.#cache.known(presented) === stale ? stale : null;
        return this.#withoutStore(left, unavailable);
      }
      if (!flight.isOutdated) return this.#remember(presented, flight, found);
      // A caller that came after the last change may be waiting too, and must not be granted what was before it.
      if (read >= readsMax) return overloaded;
    }
  }

  #remember(
    presented: string,
    flight: Flight,
    found: { key: KeyRecord; account: AccountRecord } | null,
  ): Grant | KeyRefusal {
    const nowMs = this.#clock.monotonic();
    if (found === null || !isSameHash(found.key.hash, flight.hash)) {
      this.#cache.putUnknown(presented, flight.hash, nowMs + this.#options.negativeLifetimeMs);
      return invalidKey;
    }
    const isActive = found.key.status === "active" && found.account.disabledAt === null;
    const entry: KeyEntry = {
      presented,
      hash: flight.hash,
      keyId: found.key.id,
      accountId: found.account.id,
      grant: isActive ? grantOf(found.key, found.account) : null,
      checkedAtMs: nowMs,
      freshUntilMs: nowMs + (isActive ? this.#options.lifetimeMs : this.#options.negativeLifetimeMs),
      isUsed: true,
      isTouched: false,
      usedAtMs: 0,
    };
    this.#cache.putKnown(entry);
    return this.#evaluate(entry);
  }

  /** What is answered when the store cannot be asked: what was known not too long ago, or the refusal. */
  #withoutStore(stale: KeyEntry | null, refusal: KeyRefusal): Grant | KeyRefusal {
    if (stale === null) return refusal;
    const nowMs = this.#clock.monotonic();
    const servedUntilMs = stale.checkedAtMs + this.#options.lifetimeMs + this.#options.graceMs;
    if (nowMs >= servedUntilMs) return refusal;
    stale.freshUntilMs = Math.min(nowMs + this.#options.retryMs, servedUntilMs);
    return this.#evaluate(stale);
  }

  /** A look-up with a deadline; a result that comes later is dropped. */
  async #ask({ hash, isKnown }: Flight): Promise<{ key: KeyRecord; account: AccountRecord } | null> {
    const looking = this.#dependencies.findByHash(hash, { isKnown });
    const found = await within(this.#clock, this.#options.lookupTimeoutMs, looking);
    if (!found.ok) throw new Error("The look-up took too long");
    return found.value;
  }

  #flushQuietly(): void {
    this.#lastUsed.flush().catch((error: unknown) => this.#warn(error, "last-used times were not written"));
  }

  #count(outcome: KeyCacheOutcome): void {
    this.#dependencies.events?.keyCacheOutcome(outcome);
  }

  #warn(error: unknown, message: string): void {
    this.#dependencies.log.warn({ error }, message);
  }
}

/** Hex digests compared in time that does not depend on where they differ. */
function isSameHash(left: string, right: string): boolean {
  const leftBytes = Buffer.from(left, "hex");
  const rightBytes = Buffer.from(right, "hex");
  return leftBytes.length === rightBytes.length && timingSafeEqual(leftBytes, rightBytes);
}

/** Keys in front of a store: see `Keys`. Disposing writes the last-used times that still wait. */
export function createKeys(options: KeysOptions, dependencies: KeysDependencies): Keys {
  return new KeyRing(options, dependencies);
}
