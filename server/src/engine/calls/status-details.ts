import { type CallFault, callStatuses } from "./call-fault.ts";

/**
 * google.rpc.Status (google/rpc/status.proto, error_details.proto) as the trailer `grpc-status-details-bin` carries it:
 * the code, the message and, where a wait is known, a RetryInfo. Its fields are few and their numbers are fixed, so they
 * are written here instead of through a loader.
 */
export function encodeStatusDetails(error: CallFault): Uint8Array {
  const parts = [varintField(1, callStatuses[error.status]), bytesField(2, text.encode(error.message))];
  if (error.retryAfterSeconds !== null) {
    const delay = bytesField(1, varintField(1, error.retryAfterSeconds));
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
