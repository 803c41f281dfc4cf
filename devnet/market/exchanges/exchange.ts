import type { ExchangeId, Listing } from "../model/listings.ts";
import type { Market, Venue } from "../venue.ts";
import { type Json, write } from "./number.ts";

/** A request as an exchange reads it. */
export interface Ask {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  readonly ip: string;
  /** Where this exchange listens, as the client knows it: "127.0.0.1:4711". */
  readonly host: string;
}

export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly type: "json" | "html" | "text";
  readonly headers: Readonly<Record<string, string>>;
}

export const answer = (value: Json, status = 200, headers: Readonly<Record<string, string>> = {}): Answer => ({
  status,
  body: write(value),
  type: "json",
  headers,
});

export const page = (status: number, title: string): Answer => ({
  status,
  body: `<html>\r\n<head><title>${status} ${title}</title></head>\r\n<body>\r\n<center><h1>${status} ${title}</h1></center>\r\n</body>\r\n</html>\r\n`,
  type: "html",
  headers: {},
});

/** The rest of a client's limit. A refusal stands in for the answer; the headers go with whatever is answered. */
export interface Allowance {
  readonly refusal: Answer | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** A subscription of a client. */
export interface Topic {
  /** As the exchange's messages name it; one topic is the same for all its clients. */
  readonly key: string;
  readonly channel: string;
  readonly market: Market;
  /** Of candles. */
  readonly detail?: string;
}

/** The state of a topic at its last publication. */
export interface PublishedState {
  contentMs: number;
  atMs: number;
  tradeId: number;
  quotes: string;
}

/** One client's connection, as a feed sees it. */
export interface Session {
  readonly number: number;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly openedMs: number;
  readonly topics: Map<string, Topic>;
  /** When the client last sent anything, a pong last, and when anything was last sent to it. */
  readonly receivedMs: number;
  readonly pongMs: number;
  readonly sentMs: number;
  /** The state of a client in a feed. */
  readonly notes: Map<string, number>;
  /** Greetings, acknowledgements, errors. */
  answer(text: string): void;
  /** Pongs and heartbeats. */
  pulse(text: string): void;
  /** Data of a topic. */
  push(text: string): void;
  ping(text: string): void;
  close(code: number, reason: string): void;
}

/** An exchange's stream. What it shows is by the venue's `now`, how long it waits by its `clock`. */
export interface Feed {
  /** Longest frame that a client may send; a longer one closes the connection with 1009. */
  readonly frameBytesMax: number;
  /** Null when a connection to this path is taken. */
  refuses(path: string, query: URLSearchParams, venue: Venue): Answer | null;
  open(session: Session, venue: Venue): void;
  message(session: Session, text: string, venue: Venue): void;
  /** Heartbeats and duties; once a tick. */
  beat(session: Session, venue: Venue): void;
  /** The changes of a topic since its last publication. */
  news(topic: Topic, published: PublishedState, venue: Venue): readonly string[];
  /** The notice of the exchange before it ends connections; missing where none is documented. */
  notice?(session: Session, venue: Venue): string;
  /** How a frame is wrapped for one client; frames are the same for all where this is missing. */
  wrap?(session: Session, topic: Topic, text: string): string;
}

export interface Exchange {
  readonly id: ExchangeId;
  symbolOf(listing: Listing): string;
  rest(ask: Ask, venue: Venue): Answer;
  /** Counts a request against the exchange's limits. */
  allow(ask: Ask, nowMs: number): Allowance;
  /** The documented refusal over a limit, and over one that was disregarded. */
  limited(isBan: boolean, nowMs: number): Answer;
  /** The documented answer of an exchange that cannot serve. */
  busy(nowMs: number): Answer;
  readonly feed: Feed;
}

const whole = /^-?\d{1,16}$/;

/** A whole number of the query; undefined when it is missing, null when it is none. */
export function wholeOf(query: URLSearchParams, name: string): number | null | undefined {
  const text = query.get(name);
  if (text === null || text === "") return undefined;
  return whole.test(text) ? Number(text) : null;
}

/** A frame of a client as an object; null for anything else. */
export function objectOf(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Texts of a list, or null when it is not a list of texts. */
export function textsOf(value: unknown): string[] | null {
  if (!Array.isArray(value)) return null;
  const texts = value.filter((each): each is string => typeof each === "string");
  return texts.length === value.length ? texts : null;
}
