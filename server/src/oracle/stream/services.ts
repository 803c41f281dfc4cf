import type { OracleErrorCode, OracleSymbol } from "@sluice/contract/oracle";
import type { Clock } from "@sluice/lib";
import type { Caller } from "../../access/index.ts";
import type { Grant } from "../../keys/index.ts";
import type { FrameGroup } from "../../net/index.ts";
import type { Quotation } from "../model/quotation.ts";

/** Whose key a client sent. */
export type Holder = Pick<Grant, "accountId" | "keyId">;

/** Why a client is not let in, or no longer. */
export interface StreamRefusal {
  readonly closeCode: number;
  readonly code: OracleErrorCode;
  /** Null where the key is no account's. */
  readonly holder: Holder | null;
}

/** Who a client belongs to once its key has been accepted. */
export interface Member extends Holder {
  readonly apiKey: string;
}

/** A connection that a refusal ends. */
export interface EndedConnection {
  readonly requestId: string;
  /** When it was opened, monotonic milliseconds. */
  readonly sinceMs: number;
  /** Of the message that says why. */
  readonly bytesOut: number;
}

/** A connected client as the stream knows it. */
export interface StreamClient {
  readonly member: Member | null;
  recheck(): Promise<void>;
}

/** What a session asks of the stream that it belongs to. */
export interface StreamServices {
  readonly authMs: number;
  readonly clock: Pick<Clock, "monotonic" | "after">;
  /** Whether more clients than the bound wait without having said who they are. */
  isCrowded(): boolean;
  admit(apiKey: string, caller: Caller): Promise<(Holder & { readonly tier: string }) | StreamRefusal>;
  /** Gives back what `admit` took, for a client that went away meanwhile. */
  leave(accountId: string): void;
  recheck(apiKey: string, caller: Caller): Promise<StreamRefusal | null>;
  /** Those who follow the symbol; named after it. */
  followers(symbol: OracleSymbol): FrameGroup;
  present(symbol: OracleSymbol): Quotation | null;
  /** A connection ends by this refusal. */
  refused(connection: EndedConnection, refusal: StreamRefusal): void;
  opened(client: StreamClient): void;
  closed(client: StreamClient, code: number): void;
  sent(messages: number): void;
  conflated(messages: number): void;
}
