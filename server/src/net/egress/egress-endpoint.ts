import type { Clock } from "@sluice/lib";
import type { Located, PooledOutcome } from "../http1/client/connection.ts";
import { ConnectionPool } from "../http1/client/connection-pool.ts";
import type { AddressRules } from "./address-rules.ts";
import type { EgressUrl } from "./egress-url.ts";
import type { NameResolver } from "./name-resolver.ts";

export interface EgressEndpointOptions {
  readonly url: EgressUrl;
  /** Connections at a time. */
  readonly connectionsMax: number;
  /** How much of an answer's body is kept; the rest is not read. */
  readonly answerBytesMax: number;
  /** PEM; the roots that certificates are verified by in place of the runtime's. */
  readonly authorities?: readonly string[];
}

export interface EgressEndpointDependencies {
  readonly clock: Clock;
  readonly rules: AddressRules;
  readonly resolver: NameResolver;
}

export interface EgressCall {
  /** Names and values as they are written. */
  readonly fields: readonly (readonly [string, string])[];
  readonly body: string;
  /** For the whole exchange: looking up, connecting, writing, and reading the answer. */
  readonly timeoutMs: number;
}

export type EgressOutcome =
  | {
      readonly kind: "answered";
      readonly status: number;
      readonly retryAfter: string | null;
      /** Where a redirect leads. */
      readonly location: string | null;
      /** The beginning of the body, at most `answerBytesMax` of it. */
      readonly bytes: Uint8Array;
      readonly isCut: boolean;
    }
  /** It has an address that must not be called, and none that may be. */
  | { readonly kind: "refused" }
  | { readonly kind: "timeout" | "unreachable" | "malformed" | "closed" }
  /** More calls wait than may; nothing was sent. */
  | { readonly kind: "overloaded" };

/** How long the addresses of a name serve the connections that are opened at once. */
const lookUpMs = 1_000;
const idleMsMax = 15_000;
/** How long an address at which no connection could be had comes after the others. */
const unreachedMs = 30_000;
/** Bodies are counted as they come, and not read beyond what is kept. */
const unbounded = Number.MAX_SAFE_INTEGER;

/**
 * Calls a URL that somebody outside has given. Every connection is opened to an address that has been checked just
 * before: the name is looked up here, and the socket is given the address, so that no second look-up can say something
 * else. Certificates are verified by the URL's name. Redirects are answers like others: nothing follows them.
 */
export class EgressEndpoint implements Disposable {
  readonly #options: EgressEndpointOptions;
  readonly #dependencies: EgressEndpointDependencies;
  readonly #pool: ConnectionPool;
  readonly #target: string;
  #addresses: Promise<readonly string[]> | null = null;
  #lookedUpAtMs = Number.NEGATIVE_INFINITY;
  #turn = 0;
  /** When no connection could be had there, in monotonic milliseconds, by address. */
  readonly #unreached = new Map<string, number>();

  constructor(options: EgressEndpointOptions, dependencies: EgressEndpointDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    const { url, connectionsMax, authorities } = options;
    this.#target = `${url.path} HTTP/1.1\r\nhost: ${url.host}\r\n`;
    this.#pool = new ConnectionPool(
      {
        target: { hostname: url.hostname, port: url.port, isTls: url.isTls, head: "" },
        connectionsMax,
        waitingMax: connectionsMax,
        idleMsMax,
        locate: () => this.#locate(),
        unreached: (address) => void this.#unreached.set(address, dependencies.clock.monotonic()),
        ...(authorities === undefined ? {} : { authorities }),
      },
      dependencies,
    );
  }

  /** Connections, idle ones included. */
  get connections(): number {
    return this.#pool.connections;
  }

  /** Never rejects. */
  post(call: EgressCall): Promise<EgressOutcome> {
    return this.#call("POST", call);
  }

  /** Never rejects. */
  get(call: Omit<EgressCall, "body">): Promise<EgressOutcome> {
    return this.#call("GET", { ...call, body: "" });
  }

  #call(method: "GET" | "POST", { fields, body, timeoutMs }: EgressCall): Promise<EgressOutcome> {
    let head = `${method} ${this.#target}`;
    for (const [name, value] of fields) head += `${name}: ${value}\r\n`;
    const settled = new Promise<PooledOutcome>((resolve) => {
      this.#pool.begin({
        body,
        head: `${head}accept-encoding: identity\r\ncontent-length: `,
        ownConnection: false,
        answerBytesMax: unbounded,
        streamsFrom: this.#options.answerBytesMax,
        deadlineAt: this.#dependencies.clock.monotonic() + timeoutMs,
        settle: resolve,
        isRepeated: false,
      });
    });
    return settled.then((outcome) => outcomeOf(outcome, this.#options.answerBytesMax));
  }

  [Symbol.dispose](): void {
    this.#pool[Symbol.dispose]();
  }

  async #locate(): Promise<Located> {
    const addresses = await this.#look();
    if (addresses.length === 0) return { ok: false, refusal: null };
    const admitted = addresses.map((address) => this.#dependencies.rules.admit(address)).filter((it) => it !== null);
    const [address, ...others] = this.#ordered(admitted);
    return address === undefined ? { ok: false, refusal: "address" } : { ok: true, addresses: [address, ...others] };
  }

  /** Each connection begins with the next one, and with one at which none could be had only where all are so. */
  #ordered(addresses: readonly string[]): readonly string[] {
    const from = this.#turn % Math.max(1, addresses.length);
    this.#turn += 1;
    const nowMs = this.#dependencies.clock.monotonic();
    for (const [address, atMs] of this.#unreached)
      if (nowMs - atMs >= unreachedMs || !addresses.includes(address)) this.#unreached.delete(address);
    const turned = [...addresses.slice(from), ...addresses.slice(0, from)];
    return turned.toSorted((one, other) => Number(this.#unreached.has(one)) - Number(this.#unreached.has(other)));
  }

  #look(): Promise<readonly string[]> {
    const { url } = this.#options;
    if (url.isAddress) return Promise.resolve([url.hostname]);
    const nowMs = this.#dependencies.clock.monotonic();
    if (this.#addresses === null || nowMs - this.#lookedUpAtMs >= lookUpMs) {
      this.#lookedUpAtMs = nowMs;
      this.#addresses = this.#dependencies.resolver.addressesOf(url.hostname);
    }
    return this.#addresses;
  }
}

async function outcomeOf(outcome: PooledOutcome, bytesMax: number): Promise<EgressOutcome> {
  switch (outcome.kind) {
    case "answered":
      return {
        kind: "answered",
        status: outcome.status,
        retryAfter: outcome.retryAfter,
        location: outcome.location,
        bytes: outcome.bytes.subarray(0, bytesMax),
        isCut: outcome.bytes.length > bytesMax,
      };
    case "streaming": {
      const first = (await outcome.source.next().catch(() => null)) ?? new Uint8Array(0);
      // A copy, since the memory of a read goes back with the rest of it.
      const bytes = Uint8Array.from(first.subarray(0, bytesMax));
      outcome.source.cancel();
      const { status, retryAfter, location } = outcome;
      return { kind: "answered", status, retryAfter, location, bytes, isCut: true };
    }
    case "refused":
      return { kind: "refused" };
    case "too-large":
      return { kind: "malformed" };
    default:
      return { kind: outcome.kind };
  }
}
