import { closeCodes } from "@sluice/contract/close-codes";
import { readExact } from "../exact.ts";
import type { StreamMessage } from "./events.ts";
import { finalError, type StatedError, type StreamError } from "./stream-error.ts";

/** What the connection does. `url` is one of those that were given. */
export type StreamState =
  | { readonly state: "idle" }
  | { readonly state: "connecting"; readonly url: string }
  | { readonly state: "open"; readonly url: string }
  /** It was lost, and another is made after `retryMs`; `closeCode` is 1006 where nobody said why. */
  | {
      readonly state: "waiting";
      readonly url: string;
      readonly closeCode: number;
      readonly error: StatedError | null;
      readonly retryMs: number;
    }
  /** No other is made. */
  | { readonly state: "closed"; readonly error: StreamError };

/** Where connections are made, and how they are kept. */
export interface ConnectionOptions {
  /** Each as it was given, and the address that is opened. */
  readonly hosts: readonly { readonly url: string; readonly address: string }[];
  readonly WebSocket: new (url: string) => WebSocket;
  readonly retryMs: { readonly first: number; readonly max: number };
  readonly pingEveryMs: number;
}

/** Who is told what happens to the connection. */
export interface ConnectionListener {
  /** The server takes subscriptions. */
  readonly opened: () => void;
  readonly received: (message: StreamMessage, characters: number) => void;
  /** What the server knew of this client is gone; another connection is made. */
  readonly lost: () => void;
  /** No other connection is made. */
  readonly refused: (error: StreamError) => void;
  readonly state: (state: StreamState) => void;
}

/** Milliseconds for the connection and the server's first message. */
const openWithinMs = 10_000;
/** Milliseconds for the closing exchange. */
const closeWithinMs = 1_000;
/** The server takes 50 in any second, and its seconds begin elsewhere. */
const saidPerSecond = 25;
/** Silent turns of `pingEveryMs` after which nobody is there: a ping goes out after the first. */
const silentTurnsMax = 3;
/** Nobody said why (RFC 6455, section 7.1.5). */
const closedAbnormally = 1006;

/** One connection after another, to the hosts in turn, for as long as somebody wants it. */
export class StreamConnection {
  readonly #options: ConnectionOptions;
  readonly #listener: ConnectionListener;
  #socket: WebSocket | null = null;
  #isOpen = false;
  #host = 0;
  /** Attempts since a connection last brought something. */
  #attempts = 0;
  #retry: ReturnType<typeof setTimeout> | null = null;
  #opening: ReturnType<typeof setTimeout> | null = null;
  #liveness: ReturnType<typeof setInterval> | null = null;
  #silentTurns = 0;
  #stated: StatedError | null = null;
  #unsaid: string[] = [];
  #said = 0;
  #saying: ReturnType<typeof setTimeout> | null = null;

  constructor(options: ConnectionOptions, listener: ConnectionListener) {
    this.#options = options;
    this.#listener = listener;
  }

  /** Whether the server takes subscriptions now. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Connects, unless that has begun. */
  open(): void {
    if (this.#socket === null && this.#retry === null) this.#connect();
  }

  /** Sends a message, within the rate that the server takes. */
  say(message: object): void {
    if (!this.#isOpen) return;
    this.#unsaid.push(JSON.stringify(message));
    this.#flush();
  }

  /** The present connection has brought what it is for: the next attempt after it is a first one. */
  progressed(): void {
    this.#attempts = 0;
  }

  /** Gives up the present connection, and makes another. */
  leave(): void {
    this.#lose(closeCodes.unavailable);
  }

  /** Ends it; `open` makes another. Resolves after the closing exchange, or a second. */
  async close(): Promise<void> {
    if (this.#socket === null && this.#retry === null) return;
    const socket = this.#let();
    if (this.#retry !== null) clearTimeout(this.#retry);
    this.#retry = null;
    this.#attempts = 0;
    this.#listener.state({ state: "idle" });
    if (socket === null) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, closeWithinMs);
      socket.onclose = () => {
        clearTimeout(timer);
        resolve();
      };
      socket.close(1000);
    });
  }

  #connect(): void {
    const { hosts, WebSocket } = this.#options;
    const host = hosts[this.#host % hosts.length] ?? hosts[0];
    if (host === undefined) throw new TypeError("a stream needs the URL of a gateway");
    this.#listener.state({ state: "connecting", url: host.url });
    this.#stated = null;
    this.#silentTurns = 0;
    const socket = new WebSocket(host.address);
    this.#socket = socket;
    this.#opening = setTimeout(() => this.#lose(closedAbnormally), openWithinMs);
    socket.onmessage = ({ data }) => {
      if (this.#socket === socket) this.#received(String(data), host.url);
    };
    socket.onclose = ({ code }) => {
      if (this.#socket === socket) this.#lose(code);
    };
    // What failed is told by the close that follows.
    socket.onerror = () => undefined;
  }

  #received(text: string, url: string): void {
    this.#silentTurns = 0;
    const message = messageOf(text);
    if (message === null) {
      this.#lose(closedAbnormally);
      return;
    }
    if (message.type === "error") this.#stated = message;
    if (message.type !== "connected") {
      this.#listener.received(message, text.length);
      return;
    }
    if (this.#isOpen) return;
    if (this.#opening !== null) clearTimeout(this.#opening);
    this.#isOpen = true;
    this.#liveness = setInterval(() => this.#checkLiveness(), this.#options.pingEveryMs);
    this.#listener.state({ state: "open", url });
    this.#listener.opened();
  }

  #checkLiveness(): void {
    this.#silentTurns += 1;
    if (this.#silentTurns >= silentTurnsMax) this.#lose(closedAbnormally);
    else this.say({ action: "ping" });
  }

  #lose(closeCode: number): void {
    const stated = this.#stated;
    const socket = this.#let();
    if (socket === null) return;
    socket.close();
    const refusal = finalError(closeCode, stated);
    if (refusal !== null) {
      this.#attempts = 0;
      this.#listener.state({ state: "closed", error: refusal });
      this.#listener.refused(refusal);
      return;
    }
    const { hosts, retryMs: bounds } = this.#options;
    const url = hosts[this.#host % hosts.length]?.url ?? "";
    // Clients that lose a server together come back apart.
    const retryMs = Math.random() * Math.min(bounds.max, bounds.first * 2 ** this.#attempts);
    this.#attempts += 1;
    this.#host += 1;
    this.#retry = setTimeout(() => {
      this.#retry = null;
      this.#connect();
    }, retryMs);
    this.#listener.state({ state: "waiting", url, closeCode, error: stated, retryMs });
    this.#listener.lost();
  }

  /** Lets go of the present connection: nothing of it counts any more. */
  #let(): WebSocket | null {
    const socket = this.#socket;
    this.#socket = null;
    this.#isOpen = false;
    this.#unsaid = [];
    this.#said = 0;
    if (this.#opening !== null) clearTimeout(this.#opening);
    if (this.#liveness !== null) clearInterval(this.#liveness);
    if (this.#saying !== null) clearTimeout(this.#saying);
    this.#opening = null;
    this.#liveness = null;
    this.#saying = null;
    return socket;
  }

  #flush(): void {
    while (this.#said < saidPerSecond) {
      const message = this.#unsaid.shift();
      if (message === undefined) break;
      this.#said += 1;
      this.#socket?.send(message);
    }
    if (this.#said === 0 || this.#saying !== null) return;
    this.#saying = setTimeout(() => {
      this.#saying = null;
      this.#said = 0;
      this.#flush();
    }, 1_000);
  }
}

/** A message of the server; null for what is none. */
function messageOf(text: string): StreamMessage | null {
  try {
    const value: unknown = readExact(text);
    const isMessage = typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
    return isMessage ? (value as StreamMessage) : null;
  } catch {
    return null;
  }
}
