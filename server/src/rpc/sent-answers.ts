import { parseJsonExact } from "@sluice/wire/json";
import type { NodeAnswer, UpstreamCall, UpstreamPool } from "../upstreams/index.ts";

type Pool = Pick<UpstreamPool, "call">;

/** A node's answer to our own call as text, with an id put where the caller's stands. */
export function textOf(answer: NodeAnswer): string {
  const { body } = answer;
  // Such calls are made without leave to hand out what is still coming.
  if (body.kind === "large") throw new TypeError("a large answer is no text");
  if (body.kind === "text") return `${body.head}0${body.tail}`;
  const decoder = new TextDecoder();
  return `${decoder.decode(body.head)}0${decoder.decode(body.tail)}`;
}

function resultIn(text: string): unknown {
  const parsed = parseJsonExact(text);
  if (!parsed.ok || typeof parsed.value !== "object" || parsed.value === null) return null;
  return (parsed.value as { result?: unknown }).result ?? null;
}

/** The signature that sendTransaction answered; null for anything else. */
export function signatureIn(text: string): string | null {
  const result = resultIn(text);
  return typeof result === "string" && /^[1-9A-HJ-NP-Za-km-z]{64,88}$/.test(result) ? result : null;
}

/** The slot that a result names among its own members, as getTransaction's does; null where it names none. */
export function slotInResult(text: string): bigint | null {
  const result = resultIn(text);
  const slot = typeof result === "object" && result !== null && "slot" in result ? result.slot : null;
  return typeof slot === "number" || typeof slot === "bigint" ? BigInt(slot) : null;
}

const call = (method: string, params: string): UpstreamCall => ({
  method,
  params,
  kind: "read",
  commitment: "processed",
  minimumSlot: null,
});

async function ask(pool: Pool, asked: UpstreamCall): Promise<unknown> {
  const outcome = await pool.call(asked);
  return outcome.ok && outcome.answer.errorCode === null ? resultIn(textOf(outcome.answer)) : null;
}

/** The confirmed block height; null when no node answers. */
export async function readHeight(pool: Pool): Promise<bigint | null> {
  const height = await ask(pool, call("getBlockHeight", '[{"commitment":"confirmed"}]'));
  return typeof height === "number" || typeof height === "bigint" ? BigInt(height) : null;
}

export interface SentStatus {
  readonly slot: bigint;
  readonly commitment: "processed" | "confirmed" | "finalized";
  readonly isFailed: boolean;
}

function statusOf(value: unknown): SentStatus | null {
  if (typeof value !== "object" || value === null) return null;
  const { slot, confirmationStatus, err } = value as { slot?: unknown; confirmationStatus?: unknown; err?: unknown };
  if (typeof slot !== "number" && typeof slot !== "bigint") return null;
  const commitment =
    confirmationStatus === "confirmed" || confirmationStatus === "finalized" ? confirmationStatus : "processed";
  return { slot: BigInt(slot), commitment, isFailed: err !== null && err !== undefined };
}

/**
 * What the chain knows of each signature, in their order; null when no node answers. Of what was final some minutes ago
 * a node knows only when it looks back into its history, which is dear.
 */
export async function readStatuses(
  pool: Pool,
  signatures: readonly string[],
  { looksBack }: { readonly looksBack: boolean },
): Promise<readonly (SentStatus | null)[] | null> {
  const config = looksBack ? [{ searchTransactionHistory: true }] : [];
  const result = await ask(pool, call("getSignatureStatuses", JSON.stringify([signatures, ...config])));
  if (typeof result !== "object" || result === null) return null;
  const { value } = result as { value?: unknown };
  return Array.isArray(value) && value.length === signatures.length ? value.map(statusOf) : null;
}
