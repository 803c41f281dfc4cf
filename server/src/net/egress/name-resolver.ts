import { type Clock, within } from "@sluice/lib";

/** Finds the addresses of names. */
export interface NameResolver {
  /** All addresses of a name, those of IPv4 first; none where it has none or cannot be looked up. Never rejects. */
  addressesOf(hostname: string): Promise<readonly string[]>;
}

/** Asks for the addresses of a name; rejects where there are none. */
export type LookUp = (hostname: string) => Promise<readonly { readonly address: string; readonly family: 4 | 6 }[]>;

export interface NameResolverDependencies {
  readonly clock: Clock;
  readonly lookUp?: LookUp;
}

/** More are not tried. */
const addressesMax = 16;
/** A name that its servers do not answer for within this time is not waited for. */
const answerMsMax = 3_000;
/** How long such a name is not looked up again. */
const silentMs = 30_000;
/** Names that are looked up at a time. */
const pendingMax = 256;
/** Those of them at most that were not answered for the last time. */
const silentPendingMax = 64;
/** How long the last addresses of a name serve where it cannot be looked up; they are checked like all others. */
const knownMsMax = 600_000;
/** Names of which something is remembered. */
const namesMax = 10_000;

/**
 * The servers that the system names, and its table of hosts. Not the C library's own look-up: that holds one of a few
 * threads of the process until it ends, so two names that nobody answers for would stop all others for seconds (Bun
 * 1.4.4 on 2 cores: 40 s after 200 of them; this way below 1 ms).
 */
const systemLookUp: LookUp = (hostname) => Bun.dns.lookup(hostname, { backend: "c-ares" });

/** The system's resolver, asked once at a time for a name, and so that names without an answer hold up no others. */
export function systemResolver({ clock, lookUp = systemLookUp }: NameResolverDependencies): NameResolver {
  const resolver = new BoundedResolver(clock, lookUp);
  return { addressesOf: (hostname) => resolver.addressesOf(hostname) };
}

interface Known {
  readonly addresses: readonly string[];
  readonly atMs: number;
}

class BoundedResolver implements NameResolver {
  readonly #clock: Clock;
  readonly #lookUp: LookUp;
  readonly #pending = new Map<string, Promise<readonly string[]>>();
  #silentPending = 0;
  readonly #known = new Map<string, Known>();
  /** Names that were not answered for the last time, with the time until which they are not looked up. */
  readonly #silent = new Map<string, number>();

  constructor(clock: Clock, lookUp: LookUp) {
    this.#clock = clock;
    this.#lookUp = lookUp;
  }

  addressesOf(hostname: string): Promise<readonly string[]> {
    const pending = this.#pending.get(hostname);
    if (pending !== undefined) return pending;
    const silentUntilMs = this.#silent.get(hostname);
    const isResting = silentUntilMs !== undefined && silentUntilMs > this.#clock.monotonic();
    const isFull = silentUntilMs !== undefined && this.#silentPending >= silentPendingMax;
    if (isResting || isFull || this.#pending.size >= pendingMax) return Promise.resolve(this.#lastOf(hostname));
    const begun = this.#ask(hostname, silentUntilMs !== undefined);
    this.#pending.set(hostname, begun);
    return begun;
  }

  async #ask(hostname: string, wasSilent: boolean): Promise<readonly string[]> {
    if (wasSilent) this.#silentPending += 1;
    try {
      const found = await within(this.#clock, answerMsMax, this.#found(hostname));
      if (!found.ok) return this.#missed(hostname);
      this.#silent.delete(hostname);
      if (found.value === null) return this.#lastOf(hostname);
      if (found.value.length === 0) this.#known.delete(hostname);
      else remember(this.#known, hostname, { addresses: found.value, atMs: this.#clock.monotonic() });
      return found.value;
    } finally {
      this.#pending.delete(hostname);
      if (wasSilent) this.#silentPending -= 1;
    }
  }

  /** Null where the servers cannot say. */
  async #found(hostname: string): Promise<readonly string[] | null> {
    try {
      const found = await this.#lookUp(hostname);
      const sorted = found.toSorted((one, other) => one.family - other.family);
      return sorted.slice(0, addressesMax).map(({ address }) => address);
    } catch (error) {
      return saysThereIsNone(error) ? [] : null;
    }
  }

  #missed(hostname: string): readonly string[] {
    remember(this.#silent, hostname, this.#clock.monotonic() + silentMs);
    return this.#lastOf(hostname);
  }

  #lastOf(hostname: string): readonly string[] {
    const known = this.#known.get(hostname);
    return known !== undefined && this.#clock.monotonic() - known.atMs < knownMsMax ? known.addresses : [];
  }
}

const saysThereIsNone = (error: unknown): boolean =>
  error instanceof Error && "code" in error && /E(?:NOTFOUND|NODATA|NONAME)$/.test(String(error.code));

/** As the newest; the oldest goes where there are too many. */
function remember<T>(names: Map<string, T>, hostname: string, value: T): void {
  names.delete(hostname);
  names.set(hostname, value);
  if (names.size <= namesMax) return;
  for (const oldest of names.keys()) {
    names.delete(oldest);
    return;
  }
}
