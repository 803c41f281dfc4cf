import type { ErrorCode } from "@sluice/contract/errors";
import type { Network } from "@sluice/contract/tiers";
import { type AddressSet, type Clock, invariant } from "@sluice/lib";
import type { MethodCode } from "../access/index.ts";
import { clientAddress, type HeaderReader, networkNamed } from "../http/index.ts";
import type { Grant, RestrictedRequest } from "../keys/index.ts";
import type { LimitDecision } from "../limits/index.ts";
import type { EnvelopeRefusal, MethodEntry } from "../rpc/index.ts";
import type { NodeAnswer, WholeBody } from "../upstreams/index.ts";

/** A request's head and the address that sent it, as the stages see them. */
export interface RequestHead {
  readonly method: string;
  /** Path and query as they were sent. */
  readonly target: string;
  readonly headers: HeaderReader;
  /** The socket's address; "" once the socket is gone. */
  readonly socketAddress: string;
}

/** Why a stage ends a request. Its status and its JSON-RPC code are those of contract's table. */
export interface Failure {
  readonly code: ErrorCode;
  readonly message?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  /** The node that was asked last. */
  readonly upstream?: string;
}

/** A call that passed the envelope, with its method's page; null for a method that may not pass. */
export interface OpenedCall {
  readonly ok: true;
  readonly id: string;
  readonly method: string;
  readonly params: string | null;
  readonly page: MethodEntry | null;
  /** Credits. */
  readonly price: number;
}

/** A call that the key may not make. */
export interface ForbiddenCall {
  readonly ok: false;
  readonly id: string;
  readonly code: MethodCode | "ENHANCED_API_DISABLED";
  readonly message: string;
  /** The method as facts have it. */
  readonly recorded: string;
}

/** A call of a batch, or why its envelope or its method is refused: that refuses the one call alone. */
export type BatchCall = OpenedCall | EnvelopeRefusal | ForbiddenCall;

/** The outcome of one call: an answer to be passed on, or the code that stands in its place. */
export type CallResult =
  | { readonly ok: true; readonly answer: NodeAnswer; readonly hit: boolean; readonly upstreamMs: number | null }
  | RefusedCall;

export interface RefusedCall {
  readonly ok: false;
  readonly code: ErrorCode;
  readonly message: string | null;
  readonly upstream: string;
  /** For the codes that ask for Retry-After; a second when absent. */
  readonly retryAfterSeconds?: number;
}

/** A result whose body is here as a whole, as a batch needs it. */
export type WholeResult = (Extract<CallResult, { ok: true }> & { readonly body: WholeBody }) | RefusedCall;

export interface ContextOptions {
  readonly networkDefault: Network;
  readonly trustedProxies: AddressSet;
}

export interface ContextDependencies {
  readonly clock: Clock;
  readonly requestId: () => string;
}

/**
 * One request on its way through the stages, and what they found out about it. What only few requests need (the
 * client's address costs 0.8 µs) is computed when it is read.
 */
export class RequestContext<Head extends RequestHead = RequestHead> implements RestrictedRequest {
  readonly request: Head;
  readonly requestId: string;
  /** Wall time of arrival, Unix ms; monotonic time for the latency. Both clocks are read once. */
  readonly at: number;
  readonly startedMs: number;
  readonly origin: string | null;
  network: Network;
  /** Set by identify. */
  grant: Grant | null = null;
  /** Set by meter; a send's own bucket replaces it where that bucket refuses. */
  decision: LimitDecision | null = null;
  /** Set by read. */
  body = "";
  bytesIn = 0;
  /**
   * Set by read and open when the body cannot be answered: it takes a token all the same, and is refused after that.
   */
  malformed: Failure | null = null;
  /** The call's id as JSON text; null in the answer to a whole batch. */
  id = "null";
  /** Set by open: the one call, or null and the batch. */
  call: OpenedCall | null = null;
  batch: readonly BatchCall[] | null = null;
  /** Set by answer. */
  result: CallResult | null = null;
  results: readonly WholeResult[] = [];
  readonly #options: ContextOptions;

  constructor(request: Head, options: ContextOptions, dependencies: ContextDependencies) {
    this.request = request;
    this.requestId = dependencies.requestId();
    this.at = dependencies.clock.now();
    this.startedMs = dependencies.clock.monotonic();
    this.origin = request.headers.get("origin");
    this.network = options.networkDefault;
    this.#options = options;
  }

  get referer(): string | null {
    return this.request.headers.get("referer");
  }

  get clientAddress(): string {
    const { socketAddress, headers } = this.request;
    return clientAddress(socketAddress, headers.get("x-forwarded-for"), this.#options.trustedProxies);
  }

  /** The key's grant, for the stages after identify. */
  get granted(): Grant {
    invariant(this.grant !== null, "a stage after identify runs for a key that was accepted");
    return this.grant;
  }

  /**
   * Sets the network that the request names by X-Network, query `network` or path /rpc/<network>, in this order, or the
   * default where it names none; in any letter case. False for a name that is no network.
   */
  chooseNetwork(path: string): boolean {
    const network = networkNamed(this.request, path);
    if (network === "unknown") return false;
    if (network !== null) this.network = network;
    return true;
  }
}
