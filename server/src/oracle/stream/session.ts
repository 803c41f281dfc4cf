import { type OracleErrorCode, type OracleSymbol, oracleBounds, oracleErrorTable } from "@sluice/contract/oracle";
import { jsonText } from "../json.ts";
import type { Quotation } from "../price-record.ts";
import { channel, errorText, faultText, isFault, readMessage } from "./messages.ts";
import type { Member, StreamClient, StreamServices } from "./services.ts";
import { closeCodes, type StreamSocket } from "./socket.ts";

/** What may lie unsent towards a client before newer prices take the place of those that wait. */
const unsentBytesMax = 64 * 1024;
const missedPongsMax = 2;

/**
 * One client of the price stream. It has to say who it is first. What it cannot be sent at once waits as one mark a symbol,
 * never as messages: when it reads again it gets the newest price of each.
 */
export class StreamSession implements StreamClient {
  readonly requestId: string;
  readonly #services: StreamServices;
  readonly #caller: Parameters<StreamServices["admit"]>[1];
  #socket: StreamSocket | null = null;
  #member: Member | null = null;
  #isEntering = false;
  readonly #symbols = new Set<OracleSymbol>();
  /** Prices that came while the client was not reading, at most one a symbol. */
  readonly #waiting = new Map<string, string>();
  #deadline: ReturnType<typeof setTimeout> | null = null;
  #missedPongs = 0;
  #windowMs = Number.NEGATIVE_INFINITY;
  #windowCount = 0;
  #closeCode: number | null = null;
  #isGone = false;

  constructor(
    options: { readonly requestId: string; readonly caller: Parameters<StreamServices["admit"]>[1] },
    services: StreamServices,
  ) {
    this.requestId = options.requestId;
    this.#caller = options.caller;
    this.#services = services;
  }

  get member(): Member | null {
    return this.#member;
  }

  get symbols(): ReadonlySet<string> {
    return this.#symbols;
  }

  opened(socket: StreamSocket): void {
    this.#socket = socket;
    this.#services.opened(this);
    if (this.#services.isCrowded()) {
      this.end(closeCodes.unavailable, "SERVICE_UNAVAILABLE");
      return;
    }
    this.#deadline = setTimeout(() => this.end(closeCodes.badKey, "MISSING_API_KEY"), this.#services.authMs);
    this.#deadline.unref();
  }

  received(data: string | Uint8Array): void {
    if (this.#closeCode !== null) return;
    const bytes = typeof data === "string" ? Buffer.byteLength(data) : data.byteLength;
    if (bytes > oracleBounds.socketMessageBytes) {
      this.end(closeCodes.messageTooLarge, null);
      return;
    }
    if (!this.#mayspeak()) {
      this.end(closeCodes.rateLimited, "RATE_LIMIT_EXCEEDED");
      return;
    }
    const message = readMessage(typeof data === "string" ? data : new TextDecoder().decode(data));
    if (isFault(message)) this.#say(faultText(message));
    else if (message.type === "auth") void this.#enter(message.apiKey);
    else if (this.#member === null) this.end(closeCodes.badKey, "MISSING_API_KEY");
    else if (message.type === "subscribe") this.#subscribe(message.symbols);
    else this.#unsubscribe(message.symbols);
  }

  /** A newly agreed price of a symbol that this client follows. */
  offer(symbol: string, text: string): void {
    const socket = this.#socket;
    if (socket === null || this.#closeCode !== null) return;
    if (this.#waiting.size === 0 && socket.getBufferedAmount() < unsentBytesMax) {
      socket.send(text);
      this.#services.sent(1);
      return;
    }
    if (this.#waiting.has(symbol)) this.#services.conflated(1);
    this.#waiting.set(symbol, text);
  }

  offerTogether(prices: readonly (readonly [symbol: string, text: string])[]): void {
    const offer = (): void => {
      for (const [symbol, text] of prices) this.offer(symbol, text);
    };
    if (prices.length > 1 && this.#socket?.cork !== undefined) this.#socket.cork(offer);
    else offer();
  }

  /** The client reads again: it gets what waits, the newest of each symbol. */
  writable(): void {
    const socket = this.#socket;
    if (socket === null || this.#closeCode !== null) return;
    for (const [symbol, text] of this.#waiting) {
      if (socket.getBufferedAmount() >= unsentBytesMax) return;
      this.#waiting.delete(symbol);
      socket.send(text);
      this.#services.sent(1);
    }
  }

  ponged(): void {
    this.#missedPongs = 0;
  }

  /** Every 30 seconds. */
  tick(): void {
    // Also the end of a peer that was sent our closing frame and never answered it.
    if (this.#missedPongs >= missedPongsMax || this.#closeCode !== null) {
      this.#socket?.terminate();
      return;
    }
    this.#missedPongs += 1;
    this.#socket?.ping();
    this.writable();
    void this.recheck();
  }

  drain(): void {
    this.end(closeCodes.goingAway, null);
  }

  closed(code: number): void {
    if (this.#isGone) return;
    this.#isGone = true;
    if (this.#deadline !== null) clearTimeout(this.#deadline);
    this.#services.closed(this, this.#closeCode ?? code);
    this.#waiting.clear();
    this.#symbols.clear();
  }

  /** A key that was revoked, or whose account has left the tier, ends the connection. */
  async recheck(): Promise<void> {
    const member = this.#member;
    if (member === null) return;
    const admission = await this.#services.recheck(member.apiKey, this.#caller);
    if (admission !== null && this.#member === member) this.end(admission.closeCode, admission.code);
  }

  end(closeCode: number, code: OracleErrorCode | null): void {
    if (this.#closeCode !== null || this.#isGone) return;
    this.#closeCode = closeCode;
    if (this.#deadline !== null) clearTimeout(this.#deadline);
    this.#waiting.clear();
    const socket = this.#socket;
    if (socket === null) return;
    if (code !== null) socket.send(errorText(code));
    socket.close(closeCode, code === null ? "" : oracleErrorTable[code].text);
  }

  async #enter(apiKey: string): Promise<void> {
    if (this.#member !== null || this.#isEntering) {
      this.#say(faultText({ code: "INVALID_PARAMETER", message: "auth is said once" }));
      return;
    }
    this.#isEntering = true;
    const admission = await this.#services.admit(apiKey, this.#caller);
    this.#isEntering = false;
    if (this.#closeCode !== null || this.#isGone) {
      if ("accountId" in admission) this.#services.leave(admission.accountId);
      return;
    }
    if (!("accountId" in admission)) {
      this.end(admission.closeCode, admission.code);
      return;
    }
    if (this.#deadline !== null) clearTimeout(this.#deadline);
    this.#member = { accountId: admission.accountId, apiKey };
    this.#say(jsonText({ type: "auth_success", tier: admission.tier }));
  }

  #subscribe(symbols: readonly OracleSymbol[]): void {
    for (const symbol of symbols) {
      this.#symbols.add(symbol);
      this.#services.follow(this, symbol);
    }
    this.#say(jsonText({ type: "subscribed", channel, symbols }));
    for (const symbol of symbols) {
      const quotation: Quotation | null = this.#services.present(symbol);
      if (quotation !== null) this.offer(symbol, quotation.update);
    }
  }

  #unsubscribe(symbols: readonly OracleSymbol[]): void {
    for (const symbol of symbols) {
      this.#symbols.delete(symbol);
      this.#waiting.delete(symbol);
      this.#services.unfollow(this, symbol);
    }
    this.#say(jsonText({ type: "unsubscribed", channel, symbols }));
  }

  #say(text: string): void {
    this.#socket?.send(text);
  }

  #mayspeak(): boolean {
    const nowMs = this.#services.monotonic();
    if (nowMs - this.#windowMs >= 1_000) {
      this.#windowMs = nowMs;
      this.#windowCount = 0;
    }
    this.#windowCount += 1;
    return this.#windowCount <= oracleBounds.socketMessagesPerSecond;
  }
}
