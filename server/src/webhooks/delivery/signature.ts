import { webhookSecretPrefix } from "@sluice/contract/webhooks";
import type { SigningSecrets } from "../model/webhook-secrets.ts";

/** What is signed: one attempt of one delivery. */
export interface SignedContent {
  readonly eventId: string;
  /** Unix seconds of the attempt. */
  readonly timestamp: number;
  readonly body: string;
}

export interface Signatures {
  /** `sha256=` and the hex HMAC-SHA256 of the body, keyed with the bytes of the whole secret text. */
  readonly service: string;
  readonly serviceNext: string | null;
  /** Standard Webhooks: `v1,` and the base64 HMAC-SHA256 of id, timestamp and body; two of them during a rotation. */
  readonly standard: string;
}

/**
 * Both schemes of signatures. Source: specification, node platform, Authentication 4; Standard Webhooks, signature
 * scheme v1, whose id is the event's, so that a receiver can drop what it has seen.
 */
export function signaturesOf({ present, next }: SigningSecrets, content: SignedContent): Signatures {
  const standard = standardSignature(present, content);
  return {
    service: serviceSignature(present, content.body),
    serviceNext: next === null ? null : serviceSignature(next, content.body),
    standard: next === null ? standard : `${standard} ${standardSignature(next, content)}`,
  };
}

const serviceSignature = (secret: string, body: string): string => `sha256=${hmac(secret, body).digest("hex")}`;

function standardSignature(secret: string, { eventId, timestamp, body }: SignedContent): string {
  const text = secret.startsWith(webhookSecretPrefix) ? secret.slice(webhookSecretPrefix.length) : secret;
  return `v1,${hmac(Buffer.from(text, "base64"), `${eventId}.${timestamp}.${body}`).digest("base64")}`;
}

/** The runtime's own, which takes 1.0 µs for 1,100 bytes where createHmac takes 1.6 (Bun 1.4.4). */
const hmac = (key: string | Uint8Array, text: string): Bun.CryptoHasher =>
  new Bun.CryptoHasher("sha256", key).update(text);
