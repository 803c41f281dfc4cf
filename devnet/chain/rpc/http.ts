import { answerBody, type Dispatch } from "./json-rpc.ts";

const contentTypes: ReadonlySet<string> = new Set([
  "application/json",
  "application/json; charset=utf-8",
  "application/json;charset=utf-8",
]);

interface RpcHttpOptions {
  /** Bytes of a body; 51,200 unless configured. */
  readonly bodyBytesMax: number;
}

export const defaultBodyBytesMax = 51_200;

/** Headers that a browser needs; only a request that names its origin gets them. */
function corsHeaders(request: Request): Record<string, string> {
  const origin = request.headers.get("origin");
  if (origin === null) return {};
  const requestedHeaders = request.headers.get("access-control-request-headers");
  return {
    "access-control-allow-origin": origin,
    vary: "origin",
    ...(request.method === "OPTIONS" && {
      "access-control-max-age": "86400",
      "access-control-allow-methods": "OPTIONS, POST",
      ...(requestedHeaders !== null && { "access-control-allow-headers": requestedHeaders }),
    }),
  };
}

function plain(request: Request, status: number, text: string): Response {
  const headers = { "content-type": "text/plain; charset=utf-8", ...corsHeaders(request) };
  return new Response(text, { status, headers });
}

/** Position of the first byte that is no UTF-8. */
function utf8Fault(bytes: Uint8Array): number {
  let low = 0;
  let high = bytes.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    try {
      new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, middle), { stream: true });
      low = middle;
    } catch {
      high = middle - 1;
    }
  }
  return low;
}

/** Reads at most `max` bytes; null when there are more. */
async function readBody(request: Request, max: number): Promise<Uint8Array | null> {
  const stated = request.headers.get("content-length");
  // A body of a stated length is never longer, and is there as a whole sooner than its parts are as a stream.
  if (stated !== null) return Number(stated) > max ? null : await request.bytes();
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of request.body ?? []) {
    length += part.length;
    if (length > max) return null;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** The path of an absolute URL, as the server gives it. */
function pathOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("//") + 2);
  const end = url.indexOf("?", start);
  return end < 0 ? url.slice(start) : url.slice(start, end);
}

/**
 * Answers one HTTP request as a node does: JSON-RPC by POST on any path, `/health` and the two supply paths by any
 * method. `text` answers the latter. Source: Solana JSON-RPC, transport rules.
 */
export async function answerHttp(
  request: Request,
  dispatch: Dispatch,
  text: (path: string) => string | null,
  options: RpcHttpOptions,
): Promise<Response> {
  const special = text(pathOf(request.url));
  if (special !== null) return plain(request, 200, special);
  if (request.method === "OPTIONS") {
    const headers = { allow: "OPTIONS, POST", accept: "application/json", ...corsHeaders(request) };
    return new Response(null, { status: 200, headers });
  }
  if (request.method !== "POST") {
    return plain(request, 405, "Used HTTP Method is not allowed. POST or OPTIONS is required\n");
  }
  if (!contentTypes.has((request.headers.get("content-type") ?? "").toLowerCase())) {
    const required = "Supplied content type is not allowed. Content-Type: application/json is required\n";
    return plain(request, 415, required);
  }
  const body = await readBody(request, options.bodyBytesMax);
  if (body === null) return plain(request, 413, "request body size exceeds allowed maximum");
  let json: string;
  try {
    json = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return plain(request, 400, `utf-8 encoding error at byte ${utf8Fault(body)} in request body`);
  }
  const answer = await answerBody(json, dispatch);
  const headers = { "content-type": "application/json; charset=utf-8", ...corsHeaders(request) };
  return new Response(answer === null ? "" : `${answer}\n`, { status: 200, headers });
}
