import type { MeasuredResult } from "./c-api.ts";

/** What the process asks of the thread of a measured statement, and what it is told. */
export interface MeasuredOrder {
  readonly directory: string;
  readonly preparation: readonly string[];
  readonly sql: string;
  readonly format: string;
}

export type MeasuredAnswer =
  | { readonly ok: true; readonly result: MeasuredResult }
  | { readonly ok: false; readonly error: string };
