import { CodedError } from "@sluice/contract/errors";

/** The status codes of gRPC that this room answers with, by their names. */
export const grpcStatuses = {
  OK: 0,
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
} as const;
export type GrpcStatus = keyof typeof grpcStatuses;
export type GrpcErrorStatus = Exclude<GrpcStatus, "OK" | "CANCELLED">;

export interface GrpcStatusDetails {
  /** Whole seconds after which the same call may succeed; sent to the caller as google.rpc.RetryInfo. */
  readonly retryAfterSeconds: number | null;
  /** What the records of calls name the refusal, where that says more than the status; not sent. */
  readonly publicCode: string | null;
}

/**
 * Why a call ends without its answer; the code is the status. The message is shown to the caller and holds no
 * internals.
 */
export class GrpcStatusError extends CodedError<GrpcErrorStatus, GrpcStatusDetails> {
  constructor(status: GrpcErrorStatus, message: string, options: Partial<GrpcStatusDetails> = {}) {
    super(status, { message, details: { retryAfterSeconds: null, publicCode: null, ...options } });
  }
}

/**
 * google.rpc.Status (google/rpc/status.proto, error_details.proto) as the trailer `grpc-status-details-bin` carries it:
 * the code, the message and, where a wait is known, a RetryInfo. Its fields are few and their numbers are fixed, so
 * they are written here instead of through a loader.
 */
export function encodeStatusDetails(error: GrpcStatusError): Uint8Array {
  const parts = [varintField(1, grpcStatuses[error.code]), bytesField(2, text.encode(error.message))];
  if (error.details.retryAfterSeconds !== null) {
    const delay = bytesField(1, varintField(1, error.details.retryAfterSeconds));
    const retryInfo = [bytesField(1, text.encode(retryInfoType)), bytesField(2, delay)];
    parts.push(bytesField(3, joined(retryInfo)));
  }
  return joined(parts);
}

const text = new TextEncoder();
const retryInfoType = "type.googleapis.com/google.rpc.RetryInfo";

/** A whole number of at least 0 in base 128, least significant group first. */
function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  return Uint8Array.of(...bytes, rest);
}

const varintField = (field: number, value: number): Uint8Array => joined([varint(field << 3), varint(value)]);
const bytesField = (field: number, value: Uint8Array): Uint8Array =>
  joined([varint((field << 3) | 2), varint(value.length), value]);

function joined(parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}
