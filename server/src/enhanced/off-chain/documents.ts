import type { Clock } from "@sluice/lib";
import type { EnhancedEvents } from "../events.ts";
import type { TextCache } from "../text-cache.ts";
import type { OffChainDocument } from "./document.ts";
import type { DocumentFetch } from "./document-fetch.ts";
import { type LocationOptions, locate } from "./location.ts";

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
  /** Waits for at most `waitMs`. Never rejects. */
  read(uri: string, waitMs: number): Promise<DocumentRead>;
}

/** How long an answer waits for documents; those that are not there by then are told as pending. */
export const documentWaitMs = 2_000;

/** Fetches at a time, and those that wait for one of them to end. */
const fetchesMax = 16;
const waitingMax = 2_000;

const without = (state: "none" | "off" | "pending" | "failed"): DocumentRead => ({ state, document: null });

/** Where nothing is fetched. */
export const noDocuments: DocumentSource = {
  read: async (uri) => without(uri === "" ? "none" : "off"),
};

/** Fetches each document once, however many ask for it, and keeps what it says, or for a while that there is none. */
export class Documents implements DocumentSource {
  readonly #options: LocationOptions;
  readonly #dependencies: DocumentsDependencies;
  readonly #flights = new Map<string, Promise<DocumentRead>>();
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(options: LocationOptions, dependencies: DocumentsDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  async read(uri: string, waitMs: number): Promise<DocumentRead> {
    if (uri === "") return without("none");
    const { kept, faults } = this.#dependencies;
    const text = kept.get(uri);
    if (text !== null) return { state: "read", document: JSON.parse(text) };
    if (faults.get(uri) !== null) return without("failed");
    const flight = this.#flights.get(uri) ?? this.#begin(uri);
    return flight === null ? without("pending") : await this.#within(flight, waitMs);
  }

  /** Null when so many wait that no more may. */
  #begin(uri: string): Promise<DocumentRead> | null {
    if (this.#running >= fetchesMax && this.#waiting.length >= waitingMax) {
      this.#dependencies.events.documentFetched("busy", 0);
      return null;
    }
    const flight = this.#fetch(uri).finally(() => this.#flights.delete(uri));
    this.#flights.set(uri, flight);
    return flight;
  }

  async #fetch(uri: string): Promise<DocumentRead> {
    const { clock, kept, faults, fetch, events } = this.#dependencies;
    const location = locate(uri, this.#options);
    if (location === null) {
      events.documentFetched("refused", 0);
      // Where a URI leads is told again in no time; nothing of it is kept.
      return without("failed");
    }
    await this.#turn();
    try {
      const startedMs = clock.monotonic();
      const fetched = await fetch.fetch(location);
      events.documentFetched(fetched.ok ? "read" : fetched.fault, clock.monotonic() - startedMs);
      if (fetched.ok) {
        if (location.kind !== "bytes") kept.keep(uri, JSON.stringify(fetched.document));
        return { state: "read", document: fetched.document };
      }
      if (location.kind !== "bytes") faults.keep(uri, fetched.fault);
      return without("failed");
    } finally {
      this.#running -= 1;
      this.#waiting.shift()?.();
    }
  }

  async #turn(): Promise<void> {
    while (this.#running >= fetchesMax) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#running += 1;
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
