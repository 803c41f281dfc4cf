import type { RestAnswer } from "./exchange.ts";

/** More than any answer that is asked for; an exchange that sends more is not believed. */
const bodyBytesMax = 1024 * 1024;

export type CallOutcome =
  | { readonly kind: "answer"; readonly answer: RestAnswer }
  | { readonly kind: "unreachable" }
  | { readonly kind: "oversized" };

/**
 * One call to an exchange. No redirects: an exchange that moved is configured anew. The body is read up to a bound, and
 * `signal` ends the whole exchange. Never throws.
 */
export async function callExchange(
  request: { readonly method: "GET" | "POST"; readonly url: string; readonly signal: AbortSignal },
  now: () => number,
): Promise<CallOutcome> {
  try {
    const response = await fetch(request.url, {
      method: request.method,
      // One exchange refuses calls that do not say who they are.
      headers: { accept: "application/json", "user-agent": "sluice-oracle" },
      redirect: "error",
      signal: request.signal,
    });
    const text = await readText(response);
    if (text === null) return { kind: "oversized" };
    const header = (name: string): string | null => response.headers.get(name);
    return { kind: "answer", answer: { status: response.status, header, text, receivedAtMs: now() } };
  } catch {
    return { kind: "unreachable" };
  }
}

/** The body as text; null when it is longer than the bound. */
async function readText(response: Response): Promise<string | null> {
  if (response.body === null) return "";
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of response.body) {
    bytes += chunk.byteLength;
    // Leaving the loop cancels the rest of the body.
    if (bytes > bodyBytesMax) return null;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
