import {
  type BundleReason,
  bundleReasonStatus,
  bundleReasonTexts,
  type EngineErrorCode,
  engineErrorTable,
} from "@sluice/contract/engine";
import { engineErrorDocsPath } from "@sluice/contract/engine-errors-guide";
import { CodedError, type ErrorCode, SluiceError } from "@sluice/contract/errors";
import { type InputFault, retryAfter } from "../../http/index.ts";

/** A refusal as the REST endpoint shows it: a code of the engine's own table, or the reason of a bundle. */
export interface ShownFailure {
  readonly code: EngineErrorCode | BundleReason;
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  /** Whole seconds; every 429 and 503 has it. */
  readonly retryAfterSeconds: number | null;
  readonly errors: readonly InputFault[];
  /** The last lines that a failed transaction logged. */
  readonly logs: readonly string[];
  /** What a body may be coded with, where its coding is what is refused. */
  readonly acceptEncoding: string | null;
}

/** The parts of a failure that its code does not determine. */
interface FailureParts {
  readonly detail?: string | null;
  readonly retryAfterSeconds?: number;
  readonly errors?: readonly InputFault[];
  readonly logs?: readonly string[];
  readonly acceptEncoding?: string;
}

function shown(code: ShownFailure["code"], status: number, title: string, said: FailureParts): ShownFailure {
  const isBusy = status === 429 || status === 503;
  return {
    code,
    status,
    title,
    detail: said.detail ?? title,
    retryAfterSeconds: isBusy ? retryAfter(said.retryAfterSeconds ?? 1) : null,
    errors: said.errors ?? [],
    logs: said.logs ?? [],
    acceptEncoding: said.acceptEncoding ?? null,
  };
}

export function engineFailure(code: EngineErrorCode, said: FailureParts = {}): ShownFailure {
  const { status, text } = engineErrorTable[code];
  return shown(code, status, text, said);
}

export function bundleFailure(reason: BundleReason, said: FailureParts = {}): ShownFailure {
  const title = bundleReasonTexts[reason];
  return shown(reason, bundleReasonStatus(reason), title, { ...said, detail: said.detail ?? title });
}

/** A refusal that ends a request; its details are the answer. */
export class EngineRefusal extends CodedError<ShownFailure["code"], ShownFailure> {
  constructor(failure: ShownFailure) {
    super(failure.code, { message: failure.detail, details: failure });
  }
}

/** What the codes of the server's other rooms are called here; what is not listed is a fault of this engine. */
const engineCodes: Readonly<Partial<Record<ErrorCode, EngineErrorCode>>> = {
  PARSE_ERROR: "INVALID_INPUT",
  INVALID_REQUEST: "INVALID_INPUT",
  INVALID_INPUT: "INVALID_INPUT",
  NOT_FOUND: "NOT_FOUND",
  METHOD_NOT_ALLOWED: "METHOD_NOT_ALLOWED",
  BODY_TOO_LARGE: "BODY_TOO_LARGE",
  UNSUPPORTED_MEDIA_TYPE: "UNSUPPORTED_MEDIA_TYPE",
  KEY_INACTIVE: "INVALID_API_KEY",
  INVALID_API_KEY: "INVALID_API_KEY",
  NETWORK_NOT_ALLOWED: "PERMISSION_DENIED",
  DOMAIN_NOT_ALLOWED: "PERMISSION_DENIED",
  IP_NOT_ALLOWED: "PERMISSION_DENIED",
  PERMISSION_DENIED: "PERMISSION_DENIED",
  METHOD_NOT_PERMITTED: "METHOD_NOT_PERMITTED",
  RATE_LIMIT_EXCEEDED: "RATE_LIMIT_EXCEEDED",
  INSUFFICIENT_CREDITS: "INSUFFICIENT_CREDITS",
  NETWORK_UNAVAILABLE: "UNAVAILABLE",
  UPSTREAM_TIMEOUT: "UNAVAILABLE",
  UPSTREAM_INVALID: "UNAVAILABLE",
  OVERLOADED: "UNAVAILABLE",
  STORE_UNAVAILABLE: "UNAVAILABLE",
};

/** What a caller may know of anything that was thrown; null for a fault of this engine, which shows nothing. */
export function shownFailure(error: unknown): ShownFailure | null {
  if (error instanceof EngineRefusal) return error.details;
  if (!(error instanceof SluiceError)) return null;
  const code = engineCodes[error.code];
  if (code === undefined) return null;
  const { errors, acceptEncoding } = error.details;
  return engineFailure(code, {
    detail: error.message,
    ...(Array.isArray(errors) ? { errors } : {}),
    ...(typeof acceptEncoding === "string" ? { acceptEncoding } : {}),
  });
}

/** The headers that a failure has in every form. */
export function headersOf({ code, retryAfterSeconds, acceptEncoding }: ShownFailure): Record<string, string> {
  return {
    "X-Error-Code": code,
    ...(retryAfterSeconds === null ? {} : { "Retry-After": String(retryAfterSeconds) }),
    ...(acceptEncoding === null ? {} : { "Accept-Encoding": acceptEncoding }),
  };
}

interface FailureContext {
  readonly requestId: string;
  /** Put before the path of the code's page; null leaves `type` relative. */
  readonly docsBase: string | null;
  readonly headers: Record<string, string>;
}

/** The RFC 9457 form. `instance` is the request's id. */
export function failureResponse(failure: ShownFailure, { requestId, docsBase, headers }: FailureContext): Response {
  const { code, status, title, detail, errors, logs } = failure;
  const body = {
    type: `${docsBase ?? ""}${engineErrorDocsPath(code)}`,
    title,
    status,
    detail,
    instance: requestId,
    code,
    ...(errors.length === 0 ? {} : { errors }),
    ...(logs.length === 0 ? {} : { logs }),
  };
  return new Response(JSON.stringify(body), {
    status,
    headers: {
      ...headers,
      "Content-Type": "application/problem+json",
      "X-Request-Id": requestId,
      ...headersOf(failure),
      ...(status === 401 ? { "WWW-Authenticate": 'Bearer realm="sluice"' } : {}),
    },
  });
}
