import { BoundedMap } from "@sluice/lib";

/** How many fetches run at a time, and wait for a place. */
export const fetchLimits = {
  /** All that run. Hosts that have not answered yet share half of them: the rest is for those that do answer. */
  places: 32,
  placesOfUnproven: 16,
  /** Of one caller, whatever he asks for. */
  placesOfCaller: 16,
  /** Of one host: a gateway of the operator's, one that answers, an unknown one, one that was out of reach often. */
  placesOfHost: { gateway: 16, answering: 12, unknown: 4, unreachable: 1 },
  /** Of one caller at one host: what he asks a gateway for may not be there, and let it hang. */
  placesOfCallerAtHost: 8,
  /** Fetches in succession that found a host out of reach. */
  unreachableAfter: 4,
  waitingOfCaller: 1_000,
  waiting: 4_000,
  /** Hosts of which the outcomes are remembered. */
  hosts: 4_096,
} as const;

type HostState = keyof typeof fetchLimits.placesOfHost;

/** A host that a fetch goes to; of a gateway the operator says that it answers. */
export interface FetchHost {
  readonly kind: "public" | "gateway";
  readonly host: string;
}

/** A fetch that waits for its place, or has it. */
export interface FetchTurn {
  /** Where it leads. */
  readonly at: FetchHost;
  /** Fulfilled when the fetch may begin. */
  readonly begun: Promise<void>;
}

interface Turn extends FetchTurn {
  readonly begin: () => void;
  /** Who asked for it and waits; empty once it has begun. */
  readonly callers: Set<string>;
  /** For whom it runs, and whether its host was unproven then; null while it waits. */
  running: { readonly caller: string; readonly isUnproven: boolean } | null;
}

interface Caller {
  readonly waiting: Set<Turn>;
  /** Fetches that run for him, by host. */
  readonly running: Map<string, number>;
}

/**
 * Who fetches next. Callers take turns, so that one who asks for a thousand documents does not hold up one who asks for
 * one, and a host has a part of the places alone, a small one until it has answered: hosts that hang keep from their
 * places nobody but each other.
 */
export class FetchPlaces {
  /** Those who wait come in the order of this map; who is served goes to its end. */
  readonly #callers = new Map<string, Caller>();
  readonly #turns = new WeakMap<FetchTurn, Turn>();
  /** Fetches by host. */
  readonly #running = new Map<string, number>();
  /** How many fetches in succession found a host out of reach, and whether it has answered before them. */
  readonly #outcomes = new BoundedMap<string, { readonly hasAnswered: boolean; readonly failures: number }>({
    max: fetchLimits.hosts,
  });
  #count = 0;
  #unproven = 0;
  #waiting = 0;

  /** A turn for a caller's fetch; null when so many wait that no more may. */
  take(caller: string, at: FetchHost): FetchTurn | null {
    if (this.#waiting >= fetchLimits.waiting) return null;
    if ((this.#callers.get(caller)?.waiting.size ?? 0) >= fetchLimits.waitingOfCaller) return null;
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const turn: Turn = { at, begun, begin, callers: new Set(), running: null };
    this.#turns.set(turn, turn);
    this.#waiting += 1;
    this.#queue(turn, caller);
    return turn;
  }

  /** Another caller waits for the same fetch: it begins when the first of them has his turn. */
  join(turn: FetchTurn, caller: string): void {
    const own = this.#turns.get(turn);
    if (own === undefined || own.running !== null || own.callers.has(caller)) return;
    this.#queue(own, caller);
  }

  /** The fetch has ended; `hasAnswered` says whether its host gave an answer of any kind. */
  end(turn: FetchTurn, hasAnswered: boolean): void {
    const own = this.#turns.get(turn);
    if (own?.running == null) return;
    this.#turns.delete(turn);
    const { host } = own.at;
    const before = this.#outcomes.get(host) ?? { hasAnswered: false, failures: 0 };
    const failures = hasAnswered ? 0 : before.failures + 1;
    this.#outcomes.set(host, { hasAnswered: hasAnswered || before.hasAnswered, failures });
    this.#count -= 1;
    if (own.running.isUnproven) this.#unproven -= 1;
    change(this.#running, host, -1);
    change(this.#callerOf(own.running.caller).running, host, -1);
    this.#forget(own.running.caller);
    this.#fill();
  }

  #callerOf(name: string): Caller {
    const known = this.#callers.get(name);
    if (known !== undefined) return known;
    const caller: Caller = { waiting: new Set(), running: new Map() };
    this.#callers.set(name, caller);
    return caller;
  }

  #forget(name: string): void {
    const caller = this.#callers.get(name);
    if (caller?.waiting.size === 0 && caller.running.size === 0) this.#callers.delete(name);
  }

  /** Of those that wait none may begin until one ends, so that it is asked of the new one alone. */
  #queue(turn: Turn, name: string): void {
    turn.callers.add(name);
    const caller = this.#callerOf(name);
    caller.waiting.add(turn);
    if (this.#hasPlace(caller) && this.#mayBegin(turn, caller)) this.#begin(turn, name, caller);
  }

  #hasPlace({ running }: Caller): boolean {
    const own = running.values().reduce((sum, count) => sum + count, 0);
    return this.#count < fetchLimits.places && own < fetchLimits.placesOfCaller;
  }

  /** Begins what may begin, one fetch of each caller after the other. */
  #fill(): void {
    for (let begun = true; begun && this.#count < fetchLimits.places; ) {
      begun = false;
      for (const [name, caller] of [...this.#callers]) {
        if (!this.#hasPlace(caller)) continue;
        const turn = caller.waiting.values().find((each) => this.#mayBegin(each, caller));
        if (turn === undefined) continue;
        this.#begin(turn, name, caller);
        begun = true;
      }
    }
  }

  #stateOf({ kind, host }: FetchHost): HostState {
    if (kind === "gateway") return "gateway";
    const { hasAnswered, failures } = this.#outcomes.get(host) ?? { hasAnswered: false, failures: 0 };
    if (failures >= fetchLimits.unreachableAfter) return "unreachable";
    return hasAnswered ? "answering" : "unknown";
  }

  #mayBegin({ at }: Turn, caller: Caller): boolean {
    const state = this.#stateOf(at);
    if (isUnproven(state) && this.#unproven >= fetchLimits.placesOfUnproven) return false;
    if ((caller.running.get(at.host) ?? 0) >= fetchLimits.placesOfCallerAtHost) return false;
    return (this.#running.get(at.host) ?? 0) < fetchLimits.placesOfHost[state];
  }

  #begin(turn: Turn, name: string, caller: Caller): void {
    for (const each of turn.callers) this.#callers.get(each)?.waiting.delete(turn);
    const others = [...turn.callers].filter((each) => each !== name);
    turn.callers.clear();
    turn.running = { caller: name, isUnproven: isUnproven(this.#stateOf(turn.at)) };
    this.#count += 1;
    this.#waiting -= 1;
    if (turn.running.isUnproven) this.#unproven += 1;
    change(this.#running, turn.at.host, 1);
    change(caller.running, turn.at.host, 1);
    this.#callers.delete(name);
    this.#callers.set(name, caller);
    for (const each of others) this.#forget(each);
    turn.begin();
  }
}

const isUnproven = (state: HostState): boolean => state === "unknown" || state === "unreachable";

/** Counts something up or down; what is none of is not there. */
function change(counts: Map<string, number>, name: string, by: 1 | -1): void {
  const count = (counts.get(name) ?? 0) + by;
  if (count > 0) counts.set(name, count);
  else counts.delete(name);
}
