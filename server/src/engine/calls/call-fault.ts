/** The status codes of gRPC that this room answers with, by their names. */
export const callStatuses = {
  OK: 0,
  CANCELLED: 1,
  INVALID_ARGUMENT: 3,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
} as const;
export type CallStatus = keyof typeof callStatuses;
export type FaultStatus = Exclude<CallStatus, "OK" | "CANCELLED">;

/** Why a call ends without its answer. The message is shown to the caller and holds no internals. */
export class CallFault extends Error {
  override readonly name = "CallFault";
  readonly status: FaultStatus;
  /** Whole seconds after which the same call may succeed; told to the caller as google.rpc.RetryInfo. */
  readonly retryAfterSeconds: number | null;

  constructor(status: FaultStatus, message: string, options: { readonly retryAfterSeconds?: number } = {}) {
    super(message);
    this.status = status;
    this.retryAfterSeconds = options.retryAfterSeconds ?? null;
  }
}
