import type { CounterHandle, Family, HistogramHandle } from "./metric-families.ts";

/** The families that every served request changes. */
interface RequestFamilies {
  readonly requests: Family<CounterHandle>;
  readonly requestDuration: Family<HistogramHandle>;
  readonly requestBytes: Family<CounterHandle>;
  readonly responseBytes: Family<CounterHandle>;
  readonly credits: Family<CounterHandle>;
}

/** All that one served request changes, found by one walk through nested maps. */
export interface RequestHandle {
  readonly requests: CounterHandle;
  readonly duration: HistogramHandle;
  readonly bytesIn: CounterHandle;
  readonly bytesOut: CounterHandle;
  readonly credits: CounterHandle;
}

type ByStatus = Map<number, RequestHandle>;
type ByMethod = Map<string, ByStatus>;
type ByNetwork = Map<string, ByMethod>;

/** Past this many tuples a handle is found through the families, which fold what is too much; slower, and bounded. */
const keptMax = 4_000;
const methodCharactersMax = 128;

/**
 * Handles by door, network, method and status. Nested maps find one without making a string: a served request takes
 * 0.05 µs in all, against 1.0 µs for one counter and one histogram through prom-client's own labels (2,000,000 and
 * 200,000 calls in a loop, Bun 1.4, one of two shared cores).
 */
export class RequestHandles {
  readonly #families: RequestFamilies;
  readonly #methods: ReadonlySet<string> | null;
  readonly #otherMethod: string;
  readonly #byDoor = new Map<string, ByNetwork>();
  #kept = 0;

  constructor(families: RequestFamilies, methods: ReadonlySet<string> | null, otherMethod: string) {
    this.#families = families;
    this.#methods = methods;
    this.#otherMethod = otherMethod;
  }

  find(door: string, network: string, method: string, status: number): RequestHandle {
    return this.#byDoor.get(door)?.get(network)?.get(method)?.get(status) ?? this.#make(door, network, method, status);
  }

  #make(door: string, network: string, method: string, status: number): RequestHandle {
    const known = this.#methods === null || this.#methods.has(method);
    if (!known && method !== this.#otherMethod) return this.find(door, network, this.#otherMethod, status);
    const families = this.#families;
    const handle = {
      requests: families.requests.with(door, network, method, String(status)),
      duration: families.requestDuration.with(door, network, method),
      bytesIn: families.requestBytes.with(door),
      bytesOut: families.responseBytes.with(door),
      credits: families.credits.with(door, network),
    };
    if (this.#kept < keptMax && method.length <= methodCharactersMax) this.#keep(door, network, method, status, handle);
    return handle;
  }

  #keep(door: string, network: string, method: string, status: number, handle: RequestHandle): void {
    const byNetwork: ByNetwork = this.#byDoor.get(door) ?? new Map();
    const byMethod: ByMethod = byNetwork.get(network) ?? new Map();
    const byStatus: ByStatus = byMethod.get(method) ?? new Map();
    this.#byDoor.set(door, byNetwork);
    byNetwork.set(network, byMethod);
    byMethod.set(method, byStatus);
    byStatus.set(status, handle);
    this.#kept++;
  }
}
