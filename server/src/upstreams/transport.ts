/** What came of one exchange with one node, before anything is made of its bytes. */
export type ExchangeOutcome =
  | { readonly kind: "answered"; readonly status: number; readonly bytes: Uint8Array }
  | { readonly kind: "timeout" | "unreachable" | "too-large" };

export interface ExchangeTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface ExchangeOptions {
  readonly deadlineMs: number;
  readonly answerBytesMax: number;
  /**
   * A connection of its own. A kept connection may have been closed by the node a moment ago, and what was written to it
   * is lost without a sign; a read can be repeated then, a write must not be.
   */
  readonly ownConnection: boolean;
}

/**
 * Posts `body` to a node and reads the whole answer, both within the deadline. Never throws. A body of unknown length is
 * counted while it is read, so that no node can fill the memory.
 */
export async function exchange(
  target: ExchangeTarget,
  body: string,
  options: ExchangeOptions,
): Promise<ExchangeOutcome> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), options.deadlineMs);
  try {
    const response = await fetch(target.url, {
      method: "POST",
      headers: target.headers,
      body,
      redirect: "manual",
      signal: controller.signal,
      keepalive: !options.ownConnection,
    });
    const bytes = await readBounded(response, options.answerBytesMax);
    if (bytes === null) {
      controller.abort();
      return { kind: "too-large" };
    }
    return { kind: "answered", status: response.status, bytes };
  } catch {
    return { kind: controller.signal.aborted ? "timeout" : "unreachable" };
  } finally {
    clearTimeout(timer);
  }
}

async function readBounded(response: Response, bytesMax: number): Promise<Uint8Array | null> {
  const stated = response.headers.get("content-length");
  // A compressed answer states its packed length; only what arrives counts then.
  if (stated !== null && response.headers.get("content-encoding") === null) {
    return Number(stated) > bytesMax ? null : new Uint8Array(await response.arrayBuffer());
  }
  if (response.body === null) return new Uint8Array(0);
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body) {
    length += chunk.byteLength;
    if (length > bytesMax) return null;
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, length);
}
