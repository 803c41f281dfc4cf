/** Who sends to the clients, and how. */
export const ways = ["groups", "each", "applications", "publish", "ws"] as const;
export type Way = (typeof ways)[number];

/** Bytes of each message, and of its frame as a server sends it (RFC 6455, section 5.2). */
export const messageBytes = 736;
export const frameBytes = messageBytes + 4;

/** What clients that never read connect to. */
export const stalledPath = "/stalled";
/** What the server sends them alone beforehand, which fills the memory of their sockets. */
export const stallBytes = 12 * 1024 * 1024;

/** Turns of the event loop in each of which so many messages are sent to every client. */
export interface Turns {
  readonly turns: number;
  readonly messages: number;
  readonly everyMs: number;
}

export type ServerOrder = Turns | { readonly stall: true };

export interface ServerReport {
  /** Microseconds of the machine's clock at which each turn was begun. */
  readonly beganMicros: readonly number[];
  /** Of the server's process meanwhile. */
  readonly userMicros: number;
  readonly systemMicros: number;
  readonly rssBytes: number;
}

export type ClientsOrder =
  | { readonly expect: Pick<Turns, "turns" | "messages"> }
  | { readonly report: Pick<ServerReport, "beganMicros"> };

/** Milliseconds from the beginning of a turn until a client had all of it, over all clients and turns. */
export interface ClientsReport {
  readonly p50: number;
  readonly p99: number;
  /** Until the last client had it: the median over the turns. */
  readonly last: number;
}

/** Of the machine's clock, which all processes share. */
export const micros = (): number => Math.round((performance.timeOrigin + performance.now()) * 1_000);

/** The message of this number. */
export const messageOf = (number: number): string =>
  `{"type":"transaction","number":${number},"filler":"`.padEnd(messageBytes - 2, "x").concat('"}');
