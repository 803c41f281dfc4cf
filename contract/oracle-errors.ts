/**
 * The codes of the oracle's own error bodies. Both variants have the same; only the form of the body differs. Append-only.
 */
export interface OracleErrorDefinition {
  readonly status: number;
  readonly text: string;
}

const define = (status: number, text: string): OracleErrorDefinition => ({ status, text });

export const oracleErrorTable = {
  INVALID_PARAMETER: define(400, "A parameter is invalid"),
  TOO_MANY_SYMBOLS: define(400, "Too many symbols in one request"),
  MISSING_API_KEY: define(401, "An API key is required"),
  INVALID_API_KEY: define(401, "The API key is invalid or not active"),
  INSUFFICIENT_TIER: define(403, "The subscription does not include this"),
  PERMISSION_DENIED: define(403, "The API key may not be used for this"),
  INVALID_SYMBOL: define(404, "The symbol is not supported"),
  NOT_FOUND: define(404, "The resource does not exist"),
  METHOD_NOT_ALLOWED: define(405, "Method not allowed"),
  UPGRADE_REQUIRED: define(426, "This path speaks WebSocket"),
  RATE_LIMIT_EXCEEDED: define(429, "Rate limit exceeded"),
  QUOTA_EXCEEDED: define(429, "The month's requests are used up"),
  INTERNAL_ERROR: define(500, "Oracle system error"),
  PRICE_UNAVAILABLE: define(503, "No price that enough sources agree on"),
  SERVICE_UNAVAILABLE: define(503, "The oracle is temporarily unavailable"),
} as const satisfies Record<string, OracleErrorDefinition>;

export type OracleErrorCode = keyof typeof oracleErrorTable;
export const oracleErrorCodes: readonly OracleErrorCode[] = Object.keys(oracleErrorTable).filter(
  (code): code is OracleErrorCode => code in oracleErrorTable,
);
