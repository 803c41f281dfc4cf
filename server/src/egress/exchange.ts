import { type ClientRequest, type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { LookupFunction } from "node:net";
import type { AddressPolicy } from "./address-policy.ts";
import { classify } from "./classify.ts";
import type { EgressAnswer, EgressFailure, EgressOptions, EgressRefusal, EgressRequest } from "./outcome.ts";
import { literalAddress } from "./target-url.ts";

const bodyBytesDefault = 16 * 1024;
const headerBytesMax = 16 * 1024;

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

export interface ExchangeContext {
  readonly policy: AddressPolicy;
  readonly options: EgressOptions;
  readonly lookup: LookupFunction;
}

/** An outcome before it is known how long it took. */
export type Untimed = Omit<EgressAnswer, "elapsedMs"> | Omit<EgressRefusal, "elapsedMs">;

/** One request and its answer over a connection of its own. */
export function exchange(url: URL, request: EgressRequest, context: ExchangeContext): Promise<Untimed> {
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
