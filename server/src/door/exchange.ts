import type { Network } from "@sluice/contract";
import { clientAddress } from "../http/index.ts";
import type { AddressSet } from "../lib/index.ts";
import type { DoorGrant, LimitDecision, RestrictedRequest } from "./interfaces.ts";

/** Where a request came from, as Bun's server knows it. */
export interface Peer {
  requestIP(request: Request): { readonly address: string } | null;
}

/**
 * One request on its way through the stages, and what they found out about it. What only few requests need (the client's
 * address costs 0.8 µs) is worked out when it is asked for.
 */
export class Exchange implements RestrictedRequest {
  readonly request: Request;
  readonly requestId: string;
  /** Wall time at which it came, Unix ms; monotonic time for its latency. Both clocks are read once. */
  readonly at: number;
  readonly startedMs: number;
  readonly origin: string | null;
  network: Network;
  grant: DoorGrant | null = null;
  decision: LimitDecision | null = null;
  bytesIn = 0;
  readonly #peer: Peer;
  readonly #trustedProxies: AddressSet;

  constructor(
    request: Request,
    settings: {
      readonly requestId: string;
      readonly at: number;
      readonly startedMs: number;
      readonly network: Network;
      readonly peer: Peer;
      readonly trustedProxies: AddressSet;
    },
  ) {
    this.request = request;
    this.requestId = settings.requestId;
    this.at = settings.at;
    this.startedMs = settings.startedMs;
    this.origin = request.headers.get("origin");
    this.network = settings.network;
    this.#peer = settings.peer;
    this.#trustedProxies = settings.trustedProxies;
  }

  get referer(): string | null {
    return this.request.headers.get("referer");
  }

  get clientAddress(): string {
    const socket = this.#peer.requestIP(this.request)?.address ?? "";
    return clientAddress(socket, this.request.headers.get("x-forwarded-for"), this.#trustedProxies);
  }
}
