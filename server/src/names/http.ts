import { type NameErrorText, nameErrorTable } from "@sluice/contract/name-errors";
import type { NamesEvents } from "./events.ts";
import { type NameOutcome, type NameShape, readName } from "./name.ts";

export interface NamesHttpDependencies {
  readonly answer: (shape: NameShape) => NameOutcome | Promise<NameOutcome>;
  readonly version: () => Promise<object | null>;
  readonly requestId: () => string;
  readonly events: Pick<NamesEvents, "nameAnswered" | "internalError">;
}

/** On every answer, errors and refused methods too (spec: name resolver; any page may ask). */
const sharedHeaders = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers": "X-Request-Id, X-Owner-Warning, X-Handles, X-Domains",
  "Cache-Control": "no-store",
  "Content-Type": "application/json",
} as const;

type Headers = Readonly<Record<string, string>>;

interface Reply {
  readonly status: number;
  readonly body: object;
  readonly headers?: Headers;
}

/** A request handler in the order of the checks: method, route, shape, and only then the chain. It never throws. */
export function createNamesHttp(
  dependencies: NamesHttpDependencies,
): (request: Request, bindings?: { readonly requestId?: string }) => Response | Promise<Response> {
  return (request, bindings) => {
    const id = bindings?.requestId ?? dependencies.requestId();
    const write = ({ status, body, headers }: Reply): Response =>
      new Response(JSON.stringify(body), { status, headers: { ...sharedHeaders, ...headers, "X-Request-Id": id } });
    const fail = (error: unknown): Response => {
      dependencies.events.internalError("names", error);
      return write(errorReply("internal error"));
    };
    try {
      const reply = replyTo(request, dependencies);
      return reply instanceof Promise ? reply.then(write).catch(fail) : write(reply);
    } catch (error) {
      return fail(error);
    }
  };
}

/** An error of the interface, with the status that it has there. */
function errorReply(error: NameErrorText, input?: string, headers?: Headers): Reply {
  const body = { error, ...(input === undefined ? {} : { input }) };
  return { status: nameErrorTable[error].status, body, ...(headers === undefined ? {} : { headers }) };
}

function replyTo(request: Request, dependencies: NamesHttpDependencies): Reply | Promise<Reply> {
  if (request.method !== "GET") return methodRefused(request);
  const route = readRoute(request.url);
  switch (route.kind) {
    case "unknown":
      return errorReply("not found");
    case "health":
      return { status: 200, body: { ok: true } };
    case "version":
      return dependencies
        .version()
        .then((version) => (version === null ? errorReply("rpc unreachable") : { status: 200, body: version }));
    case "undecodable": {
      const { segment } = route;
      dependencies.events.nameAnswered("refused", "shape");
      return errorReply(/^(@|%40)/.test(segment) ? "invalid handle" : "invalid domain", segment);
    }
    case "resolve": {
      const { input } = route;
      const outcome = dependencies.answer(readName(input));
      return outcome instanceof Promise ? outcome.then((settled) => replyOf(settled, input)) : replyOf(outcome, input);
    }
  }
}

/** GET and nothing else: not HEAD, and no preflight, since a simple GET needs none. */
function methodRefused(request: Request): Reply {
  const route = readRoute(request.url);
  const input = route.kind === "resolve" ? route.input : route.kind === "undecodable" ? route.segment : undefined;
  return errorReply("method not allowed", input, { Allow: "GET" });
}

function replyOf(outcome: NameOutcome, input: string): Reply {
  switch (outcome.kind) {
    case "resolved": {
      const { name, namespace, owner, ownerOnCurve } = outcome.resolution;
      const record = { input, name, namespace, owner, verification: "owner" };
      if (ownerOnCurve) return { status: 200, body: record };
      const headers = { "X-Owner-Warning": "not-a-wallet" };
      return { status: 200, body: { ...record, owner_on_curve: false }, headers };
    }
    case "refused":
      return errorReply(outcome.error, input);
    case "absent": {
      const missing = outcome.of === "handle" ? { "X-Handles": "unavailable" } : { "X-Domains": "unavailable" };
      return errorReply(`${outcome.of} not registered`, input, outcome.programMissing ? missing : {});
    }
    case "failed":
      return errorReply(outcome.error, input);
  }
}

/** What a request's path asks for. */
export type NameRoute =
  | { readonly kind: "health" }
  | { readonly kind: "version" }
  | { readonly kind: "resolve"; readonly input: string }
  /** The segment cannot be decoded; it is given as it came. */
  | { readonly kind: "undecodable"; readonly segment: string }
  | { readonly kind: "unknown" };

const resolvePrefix = "/resolve/";

/**
 * Reads the path of a request's URL. The name is one segment, decoded once: a slash, an empty name or a slash behind it
 * is another route. Dot segments are gone before this point, since the server's URL parser resolves them as clients'
 * do; an encoded slash is part of the name.
 */
export function readRoute(url: string): NameRoute {
  const authority = url.indexOf("//");
  const start = authority < 0 ? 0 : url.indexOf("/", authority + 2);
  if (start < 0) return { kind: "unknown" };
  const end = url.slice(start).search(/[?#]/);
  const path = end < 0 ? url.slice(start) : url.slice(start, start + end);
  if (path === "/health") return { kind: "health" };
  if (path === "/version") return { kind: "version" };
  if (!path.startsWith(resolvePrefix)) return { kind: "unknown" };
  const segment = path.slice(resolvePrefix.length);
  if (segment === "" || segment.includes("/")) return { kind: "unknown" };
  try {
    return { kind: "resolve", input: decodeURIComponent(segment) };
  } catch {
    return { kind: "undecodable", segment };
  }
}
