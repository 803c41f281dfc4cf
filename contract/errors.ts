/**
 * What every error table states of a code: its HTTP status, and a text that clients are shown and that holds no
 * internals.
 */
export interface StatusDefinition {
  readonly status: number;
  readonly text: string;
}

/** One row of `engineErrorTable` and `oracleErrorTable`. */
export const defineStatus = (status: number, text: string): StatusDefinition => ({ status, text });

/** One row of `errorTable`. */
export interface ErrorDefinition extends StatusDefinition {
  /**
   * The JSON-RPC code where the failure is answered inside JSON-RPC. Solana's codes -32001 to -32021 are never reused.
   */
  readonly rpcCode: number;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
}

const define = (status: number, rpcCode: number, retryable: boolean, text: string): ErrorDefinition => ({
  status,
  rpcCode,
  retryable,
  text,
});

/**
 * The error codes of the gateway's endpoints: JSON-RPC, PubSub, REST and the console. Append-only: a code never changes
 * its meaning. docs/reference/errors.md is generated from it.
 */
export const errorTable = {
  // The request itself
  PARSE_ERROR: define(400, -32700, false, "Parse error"),
  INVALID_REQUEST: define(400, -32600, false, "Invalid request"),
  METHOD_NOT_FOUND: define(200, -32601, false, "Method not found"),
  INVALID_PARAMS: define(200, -32602, false, "Invalid params"),
  INVALID_INPUT: define(400, -33400, false, "The request has invalid fields"),
  NOT_FOUND: define(404, -33404, false, "Not found"),
  METHOD_NOT_ALLOWED: define(405, -33405, false, "Method not allowed"),
  CONFLICT: define(409, -33409, false, "The request conflicts with the present state"),
  CURSOR_INVALID: define(400, -33420, false, "The cursor is not one of this chain"),
  CURSOR_EXPIRED: define(410, -33410, false, "What follows the cursor is no longer held"),
  BODY_TOO_LARGE: define(413, -33414, false, "The request body is too large"),
  UNSUPPORTED_MEDIA_TYPE: define(415, -33415, false, "Content-Type must be application/json"),
  // Keys and what they may do, in the order in which they are checked
  INVALID_API_KEY: define(401, -33401, false, "The API key is missing or invalid"),
  KEY_INACTIVE: define(401, -33411, false, "The API key is not active"),
  NETWORK_NOT_ALLOWED: define(403, -33403, false, "The API key may not use this network"),
  DOMAIN_NOT_ALLOWED: define(403, -33413, false, "The API key may not be used from this domain"),
  IP_NOT_ALLOWED: define(403, -33423, false, "The API key may not be used from this address"),
  PERMISSION_DENIED: define(403, -33433, false, "The API key lacks the permission for this"),
  METHOD_NOT_PERMITTED: define(403, -33443, false, "The API key may not call this method"),
  RATE_LIMIT_EXCEEDED: define(429, -33429, true, "Rate limit exceeded"),
  BATCH_TOO_LARGE_FOR_RATE: define(413, -33430, false, "The batch holds more calls than the key's burst"),
  INSUFFICIENT_CREDITS: define(402, -33402, false, "The account has too few credits left this month"),
  TIER_REQUIRED: define(403, -33453, false, "The account's tier does not include this"),
  // Digital assets
  ASSET_PROOF_UNAVAILABLE: define(200, -33487, false, "The proof of the asset cannot be told"),
  // SQL
  SQL_SYNTAX: define(400, -33460, false, "The SQL cannot be read"),
  SQL_NOT_ALLOWED: define(403, -33461, false, "The SQL holds something that is not allowed"),
  SQL_INVALID: define(400, -33462, false, "The SQL cannot be run"),
  SQL_TIMEOUT: define(422, -33463, false, "The query took longer than a query may"),
  SQL_READ_LIMIT: define(422, -33464, false, "The query reads more than a query may"),
  SQL_MEMORY_LIMIT: define(422, -33465, false, "The query needs more memory than a query may have"),
  SQL_ROWS_LIMIT: define(422, -33466, false, "The result has more rows than it may"),
  SQL_RESULT_LIMIT: define(422, -33467, false, "The result has more bytes than it may"),
  SQL_ACCOUNT_BUSY: define(429, -33468, true, "The account has as many queries under way as it may"),
  SQL_BUSY: define(503, -33469, true, "Too many queries run; try again shortly"),
  // Indexed history
  TRANSACTION_NOT_FOUND: define(404, -33424, false, "The ledger holds no such transaction"),
  BLOCK_NOT_FOUND: define(404, -33434, false, "The ledger holds no block of this slot"),
  // Enhanced API
  ENHANCED_API_DISABLED: define(403, -33480, false, "The API key may not use the enhanced API"),
  PARSING_FAILED: define(500, -33481, true, "The transaction could not be parsed"),
  TOKEN_NOT_FOUND: define(404, -33482, false, "There is no token with this mint"),
  NFT_NOT_FOUND: define(404, -33483, false, "There is no NFT with this address"),
  IDENTITY_NOT_FOUND: define(404, -33484, false, "Nothing is known of this address"),
  BALANCE_NOT_HELD: define(404, -33485, false, "The ledger does not reach back to this balance"),
  FUNDING_NOT_FOUND: define(404, -33486, false, "The ledger does not hold where this wallet was first funded from"),
  // Nodes
  NETWORK_UNAVAILABLE: define(503, -33503, true, "No node is available for this network"),
  UPSTREAM_TIMEOUT: define(504, -33504, true, "The node did not answer in time"),
  UPSTREAM_INVALID: define(502, -33502, true, "The node answered with something that is not JSON-RPC"),
  UPSTREAM_LIMITED: define(503, -33523, true, "The network's nodes take no more calls for now"),
  OVERLOADED: define(503, -33513, true, "The server is busy; try again shortly"),
  STORE_UNAVAILABLE: define(503, -33533, true, "The server's store is not available; try again later"),
  // Streams
  COMMITMENT_UNAVAILABLE: define(400, -33470, false, "The channel is not told at this commitment"),
  SUBSCRIPTION_LIMIT: define(409, -33471, false, "The connection holds as many subscriptions as it may"),
  REPLAY_TOO_SLOW: define(422, -33472, false, "The replay does not come nearer to the head of the chain"),
  STREAM_UNAVAILABLE: define(503, -33543, true, "Streams of this network are not served here now"),
  // Ourselves
  INTERNAL_ERROR: define(500, -33500, true, "Internal error"),
} as const satisfies Record<string, ErrorDefinition>;

export type ErrorCode = keyof typeof errorTable;

/** The path of the page that explains every code, on the gateway. */
export const errorDocsPage = "/docs/errors";

/** Where the docs page of a code lives, relative to a server's own base address; RFC 9457 `type`. */
export function errorDocsPath(code: ErrorCode): string {
  return `${errorDocsPage}#${code.toLowerCase().replaceAll("_", "-")}`;
}

/** What a `CodedError` is created with, beside its code. */
export interface CodedErrorOptions<Details extends object> {
  /** One sentence for a log or a person. Programs match `code`, never this text. */
  readonly message: string;
  /** The payload of the code. */
  readonly details: Details;
  /** The error that led to this one. It is logged and never shown to a client. */
  readonly cause?: unknown;
}

/**
 * The base class of every error that Sluice throws on purpose: a code from a closed set and the typed payload of it.
 *
 * An outcome that a correct caller expects (not found, limited, out of credits, a lost race, an input that does not
 * parse) is a value, `{ ok: true, ... } | { ok: false, code, ... }`, so that the compiler asks for both branches. An
 * error is thrown where the function has no answer that its caller can use locally: a dependency failed, a promise of
 * the caller was broken, or the answer ends the request and is mapped once, at the endpoint.
 *
 * A subclass has one set of codes per module. Code that catches one compares `error.code`.
 */
export abstract class CodedError<
  Code extends string,
  Details extends object = Readonly<Record<string, unknown>>,
> extends Error {
  readonly code: Code;
  readonly details: Details;

  constructor(code: Code, options: CodedErrorOptions<Details>) {
    super(options.message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.details = options.details;
  }
}

/** A failure with a code of `errorTable`. `details` is public; `cause` is not. An endpoint maps it to its own form. */
export class SluiceError extends CodedError<ErrorCode> {
  constructor(
    code: ErrorCode,
    options: { message?: string; details?: Readonly<Record<string, unknown>>; cause?: unknown } = {},
  ) {
    super(code, { message: errorTable[code].text, details: {}, ...options });
  }
}
