import { CodedError } from "@sluice/contract/errors";
import { type OracleErrorCode, oracleErrorTable } from "@sluice/contract/oracle";
import { type Json, jsonText } from "../model/json.ts";

/** The two interfaces of the oracle: `/api/v1` is v1, `/v1` is v2. */
export type Variant = "v1" | "v2";

/** The refusal or the failure of a request. It is thrown, and written once in the form of the request's variant. */
export class OracleError extends CodedError<OracleErrorCode, Readonly<Record<string, Json>>> {
  /** Whole seconds; every 429 and 503 has it. */
  readonly retryAfterSeconds: number | null;
  /** The methods that the path takes, for 405. */
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
    super(code, { message: options.message ?? text, details: options.details ?? {} });
    const isBusy = status === 429 || status === 503;
    this.retryAfterSeconds = isBusy ? Math.max(1, Math.ceil(options.retryAfterSeconds ?? 1)) : null;
    this.allow = options.allow ?? [];
  }

  get status(): number {
    return oracleErrorTable[this.code].status;
  }
}

/** The body of an error, in the form of the variant (spec: oracle, Errors). */
export function errorBody({ code, message, details }: OracleError, variant: Variant, timestamp: string): string {
  return variant === "v1"
    ? jsonText({ success: false, error: code, message, details, timestamp })
    : jsonText({ error: { code, message, details }, timestamp });
}
