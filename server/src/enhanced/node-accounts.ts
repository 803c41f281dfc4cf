import { createHash } from "node:crypto";
import type { ErrorCode } from "@sluice/contract/errors";
import type { JsonValue } from "@sluice/encode";
import { type Asking, callNode, type NodeCallDependencies } from "./node-calls.ts";

/** An account as it was read. */
export interface ShownAccount {
  /** The program that owns it. */
  readonly program: string;
  readonly data: Uint8Array;
}

/** Accounts in the order of their addresses, null for one that is not there, at a slot; or why there are none. */
export type AccountsRead =
  | { readonly ok: true; readonly slot: bigint | null; readonly accounts: readonly (ShownAccount | null)[] }
  | { readonly ok: false; readonly code: ErrorCode };

/** Accounts of one call. */
export const accountsOfCallMax = 100;

/** The digest of addresses that programs derive. */
export const sha256 = (bytes: Uint8Array): Uint8Array => createHash("sha256").update(bytes).digest();

/** Confirmed accounts by at most 100 addresses. An answer with another number of accounts is UPSTREAM_INVALID. */
export async function readAccounts(
  dependencies: NodeCallDependencies,
  asking: Asking,
  addresses: readonly string[],
): Promise<AccountsRead> {
  const call = {
    method: "getMultipleAccounts",
    params: [addresses, { commitment: "confirmed", encoding: "base64" }],
  };
  const answer = await callNode(dependencies, asking, call);
  if (!answer.ok) return answer;
  const value = memberOf(answer.result, "value");
  if (!Array.isArray(value) || value.length !== addresses.length) return { ok: false, code: "UPSTREAM_INVALID" };
  return { ok: true, slot: contextSlotOf(answer.result), accounts: value.map(accountOf) };
}

function accountOf(value: JsonValue): ShownAccount | null {
  const data = memberOf(value, "data");
  const [text] = Array.isArray(data) ? data : [];
  const program = memberOf(value, "owner");
  if (typeof text !== "string" || typeof program !== "string") return null;
  return { program, data: Buffer.from(text, "base64") };
}

/** The slot of an answer with a context. */
export function contextSlotOf(result: JsonValue): bigint | null {
  const slot = memberOf(memberOf(result, "context"), "slot");
  return typeof slot === "bigint" || (typeof slot === "number" && Number.isSafeInteger(slot)) ? BigInt(slot) : null;
}

/** A member of an object; undefined where there is none, or the value is no object. */
export function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return (value as { readonly [member: string]: JsonValue })[name];
}
