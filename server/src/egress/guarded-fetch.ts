import { lookup as resolveByDns } from "node:dns/promises";
import { type ClientRequest, type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { LookupFunction } from "node:net";
import type { Clock } from "../lib/index.ts";
import { type AddressPolicy, createAddressPolicy } from "./address-policy.ts";

/** Why an exchange did not come about; each is a fault of the target or of the URL, never of this system. */
export type EgressFailure =
  | "invalid_url"
  | "scheme_not_allowed"
  | "credentials_in_url"
  | "address_not_allowed"
  | "invalid_request"
  | "dns_failed"
  | "connect_failed"
  | "tls_failed"
  | "connection_lost"
  | "malformed_answer"
  | "headers_too_large"
  | "timeout";

export interface EgressAnswer {
  readonly ok: true;
  readonly status: number;
  /** Names in lower case; of a repeated header the values are joined by ", ". */
  readonly headers: Readonly<Record<string, string>>;
  /** At most `bodyBytesMax` bytes of the answer. */
  readonly body: Uint8Array;
  /** True when the answer went on after what `body` holds; the connection was closed then. */
  readonly truncated: boolean;
  readonly elapsedMs: number;
}

export interface EgressRefusal {
  readonly ok: false;
  readonly failure: EgressFailure;
  /** One sentence that may be shown to the owner of the URL; holds no address of ours. */
  readonly detail: string;
  readonly elapsedMs: number;
}

export type EgressOutcome = EgressAnswer | EgressRefusal;

export interface EgressRequest {
  readonly method: "GET" | "POST" | "PUT" | "DELETE" | "HEAD";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** For the whole exchange: name look-up, connection, request, and the answer to its last byte. */
  readonly timeoutMs: number;
  /** How much of the answer is kept; 16 KiB unless said otherwise. */
  readonly bodyBytesMax?: number;
}

export interface EgressOptions {
  /** Plain http as well; for development and tests. */
  readonly allowHttp: boolean;
  /** CIDR ranges, public or not, that may be reached too; link-local and metadata addresses stay refused. */
  readonly allowedPrivateRanges: readonly string[];
  /** PEM certificates trusted beside none other; the system's own when absent. */
  readonly certificateAuthorities?: readonly string[];
}

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

export interface EgressDependencies {
  readonly clock: Clock;
  /** Looks a host name up; the system's resolver unless handed in. */
  readonly resolve?: (hostname: string) => Promise<readonly ResolvedAddress[]>;
}

export type GuardedFetch = (url: string, request: EgressRequest) => Promise<EgressOutcome>;

const bodyBytesDefault = 16 * 1024;
const headerBytesMax = 16 * 1024;
const urlLengthMax = 2_048;

/** Headers that the exchange itself sets. */
const ownHeaders: ReadonlySet<string> = new Set([
  "host",
  "connection",
  "content-length",
  "transfer-encoding",
  "accept-encoding",
  "expect",
  "upgrade",
]);

class AddressRefused extends Error {}

/** What of a URL can be judged before any look-up: form, scheme, user info, literal address. */
export function checkTargetUrl(
  url: string,
  options: Pick<EgressOptions, "allowHttp" | "allowedPrivateRanges">,
): { ok: true; url: URL } | { ok: false; failure: EgressFailure; detail: string } {
  return judgeUrl(url, options.allowHttp, createAddressPolicy(options.allowedPrivateRanges));
}

function judgeUrl(
  text: string,
  allowHttp: boolean,
  policy: AddressPolicy,
): { ok: true; url: URL } | { ok: false; failure: EgressFailure; detail: string } {
  if (text.length > urlLengthMax || !URL.canParse(text)) {
    return { ok: false, failure: "invalid_url", detail: "The address is not a valid URL" };
  }
  const url = new URL(text);
  if (url.protocol !== "https:" && !(allowHttp && url.protocol === "http:")) {
    return { ok: false, failure: "scheme_not_allowed", detail: "The URL must begin with https://" };
  }
  if (url.username !== "" || url.password !== "") {
    return { ok: false, failure: "credentials_in_url", detail: "The URL must not hold a user name or password" };
  }
  // URL parsing has turned decimal, octal, hexadecimal and short IPv4 forms into dotted decimals.
  const literal = literalAddress(url.hostname);
  if (literal !== null && !policy.allows(literal)) {
    return { ok: false, failure: "address_not_allowed", detail: "The URL leads to an address that is not public" };
  }
  return { ok: true, url };
}

function literalAddress(hostname: string): string | null {
  if (hostname.startsWith("[")) return hostname.slice(1, -1);
  return /^\d+\.\d+\.\d+\.\d+$/.test(hostname) ? hostname : null;
}

/**
 * A fetch for URLs that users gave. It opens a connection only to addresses that the policy allows, judged on the very
 * addresses that the connection uses, so that a name that changes its address between check and use gains nothing;
 * follows no redirect, reads a bounded answer, and is over by its deadline. Never throws: every outcome is a value.
 */
export function createGuardedFetch(options: EgressOptions, dependencies: EgressDependencies): GuardedFetch {
  const policy = createAddressPolicy(options.allowedPrivateRanges);
  const resolve = dependencies.resolve ?? ((hostname: string) => resolveByDns(hostname, { all: true }));
  const { clock } = dependencies;
  return async (text, request) => {
    const startedMs = clock.monotonic();
    const judged = judgeUrl(text, options.allowHttp, policy);
    if (!judged.ok) return { ...judged, elapsedMs: 0 };
    const outcome = await exchange(judged.url, request, { policy, options, lookup: guardedLookup(resolve, policy) });
    return { ...outcome, elapsedMs: Math.max(0, clock.monotonic() - startedMs) };
  };
}

/**
 * The look-up that node:http makes to connect. All addresses of a name must be allowed: a name that has a public and a
 * private one is refused rather than left to chance.
 */
function guardedLookup(
  resolve: (hostname: string) => Promise<readonly ResolvedAddress[]>,
  policy: AddressPolicy,
): LookupFunction {
  return (hostname, lookupOptions, callback) => {
    const answer = (error: Error | null, addresses: readonly ResolvedAddress[]): void => {
      const [first] = addresses;
      if (error !== null || first === undefined) {
        callback(error ?? new Error("The name has no address"), "", 0);
      } else if (lookupOptions.all === true) {
        callback(null, [...addresses]);
      } else {
        callback(null, first.address, first.family);
      }
    };
    resolve(hostname).then(
      (addresses) => {
        const allowed = addresses.every((resolved) => policy.allows(resolved.address));
        answer(allowed ? null : new AddressRefused("refused"), addresses);
      },
      (error: unknown) => answer(error instanceof Error ? error : new Error("look-up failed"), []),
    );
  };
}

interface ExchangeContext {
  readonly policy: AddressPolicy;
  readonly options: EgressOptions;
  readonly lookup: LookupFunction;
}

type Untimed = Omit<EgressAnswer, "elapsedMs"> | Omit<EgressRefusal, "elapsedMs">;

/** One request and its answer over a connection of its own. */
function exchange(url: URL, request: EgressRequest, context: ExchangeContext): Promise<Untimed> {
  return new Promise((settle) => {
    let open: ClientRequest | null = null;
    let isOver = false;
    const finish = (outcome: Untimed): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(deadline);
      settle(outcome);
      open?.destroy();
    };
    const fail = (failure: EgressFailure, detail: string): void => finish({ ok: false, failure, detail });
    const deadline = setTimeout(() => {
      fail("timeout", `No complete answer within ${request.timeoutMs} ms`);
    }, request.timeoutMs);
    try {
      open = openRequest(url, request, context);
    } catch {
      fail("invalid_request", "The request has a header that HTTP does not allow");
      return;
    }
    open.on("error", (error) => fail(...classify(error, url.protocol)));
    open.on("response", (response) => {
      const remote = response.socket.remoteAddress;
      if (remote !== undefined && !context.policy.allows(remote)) {
        fail("address_not_allowed", "The URL leads to an address that is not public");
        return;
      }
      collectAnswer(response, request.bodyBytesMax ?? bodyBytesDefault, finish, (error) =>
        fail(...classify(error, url.protocol)),
      );
    });
    open.end(request.body);
  });
}

function openRequest(url: URL, request: EgressRequest, context: ExchangeContext): ClientRequest {
  const headers: Record<string, string> = { "Accept-Encoding": "identity", Connection: "close" };
  for (const [name, value] of Object.entries(request.headers ?? {})) {
    if (!ownHeaders.has(name.toLowerCase())) headers[name] = value;
  }
  const length = request.body === undefined ? 0 : Buffer.byteLength(request.body);
  if (request.body !== undefined || request.method === "POST" || request.method === "PUT") {
    headers["Content-Length"] = String(length);
  }
  const isHttps = url.protocol === "https:";
  const hostname = literalAddress(url.hostname) ?? url.hostname;
  return (isHttps ? requestHttps : requestHttp)({
    host: hostname,
    port: url.port === "" ? (isHttps ? 443 : 80) : Number(url.port),
    path: url.pathname + url.search,
    method: request.method,
    headers: { ...headers, Host: url.host },
    lookup: context.lookup,
    // A pooled connection would have been judged under an earlier answer of the name's owner.
    agent: false,
    maxHeaderSize: headerBytesMax,
    minVersion: "TLSv1.2",
    rejectUnauthorized: true,
    ...(context.options.certificateAuthorities === undefined
      ? {}
      : { ca: [...context.options.certificateAuthorities] }),
  });
}

/** Reads the answer up to its bound and hands the outcome over; what exceeds the bound closes the connection. */
function collectAnswer(
  response: IncomingMessage,
  bytesMax: number,
  finish: (outcome: Untimed) => void,
  fail: (error: Error) => void,
): void {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const done = (truncated: boolean): void => {
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(response.headers)) {
      if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(", ") : value;
    }
    const body = new Uint8Array(Buffer.concat(chunks, Math.min(length, bytesMax)));
    finish({ ok: true, status: response.statusCode ?? 0, headers, body, truncated });
  };
  response.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    length += chunk.byteLength;
    if (length > bytesMax) done(true);
  });
  response.on("end", () => {
    if (response.complete) done(false);
    else fail(new Error("The answer ended early"));
  });
  response.on("aborted", () => fail(new Error("The answer ended early")));
  response.on("error", fail);
}

/** A failure by the code that node:net, node:tls, the resolver or the parser gave it. */
function classify(error: Error & { code?: unknown }, protocol: string): [EgressFailure, string] {
  const code = typeof error.code === "string" ? error.code : "";
  if (error instanceof AddressRefused) return ["address_not_allowed", "The URL leads to an address that is not public"];
  if (code === "HPE_HEADER_OVERFLOW") return ["headers_too_large", "The headers of the answer are too large"];
  if (code.startsWith("HPE_")) return ["malformed_answer", "The answer is not valid HTTP"];
  if (code.startsWith("ERR_INVALID_") || code === "ERR_UNESCAPED_CHARACTERS") {
    return ["invalid_request", "The request has a header that HTTP does not allow"];
  }
  if (
    /^(ENOTFOUND|EAI_|ENODATA|ESERVFAIL|EBADNAME|DNS_)/.test(code) ||
    /has no address|look-up failed/.test(error.message)
  ) {
    return ["dns_failed", "The host name could not be resolved"];
  }
  if (/^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|EADDRNOTAVAIL|ConnectionRefused)/.test(code)) {
    return ["connect_failed", "The host did not accept the connection"];
  }
  const isTls = /CERT|TLS|SSL|SIGNED|ISSUER|SIGNATURE|CRL/.test(code) || /certificate|TLS|SSL/i.test(error.message);
  if (protocol === "https:" && isTls)
    return ["tls_failed", "The TLS connection could not be made or its certificate is not valid"];
  return ["connection_lost", "The connection was closed before the answer was complete"];
}
