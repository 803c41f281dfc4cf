import { type OracleErrorCode, oracleErrorTable } from "@sluice/contract/oracle";
import { type Json, jsonText } from "../model/json.ts";

export type Variant = "v1" | "v2";

/** Why a request is not answered, before it is written in the form of its variant. */
export class OracleFailure {
  readonly code: OracleErrorCode;
  readonly message: string;
  readonly details: Readonly<Record<string, Json>>;
  /** Whole seconds; every 429 and 503 carries it. */
  readonly retryAfterSeconds: number | null;
  /** Methods that the path takes, for 405. */
  readonly allow: readonly string[];

  constructor(
    code: OracleErrorCode,
    options: {
      readonly message?: string;
      readonly details?: Readonly<Record<string, Json>>;
      readonly retryAfterSeconds?: number;
      readonly allow?: readonly string[];
    } = {},
  ) {
    const { status, text } = oracleErrorTable[code];
    this.code = code;
    this.message = options.message ?? text;
    this.details = options.details ?? {};
    const isBusy = status === 429 || status === 503;
    this.retryAfterSeconds = isBusy ? Math.max(1, Math.ceil(options.retryAfterSeconds ?? 1)) : null;
    this.allow = options.allow ?? [];
  }

  get status(): number {
    return oracleErrorTable[this.code].status;
  }
}

/** The body of a failure, each variant in its own form (spec: oracle, Errors). */
export function failureBody(failure: OracleFailure, variant: Variant, timestamp: string): string {
  const { code, message, details } = failure;
  return variant === "v1"
    ? jsonText({ success: false, error: code, message, details, timestamp })
    : jsonText({ error: { code, message, details }, timestamp });
}
