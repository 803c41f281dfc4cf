import { type Exact, readExact } from "../exact.ts";

/**
 * Verifies what a webhook receives. Needs WebCrypto alone, and so runs in Node, Bun, Deno, browsers and edge runtimes.
 */

/** The body of a delivery, with the whole numbers of the chain as bigint. */
export interface WebhookEvent {
  /** Equal for the same event, however often it is delivered: what was seen before can be dropped by it. */
  readonly event_id: string;
  readonly event: string;
  /** ISO 8601: the time of the block. */
  readonly timestamp: string;
  readonly network: string;
  readonly data: Exact<Record<string, unknown>>;
}

/** Why a delivery is not taken; each is answered with a status other than 2xx. */
export type WebhookFault = "MISSING_HEADER" | "STALE" | "SIGNATURE_MISMATCH" | "MALFORMED_BODY" | "MALFORMED_SECRET";

const sentences: Readonly<Record<WebhookFault, string>> = {
  MISSING_HEADER: "The request lacks webhook-id, webhook-timestamp or webhook-signature",
  STALE: "The timestamp of the request is too far from the present time: it may be replayed",
  SIGNATURE_MISMATCH: "No signature of the request fits its body and the secret",
  MALFORMED_BODY: "The body is signed, and is no event in JSON",
  MALFORMED_SECRET: "The secret is not whsec_ and base64",
};

/** A delivery that must not be believed. */
export class WebhookVerificationError extends Error {
  readonly code: WebhookFault;

  constructor(code: WebhookFault) {
    super(sentences[code]);
    this.name = "WebhookVerificationError";
    this.code = code;
  }
}

/** Headers as `fetch` has them, or as an object of Node's `http`. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** A delivery as it came, and what it is verified with. */
export interface VerifyWebhookOptions {
  /** The secret of the webhook; several while one is being replaced. */
  readonly secret: string | readonly string[];
  readonly headers: WebhookHeaders;
  /** The body as it came, byte for byte: what was parsed and written again does not verify. */
  readonly body: string | Uint8Array;
  /** How far the timestamp may be from the present time; 300 when absent. */
  readonly toleranceSeconds?: number;
  /** The present time in Unix milliseconds; the system's when absent. */
  readonly now?: number;
}

const toleranceDefault = 300;
/** Two during a rotation; more than these are not looked at. */
const signaturesMax = 8;

/**
 * Checks the signature and the time of a delivery, and reads its event.
 *
 * @throws {WebhookVerificationError}
 */
export async function verifyWebhook(options: VerifyWebhookOptions): Promise<WebhookEvent> {
  const { secret, headers, toleranceSeconds = toleranceDefault, now = Date.now() } = options;
  const body = typeof options.body === "string" ? new TextEncoder().encode(options.body) : options.body;
  const id = required(headers, "webhook-id");
  const stamp = required(headers, "webhook-timestamp");
  const signatures = required(headers, "webhook-signature").split(" ").slice(0, signaturesMax);
  const seconds = /^\d{1,12}$/.test(stamp) ? Number(stamp) : Number.NaN;
  if (!(Math.abs(now / 1_000 - seconds) <= toleranceSeconds)) throw new WebhookVerificationError("STALE");
  const head = new TextEncoder().encode(`${id}.${stamp}.`);
  const content = new Uint8Array(head.length + body.length);
  content.set(head);
  content.set(body, head.length);
  for (const each of typeof secret === "string" ? [secret] : secret) {
    if (await isSigned(content, each, signatures)) return readEvent(body);
  }
  throw new WebhookVerificationError("SIGNATURE_MISMATCH");
}

function required(headers: WebhookHeaders, name: string): string {
  const value = headerOf(headers, name);
  if (value === null || value === "") throw new WebhookVerificationError("MISSING_HEADER");
  return value;
}

function headerOf(headers: WebhookHeaders, name: string): string | null {
  if (typeof headers.get === "function") return headers.get(name);
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  if (typeof found === "string") return found;
  return Array.isArray(found) && typeof found[0] === "string" ? found[0] : null;
}

/** `subtle.verify` compares without telling by its time where two signatures differ. */
async function isSigned(content: Uint8Array, secret: string, signatures: readonly string[]): Promise<boolean> {
  const bytes = secret.startsWith("whsec_") ? fromBase64(secret.slice("whsec_".length)) : null;
  if (bytes === null || bytes.length === 0) throw new WebhookVerificationError("MALFORMED_SECRET");
  const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
  for (const text of signatures) {
    const [version, encoded = ""] = text.split(",", 2);
    const signature = version === "v1" ? fromBase64(encoded) : null;
    if (signature !== null && (await crypto.subtle.verify("HMAC", key, signature, new Uint8Array(content))))
      return true;
  }
  return false;
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  } catch {
    return null;
  }
}

function readEvent(body: Uint8Array): WebhookEvent {
  try {
    const event = readExact(new TextDecoder("utf-8", { fatal: true }).decode(body));
    if (isEvent(event)) return event;
  } catch {
    // What is signed and no JSON is told as what is signed and no event.
  }
  throw new WebhookVerificationError("MALFORMED_BODY");
}

function isEvent(value: unknown): value is WebhookEvent {
  if (typeof value !== "object" || value === null) return false;
  const { event_id, event, timestamp, network, data }: Record<string, unknown> = { ...value };
  const texts = [event_id, event, timestamp, network];
  return texts.every((text) => typeof text === "string") && typeof data === "object" && data !== null;
}
