import type { Clock, Random } from "@sluice/lib";
import { type Address, parseAddress } from "@sluice/wire/identifiers";
import { type NameService, nameServices } from "@sluice/wire/name-services";
import { createRequestIds } from "../http/index.ts";
import { AnswerMemory } from "./answer-memory.ts";
import { BoundedCalls } from "./bounded-calls.ts";
import { type ChainNode, callTimeoutMs } from "./chain-node.ts";
import { type ChainReader, createChainReader, type SettledCommitment } from "./chain-reader.ts";
import { type AnswerKind, type NamesEvents, silentEvents } from "./events.ts";
import { createNamesHttp } from "./http.ts";
import { NameLookup } from "./lookup.ts";
import { type NameOutcome, type NameShape, readName } from "./name.ts";
import { ProgramsFound } from "./programs-found.ts";
import { domainsHeldBy } from "./reverse.ts";

export interface NamesOptions {
  /** `confirmed` unless said otherwise. */
  readonly commitment?: SettledCommitment;
  /** Programs to use instead of those that the chain is found to carry. */
  readonly nameProgram?: Address | null;
  readonly handleProgram?: Address | null;
  /** The name services that are looked for, in the order of preference. */
  readonly services?: readonly NameService[];
  /** How long a call waits for its turn; 5 s unless said otherwise. */
  readonly waitMsMax?: number;
  /** Answers kept on each of the two shelves. */
  readonly entriesMax?: number;
}

export interface NamesDependencies {
  readonly clock: Clock;
  readonly random: Random;
  /** What names are read from. */
  readonly node: ChainNode;
  readonly events?: NamesEvents;
}

export interface VersionRecord {
  readonly chain_core: string;
  readonly rpc: string;
}

export type ReverseOutcome =
  | { readonly kind: "named"; readonly name: string }
  | { readonly kind: "unnamed" }
  | { readonly kind: "failed" };

/** Absent names live for 2 s, so that 5,000 new ones a second fill their part to two thirds. */
/** How often a node that does not answer is tried again. */
const retryMs = 2_000;
const entriesMaxDefault = 16_384;
/** Bun keeps 256 connections in all; half of them leaves the rest of the process its own. */
const runningMax = 128;
const waitingMax = 8_192;
/** Names tried for an address before it is shown without one. */
const reverseTriesMax = 3;

/** The resolver: names to owners, and over HTTP by `fetch`. Nothing listens here and no store is needed. */
export class Names {
  readonly #memory: AnswerMemory;
  readonly #calls: BoundedCalls;
  readonly #reader: ChainReader;
  readonly #programs: ProgramsFound;
  readonly #lookup: NameLookup;
  readonly #clock: Clock;
  readonly #events: NamesEvents;
  readonly #inFlight = new Map<string, Promise<NameOutcome>>();
  readonly #rpcShown: string;
  /** Whether the last call was answered; null before the first. */
  #isAnswering: boolean | null = null;
  #triedAtMs = Number.NEGATIVE_INFINITY;
  #versionInFlight: Promise<VersionRecord | null> | null = null;

  /** Answers one request; the second argument carries the id that an endpoint in front has set. */
  readonly fetch: (request: Request, bindings?: { readonly requestId?: string }) => Response | Promise<Response>;

  constructor(options: NamesOptions, dependencies: NamesDependencies) {
    const { clock } = dependencies;
    const now = (): number => clock.monotonic();
    const waitMsMax = options.waitMsMax ?? callTimeoutMs;
    this.#clock = clock;
    this.#events = dependencies.events ?? silentEvents;
    this.#rpcShown = dependencies.node.shown;
    this.#memory = new AnswerMemory({ entriesMax: options.entriesMax ?? entriesMaxDefault }, { now });
    this.#calls = new BoundedCalls({ runningMax, waitingMax, waitMsMax }, { now });
    this.#reader = this.#bounded(
      createChainReader({ commitment: options.commitment ?? "confirmed" }, { node: dependencies.node }),
    );
    this.#programs = new ProgramsFound(
      {
        services: options.services ?? nameServices,
        nameProgram: options.nameProgram ?? null,
        handleProgram: options.handleProgram ?? null,
      },
      { events: this.#events, now },
    );
    this.#lookup = new NameLookup({ reader: this.#reader, programs: this.#programs });
    this.fetch = createNamesHttp({
      answer: (shape) => this.#answer(shape),
      version: () => this.version(),
      requestId: createRequestIds({ random: dependencies.random }),
      events: this.#events,
    });
  }

  /**
   * Asks the chain which programs it carries, so that a missing one is reported at start; a later name asks otherwise.
   */
  async start(): Promise<boolean> {
    return await this.#lookup.findPrograms();
  }

  /** The owner of a name as typed: `@handle`, or a domain with its suffix. Never throws for a name. */
  async resolve(name: string): Promise<NameOutcome> {
    return await this.#answer(readName(name));
  }

  /**
   * A name to show for an owner's address: one of its domains, by what the chain keeps as their text, and only when it
   * resolves back to that address. Handles have no reverse record. For display; no payment goes by it.
   */
  async reverse(address: string): Promise<ReverseOutcome> {
    const owner = parseAddress(address);
    if (owner === null) return { kind: "unnamed" };
    if (!(await this.#lookup.findPrograms())) return { kind: "failed" };
    const program = this.#programs.nameProgram;
    const reverseClass = program === null ? null : this.#programs.reverseClassOf(program);
    if (program === null || reverseClass === null) return { kind: "unnamed" };
    const tree = this.#lookup.tree(program);
    const names = await domainsHeldBy(owner, { reader: this.#reader, tree, reverseClass });
    if (names === null) return { kind: "failed" };
    for (const name of names.slice(0, reverseTriesMax)) {
      const back = await this.resolve(name);
      if (back.kind === "failed") return { kind: "failed" };
      if (back.kind === "resolved" && back.resolution.owner === owner) return { kind: "named", name };
    }
    return { kind: "unnamed" };
  }

  /**
   * Whether the node answered the last call, if there was one. While it did not, asking tries again: without names to
   * look up, as behind a balancer that asks this, nothing else would.
   */
  get isAnswering(): boolean {
    const isDue = this.#clock.monotonic() - this.#triedAtMs >= retryMs;
    if (this.#isAnswering === false && isDue) {
      this.#triedAtMs = this.#clock.monotonic();
      void this.version();
    }
    return this.#isAnswering !== false;
  }

  #heard(isAnswering: boolean): void {
    // The first answer is what everybody expects.
    if (this.#isAnswering !== isAnswering && !(this.#isAnswering === null && isAnswering)) {
      this.#events.nodeChanged(isAnswering);
    }
    this.#isAnswering = isAnswering;
  }

  /** What node answers, and its core version; null when it does not answer. Never from memory. */
  version(): Promise<VersionRecord | null> {
    this.#versionInFlight ??= this.#reader
      .getVersion()
      .then((core) => (core === null ? null : { chain_core: core, rpc: this.#rpcShown }))
      .finally(() => {
        this.#versionInFlight = null;
      });
    return this.#versionInFlight;
  }

  /** At once when the answer is known; one call for all who ask for the same name meanwhile. */
  #answer(shape: NameShape): NameOutcome | Promise<NameOutcome> {
    if (shape.kind === "refused") {
      this.#events.nameAnswered("refused", "shape");
      return shape;
    }
    const key = shape.kind === "handle" ? `@${shape.name}` : shape.name;
    const known = this.#memory.get(key);
    if (known !== undefined) {
      this.#events.nameAnswered(kindOf(known), "cache");
      return known;
    }
    let pending = this.#inFlight.get(key);
    if (pending === undefined) {
      pending = this.#find(key, shape).finally(() => this.#inFlight.delete(key));
      this.#inFlight.set(key, pending);
    }
    return pending;
  }

  async #find(key: string, shape: Exclude<NameShape, { kind: "refused" }>): Promise<NameOutcome> {
    const readAt = this.#clock.monotonic();
    const outcome = await this.#lookup.find(shape);
    this.#memory.keep(key, outcome, readAt);
    this.#events.nameAnswered(kindOf(outcome), "chain");
    return outcome;
  }

  #bounded(reader: ChainReader): ChainReader {
    const timed = async <T>(call: () => Promise<T | null>): Promise<T | null> => {
      const startMs = this.#clock.monotonic();
      const answer = await this.#calls.run(call);
      this.#events.nodeAsked(answer !== null, this.#clock.monotonic() - startMs);
      this.#heard(answer !== null);
      return answer;
    };
    return {
      getMultipleAccounts: (addresses) => timed(() => reader.getMultipleAccounts(addresses)),
      getProgramAccounts: (program, match) => timed(() => reader.getProgramAccounts(program, match)),
      getVersion: () => timed(() => reader.getVersion()),
    };
  }
}

function kindOf(outcome: NameOutcome): AnswerKind {
  if (outcome.kind !== "failed") return outcome.kind;
  return outcome.error === "malformed account" ? "malformed" : "unreachable";
}

/** Starts nothing by itself: `start` asks the chain for its programs, `fetch` answers requests. */
export function createNames(options: NamesOptions, dependencies: NamesDependencies): Names {
  return new Names(options, dependencies);
}
