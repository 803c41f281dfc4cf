import { redactUrl } from "../http/index.ts";

/** A node, or the nodes of a network, as the resolver asks them. */
export interface ChainNode {
  /** For people: which node it is, without secrets. */
  readonly shown: string;
  /** The result of a call; undefined for every kind of failure, such as no connection, too late, or an error. */
  call(method: string, params: unknown): Promise<unknown>;
}

export interface HttpNodeOptions {
  readonly rpcUrl: string;
  /** For the whole exchange, the answer's last byte included; 5 s unless said otherwise. */
  readonly timeoutMs?: number;
}

/** For one call to a node, its answer's last byte included. */
export const callTimeoutMs = 5_000;
/** An answer to the resolver's calls is some kilobytes; a list of registries may be longer. */
export const answerBytesMax = 1024 * 1024;

/**
 * The way out, which is the platform's `fetch` handed in by the composition. chain's own call is not used: it takes an
 * answer whatever its HTTP status and reads it whole before it looks at its size, and a name is money.
 */
export type PostJson = (url: string, init: RequestInit) => Promise<Response>;

/** One node by its URL, whose user info goes into a header; redirects are refused. */
export function httpNode(options: HttpNodeOptions, dependencies: { readonly post: PostJson }): ChainNode {
  const { timeoutMs = callTimeoutMs } = options;
  const { url, headers } = splitCredentials(options.rpcUrl);
  let nextId = 1;
  const exchange = async (body: string): Promise<unknown> => {
    const response = await postOnce(dependencies.post, url, {
      method: "POST",
      headers,
      body,
      redirect: "error",
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      return undefined;
    }
    return JSON.parse(await readText(response, answerBytesMax));
  };
  const call: ChainNode["call"] = async (method, params) => {
    const id = nextId++;
    try {
      const answer = await exchange(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
      // An answer under another id belongs to another call: a cache in between that mixes them up must not name an
      // owner.
      if (member(answer, "jsonrpc") !== "2.0" || member(answer, "id") !== id) return undefined;
      const error = member(answer, "error");
      return error === undefined || error === null ? member(answer, "result") : undefined;
    } catch {
      return undefined;
    }
  };
  return { shown: redactUrl(options.rpcUrl), call };
}

function splitCredentials(rpcUrl: string): { url: string; headers: Record<string, string> } {
  const parsed = new URL(rpcUrl);
  const headers: Record<string, string> = { "content-type": "application/json", accept: "application/json" };
  if (parsed.username !== "" || parsed.password !== "") {
    const pair = `${decoded(parsed.username)}:${decoded(parsed.password)}`;
    headers["authorization"] = `Basic ${Buffer.from(pair).toString("base64")}`;
    parsed.username = "";
    parsed.password = "";
  }
  return { url: parsed.href, headers };
}

/** User info that is no percent-encoding is taken as it was typed. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A node may close an idle connection just as it is used again; fetch repeats a GET then, and not a POST. */
async function postOnce(post: PostJson, url: string, init: RequestInit): Promise<Response> {
  try {
    return await post(url, init);
  } catch (error) {
    if (member(error, "code") !== "ECONNRESET") throw error;
    return await post(url, init);
  }
}

/** The whole body as text; throws RangeError past `bytesMax` without reading on, TypeError when it is no UTF-8. */
async function readText(response: Response, bytesMax: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > bytesMax) throw new RangeError(`the answer is larger than ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  return new TextDecoder("utf-8", { fatal: true }).decode(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
}

/** A member of an object that was parsed, its own; undefined without it. */
export function member(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return Object.hasOwn(value, name) ? Object.getOwnPropertyDescriptor(value, name)?.value : undefined;
}
