import type { Clock } from "@sluice/lib";
import {
  type AddressRules,
  createAddressRules,
  EgressEndpoint,
  type EgressOutcome,
  type EgressUrl,
  type NameResolver,
  readEgressUrl,
} from "../../net/index.ts";
import { type OffChainDocument, readDocument } from "./document.ts";
import type { DocumentLocation } from "./location.ts";

export interface DocumentFetchOptions {
  readonly allowHttp: boolean;
  /** CIDR ranges beside public addresses; for development and tests. */
  readonly allowPrivateCidrs: readonly string[];
  /** For the whole of a fetch, redirects included. */
  readonly timeoutMs: number;
  /** PEM; the roots that certificates are verified by in place of the runtime's. */
  readonly authorities?: readonly string[];
}

export interface DocumentFetchDependencies {
  readonly clock: Clock;
  readonly resolver: NameResolver;
}

/** A document, or why there is none. */
export type FetchedDocument =
  | { readonly ok: true; readonly document: OffChainDocument }
  | { readonly ok: false; readonly fault: DocumentFault };

export type DocumentFault = "refused" | "unreachable" | "status" | "too_large" | "redirects" | "not_json";

/** A document of an NFT takes one or two KiB. */
const documentBytesMax = 256 * 1024;
const redirectsMax = 3;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Every address but those that no setting allows. */
const anyAddress = ["0.0.0.0/0", "::/0"];

/** Fetches documents from where strangers say that they are. */
export class DocumentFetch {
  readonly #options: DocumentFetchOptions;
  readonly #dependencies: DocumentFetchDependencies;
  readonly #rules: { readonly public: AddressRules; readonly gateway: AddressRules };

  constructor(options: DocumentFetchOptions, dependencies: DocumentFetchDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#rules = { public: createAddressRules(options.allowPrivateCidrs), gateway: createAddressRules(anyAddress) };
  }

  /**
   * The document at a place. Redirects are followed, each by the rules for public addresses, a gateway's too: what it
   * answers is a stranger's. Never rejects.
   */
  async fetch(location: DocumentLocation): Promise<FetchedDocument> {
    if (location.kind === "bytes") return documentIn(location.bytes);
    const { clock } = this.#dependencies;
    const untilMs = clock.monotonic() + this.#options.timeoutMs;
    let { url, text } = location;
    let rules = this.#rules[location.kind];
    for (let followed = 0; followed <= redirectsMax; followed += 1) {
      const outcome = await this.#get(url, rules, untilMs - clock.monotonic());
      if (outcome.kind !== "answered") return failed(outcome.kind === "refused" ? "refused" : "unreachable");
      if (!redirects.has(outcome.status)) return answered(outcome);
      const next = URL.parse(outcome.location ?? "", text)?.href;
      const read = next === undefined ? null : readEgressUrl(next, this.#options);
      if (next === undefined || read?.ok !== true) return failed("redirects");
      [url, text, rules] = [read.url, next, this.#rules.public];
    }
    return failed("redirects");
  }

  async #get(url: EgressUrl, rules: AddressRules, timeoutMs: number): Promise<EgressOutcome> {
    if (timeoutMs <= 0) return { kind: "timeout" };
    const { authorities } = this.#options;
    using endpoint = new EgressEndpoint(
      {
        url,
        connectionsMax: 1,
        answerBytesMax: documentBytesMax,
        ...(authorities === undefined ? {} : { authorities }),
      },
      { ...this.#dependencies, rules },
    );
    return await endpoint.get({ fields: [["accept", "application/json"]], timeoutMs });
  }
}

function answered({ status, bytes, isCut }: Extract<EgressOutcome, { kind: "answered" }>): FetchedDocument {
  if (status !== 200) return failed("status");
  return isCut ? failed("too_large") : documentIn(bytes);
}

function documentIn(bytes: Uint8Array): FetchedDocument {
  const document = bytes.length > documentBytesMax ? null : readDocument(bytes);
  return document === null ? failed("not_json") : { ok: true, document };
}

const failed = (fault: DocumentFault): FetchedDocument => ({ ok: false, fault });
