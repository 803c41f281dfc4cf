import type { Clock } from "@sluice/lib";
import type { EnhancedEvents } from "../events.ts";
import type { TextCache } from "../text-cache.ts";
import type { OffChainDocument } from "./document.ts";
import type { DocumentFetch, FetchedDocument } from "./document-fetch.ts";
import { FetchPlaces, type FetchTurn } from "./fetch-places.ts";
import { type DocumentLocation, type LocationOptions, locate } from "./location.ts";

export interface DocumentsDependencies {
  readonly clock: Pick<Clock, "monotonic" | "after">;
  /** Documents as JSON, by their URI. */
  readonly kept: TextCache;
  /** Why a URI had no document, for as long as it is not tried again. */
  readonly faults: TextCache;
  readonly fetch: Pick<DocumentFetch, "fetch">;
  readonly events: Pick<EnhancedEvents, "documentFetched">;
}

/**
 * What the document of a URI says. `none`: there is no URI. `off`: documents are not fetched. `pending`: it is being
 * fetched, or would be if fewer were. `failed`: there is none to be had.
 */
export type DocumentRead =
  | { readonly state: "read"; readonly document: OffChainDocument }
  | { readonly state: "none" | "off" | "pending" | "failed"; readonly document: null };

/** Documents, by their URIs. */
export interface DocumentSource {
  /** Waits for at most `waitMs`. `caller` is the key for which it is: callers take turns. Never rejects. */
  read(uri: string, waitMs: number, caller: string): Promise<DocumentRead>;
}

/** How long an answer waits for documents; those that are not there by then are told as pending. */
export const documentWaitMs = 2_000;

const without = (state: "none" | "off" | "pending" | "failed"): DocumentRead => ({ state, document: null });

/** Where nothing is fetched. */
export const noDocuments: DocumentSource = {
  read: async (uri) => without(uri === "" ? "none" : "off"),
};

interface Flight {
  readonly read: Promise<DocumentRead>;
  readonly turn: FetchTurn;
}

/** Fetches each document once, however many ask for it, and keeps what it says, or for a while that there is none. */
export class Documents implements DocumentSource {
  readonly #options: LocationOptions;
  readonly #dependencies: DocumentsDependencies;
  readonly #flights = new Map<string, Flight>();
  readonly #places = new FetchPlaces();

  constructor(options: LocationOptions, dependencies: DocumentsDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  async read(uri: string, waitMs: number, caller: string): Promise<DocumentRead> {
    if (uri === "") return without("none");
    const { kept, faults, fetch, events } = this.#dependencies;
    const text = kept.get(uri);
    if (text !== null) return { state: "read", document: JSON.parse(text) };
    if (faults.get(uri) !== null) return without("failed");
    const flight = this.#flights.get(uri);
    if (flight !== undefined) {
      this.#places.join(flight.turn, caller);
      return await this.#within(flight.read, waitMs);
    }
    const location = locate(uri, this.#options);
    if (location === null) {
      events.documentFetched("refused", 0);
      // Where a URI leads is told again in no time; nothing of it is kept.
      return without("failed");
    }
    // What stands in the URI itself takes no place and is not kept.
    if (location.kind === "bytes") return this.#told(await fetch.fetch(location), 0);
    const turn = this.#places.take(caller, { kind: location.kind, host: location.url.host });
    if (turn === null) {
      events.documentFetched("busy", 0);
      return without("pending");
    }
    const read = this.#fetch(uri, location, turn).finally(() => this.#flights.delete(uri));
    this.#flights.set(uri, { read, turn });
    return await this.#within(read, waitMs);
  }

  async #fetch(
    uri: string,
    location: Exclude<DocumentLocation, { kind: "bytes" }>,
    turn: FetchTurn,
  ): Promise<DocumentRead> {
    const { clock, kept, faults, fetch } = this.#dependencies;
    await turn.begun;
    let hasAnswered = false;
    try {
      const startedMs = clock.monotonic();
      const fetched = await fetch.fetch(location);
      hasAnswered = fetched.ok || (fetched.fault !== "unreachable" && fetched.fault !== "refused");
      if (fetched.ok) kept.keep(uri, JSON.stringify(fetched.document));
      else faults.keep(uri, fetched.fault);
      return this.#told(fetched, clock.monotonic() - startedMs);
    } finally {
      this.#places.end(turn, hasAnswered);
    }
  }

  #told(fetched: FetchedDocument, elapsedMs: number): DocumentRead {
    this.#dependencies.events.documentFetched(fetched.ok ? "read" : fetched.fault, elapsedMs);
    return fetched.ok ? { state: "read", document: fetched.document } : without("failed");
  }

  /** The fetch goes on when nobody waits for it any more: what it brings is kept for who asks next. */
  async #within(flight: Promise<DocumentRead>, waitMs: number): Promise<DocumentRead> {
    const { promise, resolve } = Promise.withResolvers<DocumentRead>();
    const timer = this.#dependencies.clock.after(waitMs, () => resolve(without("pending")));
    void flight.then(resolve, () => resolve(without("failed")));
    const read = await promise;
    timer.cancel();
    return read;
  }
}
