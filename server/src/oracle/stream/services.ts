import type { OracleErrorCode, OracleSymbol } from "@sluice/contract/oracle";
import type { Clock } from "@sluice/lib";
import type { Caller } from "../../access/index.ts";
import type { Quotation } from "../model/quotation.ts";

/** Why a client is not let in, or no longer. */
export interface StreamRefusal {
  readonly closeCode: number;
  readonly code: OracleErrorCode;
}

/** Who a client belongs to once its key has been accepted. */
export interface Member {
  readonly accountId: string;
  readonly apiKey: string;
}

/** A connected client as the stream knows it. */
export interface StreamClient {
  readonly member: Member | null;
  readonly symbols: ReadonlySet<string>;
  offer(symbol: string, text: string): void;
  /** Several symbols at once, which cost one system call instead of one each. */
  offerTogether(prices: readonly (readonly [symbol: string, text: string])[]): void;
  recheck(): Promise<void>;
}

/** What a session asks of the stream that it belongs to. */
export interface StreamServices {
  readonly authMs: number;
  readonly clock: Pick<Clock, "monotonic" | "after">;
  /** Whether more clients than the bound wait without having said who they are. */
  isCrowded(): boolean;
  admit(apiKey: string, caller: Caller): Promise<{ readonly accountId: string; readonly tier: string } | StreamRefusal>;
  /** Gives back what `admit` took, for a client that went away meanwhile. */
  leave(accountId: string): void;
  recheck(apiKey: string, caller: Caller): Promise<StreamRefusal | null>;
  follow(client: StreamClient, symbol: OracleSymbol): void;
  unfollow(client: StreamClient, symbol: OracleSymbol): void;
  present(symbol: OracleSymbol): Quotation | null;
  opened(client: StreamClient): void;
  closed(client: StreamClient, code: number): void;
  sent(messages: number): void;
  conflated(messages: number): void;
}
