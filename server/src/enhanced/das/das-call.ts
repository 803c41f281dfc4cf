import type { ErrorCode } from "@sluice/contract/errors";
import { errorTable } from "@sluice/contract/errors";
import type { JsonValue } from "@sluice/encode";
import { stringifyJsonExact } from "@sluice/wire/json";
import type { Asking } from "../node-calls.ts";

/** A call of DAS, of which the parameters were checked against the method's row. */
export interface DasCall {
  readonly asking: Asking;
  readonly params: { readonly [name: string]: JsonValue | undefined };
}

/**
 * What a call is answered with: the text of a result, an error as a node would give it, or the code of what kept it
 * from being answered, which costs nothing.
 */
export type DasAnswer =
  | { readonly ok: true; readonly result: string }
  | { readonly ok: true; readonly error: { readonly code: number; readonly message: string } }
  | { readonly ok: false; readonly code: ErrorCode; readonly message: string };

/** The result of a value, u64 exact. */
export const result = (value: JsonValue | readonly (JsonValue | null)[]): DasAnswer => ({
  ok: true,
  result: stringifyJsonExact(value as JsonValue),
});

/** Clients of DAS know an asset that there is not by this code. */
export const notFound = (id: string): DasAnswer => ({
  ok: true,
  error: { code: -32000, message: `Asset not found: ${id}` },
});

export const failure = (code: ErrorCode, message: string = errorTable[code].text) =>
  ({ ok: false, code, message }) as const;
