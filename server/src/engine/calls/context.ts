import type { AddressSet } from "@sluice/lib";
import type { HeaderReader } from "../../http/index.ts";
import type { CallStatus } from "./call-fault.ts";

/** What a handler knows of its call beside the message. */
export interface CallContext {
  readonly requestId: string;
  /** As IP restrictions and limits by address see it. */
  readonly clientAddress: string;
  /** The call's metadata; binary entries are not shown. */
  readonly headers: HeaderReader;
}

/** What services tell of their calls. */
export interface CallEvents {
  /** `method` is the path of the protocol, such as `/blockengine.v1.BlockEngine/SubmitBundle`. */
  callEnded(method: string, status: CallStatus): void;
  streamOpened(method: string): void;
  streamClosed(method: string): void;
  /** A fault of ours. */
  internalError(where: string, error: unknown, fields: { readonly requestId?: string }): void;
}

/** What every service is served with. */
export interface CallHost {
  readonly requestId: () => string;
  readonly trustedProxies: AddressSet;
  readonly events: CallEvents;
}
