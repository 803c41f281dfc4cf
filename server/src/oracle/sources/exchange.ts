import type { SourceEndpoint } from "../../config/index.ts";
import type { QuoteCurrency, SourceId } from "../model/tick.ts";
import type { CandleRow, DropReason, Heartbeat, Row } from "./row.ts";

export type { SourceEndpoint };

/** One market of one exchange. */
export interface Market {
  readonly base: string;
  readonly quote: QuoteCurrency;
  /** What requests call it. */
  readonly name: string;
  /** What the stream calls it. */
  readonly streamName: string;
  /** Further names under which answers may hold it. */
  readonly aliases: readonly string[];
}

/** Candles of one minute each. */
export interface CandleRows {
  readonly kind: "candles";
  readonly rows: readonly CandleRow[];
}

/** What one frame of a stream means. */
export type StreamMessage =
  | { readonly kind: "rows"; readonly rows: readonly Row[]; readonly drops?: readonly DropReason[] }
  | CandleRows
  | { readonly kind: "heartbeat"; readonly heartbeat: Heartbeat }
  /** Acknowledgements, pongs, notices: a sign of life and nothing else. */
  | { readonly kind: "control" }
  /** The exchange takes subscriptions from now on, where it does not do so at once. */
  | { readonly kind: "welcome" }
  /** The exchange will cut this connection soon. */
  | { readonly kind: "reconnect" }
  /** The exchange refused a subscription or a frame; `name` is the market's where the exchange names it. */
  | { readonly kind: "refused"; readonly name: string | null; readonly message: string }
  | { readonly kind: "malformed"; readonly reason: DropReason };

export interface RestRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
  /** The markets that the answer must hold. */
  readonly markets: readonly Market[];
  /** `price` names bid, ask and last; `day` only figures of 24 hours, which are asked for less often. */
  readonly part: "price" | "day" | "candles";
}

export interface RestAnswer {
  readonly status: number;
  readonly header: (name: string) => string | null;
  readonly text: string;
  /** Unix milliseconds by our clock. */
  readonly receivedAtMs: number;
}

export type RestOutcome = { readonly kind: "rows"; readonly rows: readonly Row[] } | CandleRows | RestFault;

export type RestFault =
  /** Asked too often: nothing more before `waitMs` have passed; null where the exchange does not say how long. */
  | { readonly kind: "limited"; readonly waitMs: number | null; readonly banned: boolean }
  /** The exchange does not know a market of this request. */
  | { readonly kind: "unknown-market"; readonly message: string }
  | { readonly kind: "refused"; readonly message: string }
  | { readonly kind: "unavailable" }
  | { readonly kind: "malformed" };

/** What a session needs that must be asked for first. */
export type TicketOutcome =
  | { readonly kind: "ticket"; readonly url: string; readonly pingEveryMs: number; readonly silenceMs: number }
  | RestFault;

export interface StreamRules {
  /** Path after the endpoint's WebSocket address. */
  readonly path: string;
  readonly subscribeAfter: "open" | "welcome";
  /** Frames that subscribe to these markets; `nowMs` is Unix time for those that want it in the frame. */
  readonly subscribe: (markets: readonly Market[], nowMs: number) => readonly string[];
  readonly read: (text: string) => StreamMessage;
  /** A frame that the exchange answers; null where it speaks by itself each second. */
  readonly ping: { readonly everyMs: number; readonly frame: (id: number, nowMs: number) => string } | null;
  /** A connection on which nothing at all came for this long is dead. */
  readonly silenceMs: number;
  /** How long the exchange lets a connection live; null where it names no end. */
  readonly sessionMs: number | null;
  /** Connections that need a token first. */
  readonly ticket?: {
    readonly path: string;
    readonly read: (answer: RestAnswer, endpoint: SourceEndpoint, connectionId: string) => TicketOutcome;
  };
}

export interface RestRules {
  /** Requests that together ask for all of these markets. */
  readonly requests: (markets: readonly Market[]) => readonly RestRequest[];
  readonly read: (request: RestRequest, answer: RestAnswer) => RestOutcome;
  readonly candles: CandleRules;
  /** Least time between two requests on average, within the exchange's published limits. */
  readonly gapMs: number;
  /** How often markets are asked for that the stream is silent about. */
  readonly pollMs: number;
  /** How often markets are asked for besides a healthy stream, for what it leaves out; null for never. */
  readonly besideStreamMs: number | null;
}

/** The minutes of a market that a request asks for, Unix milliseconds: from the first one's beginning until now. */
export interface CandleSpan {
  readonly fromMs: number;
  readonly nowMs: number;
}

/** Candles of one minute by request: of the time before the start, and of what the stream missed or does not send. */
export interface CandleRules {
  /** The path that asks for a market's candles of a span, the open one included; at most `candleMinutesMax`. */
  readonly path: (market: Market, span: CandleSpan) => string;
  /** How often each market's newest are asked for. */
  readonly everyMs: number;
}

/** The minutes of one request; every exchange answers more at once. */
export const candleMinutesMax = 120;

/** Everything that is particular to one exchange, as pure functions and figures. */
export interface Exchange {
  readonly id: Exclude<SourceId, "chain">;
  readonly endpoint: SourceEndpoint;
  readonly markets: readonly Market[];
  /** How often a liquid market says something new; ticks older than three of these, at most a minute, are stale. */
  readonly cadenceMs: number;
  readonly stream: StreamRules;
  /** Where candles have an address of their own: nothing else is read there. */
  readonly candleStream?: StreamRules;
  readonly rest: RestRules;
}
