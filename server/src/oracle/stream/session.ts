import { closeCodes } from "@sluice/contract/close-codes";
import { type OracleSymbol, oracleBounds, oracleErrorTable } from "@sluice/contract/oracle";
import type { Timer } from "@sluice/lib";
import { ClientSession, type FrameBatch, InboundBounds } from "../../net/index.ts";
import { jsonText } from "../model/json.ts";
import type { Quotation } from "../model/quotation.ts";
import { channel, errorText, faultText, isFault, readMessage } from "./messages.ts";
import type { Member, StreamClient, StreamRefusal, StreamServices } from "./services.ts";

/** What may lie unsent towards a client before newer prices take the place of those that wait. */
const unsentBytesMax = 64 * 1024;
const inbound = {
  messageBytesMax: oracleBounds.socketMessageBytes,
  messagesPerSecond: oracleBounds.socketMessagesPerSecond,
} as const;

const missingKey = { closeCode: closeCodes.badKey, code: "MISSING_API_KEY" } as const;

/**
 * One client of the price stream. It has to say who it is first. What it cannot be sent at once waits as one mark a
 * symbol, never as messages: when it reads again it gets the newest price of each.
 */
export class StreamSession extends ClientSession implements StreamClient {
  readonly #services: StreamServices;
  readonly #caller: Parameters<StreamServices["admit"]>[1];
  readonly #sinceMs: number;
  #member: Member | null = null;
  #isEntering = false;
  readonly #symbols = new Set<string>();
  /** Prices that came while the client was not reading, at most one a symbol. */
  readonly #waiting = new Map<string, string>();
  #deadline: Timer | null = null;

  constructor(
    options: { readonly requestId: string; readonly caller: Parameters<StreamServices["admit"]>[1] },
    services: StreamServices,
  ) {
    super(options.requestId, new InboundBounds(inbound, services));
    this.#caller = options.caller;
    this.#services = services;
    this.#sinceMs = services.clock.monotonic();
  }

  get member(): Member | null {
    return this.#member;
  }

  protected override onOpened(): void {
    this.#services.opened(this);
    if (this.#services.isCrowded()) {
      this.#refuse({ closeCode: closeCodes.unavailable, code: "SERVICE_UNAVAILABLE" });
      return;
    }
    const { clock, authMs } = this.#services;
    this.#deadline = clock.after(authMs, () => this.#refuse(missingKey));
  }

  protected override onMessage(data: string | Uint8Array): void {
    const message = readMessage(typeof data === "string" ? data : new TextDecoder().decode(data));
    if (isFault(message)) this.send(faultText(message));
    else if (message.type === "auth") void this.#enter(message.apiKey);
    else if (this.#member === null) this.#refuse(missingKey);
    else if (message.type === "subscribe") this.#subscribe(message.symbols);
    else this.#unsubscribe(message.symbols);
  }

  protected override onExceeded(closeCode: number): void {
    if (closeCode === closeCodes.rateLimited) this.#refuse({ closeCode, code: "RATE_LIMIT_EXCEEDED" });
    else this.end({ code: closeCode });
  }

  /** Newly agreed prices of symbols that this client follows, and what it is answered meanwhile. */
  protected override takes({ frames }: FrameBatch): boolean {
    const isReading = this.#isReading;
    let prices = 0;
    for (const { group, data } of frames) {
      if (group !== null) prices += 1;
      if (isReading) continue;
      if (group === null) this.send(data);
      else if (this.#symbols.has(group)) this.#keep(group, String(data));
    }
    if (isReading) this.#services.sent(prices);
    return isReading;
  }

  /** Whether the client has taken nearly all that it was sent. */
  get #isReading(): boolean {
    return this.#waiting.size === 0 && this.unsentBytes < unsentBytesMax;
  }

  #keep(symbol: string, text: string): void {
    if (this.#waiting.has(symbol)) this.#services.conflated(1);
    this.#waiting.set(symbol, text);
  }

  /** The client reads again: it gets what waits, the newest of each symbol. */
  protected override onWritable(): void {
    for (const [symbol, text] of this.#waiting) {
      if (this.unsentBytes >= unsentBytesMax) return;
      this.#waiting.delete(symbol);
      if (this.send(text)) this.#services.sent(1);
    }
  }

  protected override onTick(): void {
    this.onWritable();
    void this.recheck();
  }

  protected override onEnding(): void {
    this.#deadline?.cancel();
    this.#waiting.clear();
  }

  protected override onClosed(code: number): void {
    this.#deadline?.cancel();
    this.#services.closed(this, code);
    this.#waiting.clear();
    this.#symbols.clear();
  }

  /** A key that was revoked, or whose account has left the tier, ends the connection. */
  async recheck(): Promise<void> {
    const member = this.#member;
    if (member === null) return;
    const admission = await this.#services.recheck(member.apiKey, this.#caller);
    if (admission !== null && this.#member === member) this.#refuse(admission);
  }

  /** Sends the reason and ends the session, for the account that the refusal or an accepted key names. */
  #refuse({ closeCode, code, holder = null }: Omit<StreamRefusal, "holder"> & Partial<StreamRefusal>): void {
    if (!this.isLive) return;
    const message = errorText(code);
    this.end({ code: closeCode, reason: oracleErrorTable[code].text, message });
    const connection = { requestId: this.requestId, sinceMs: this.#sinceMs, bytesOut: Buffer.byteLength(message) };
    this.#services.refused(connection, { closeCode, code, holder: holder ?? this.#member });
  }

  async #enter(apiKey: string): Promise<void> {
    if (this.#member !== null || this.#isEntering) {
      this.send(faultText({ code: "INVALID_PARAMETER", message: "auth is said once" }));
      return;
    }
    this.#isEntering = true;
    const admission = await this.#services.admit(apiKey, this.#caller);
    this.#isEntering = false;
    if (!this.isLive) {
      if ("accountId" in admission) this.#services.leave(admission.accountId);
      return;
    }
    if (!("accountId" in admission)) {
      this.#refuse(admission);
      return;
    }
    this.#deadline?.cancel();
    const { accountId, keyId, tier } = admission;
    this.#member = { accountId, keyId, apiKey };
    this.send(jsonText({ type: "auth_success", tier }));
  }

  #subscribe(symbols: readonly OracleSymbol[]): void {
    for (const symbol of symbols) {
      this.#symbols.add(symbol);
      this.join(this.#services.followers(symbol));
    }
    this.send(jsonText({ type: "subscribed", channel, symbols }));
    for (const symbol of symbols) {
      const quotation: Quotation | null = this.#services.present(symbol);
      if (quotation === null) continue;
      if (!this.#isReading) this.#keep(symbol, quotation.update);
      else if (this.send(quotation.update)) this.#services.sent(1);
    }
  }

  #unsubscribe(symbols: readonly OracleSymbol[]): void {
    for (const symbol of symbols) {
      this.#symbols.delete(symbol);
      this.#waiting.delete(symbol);
      this.leave(this.#services.followers(symbol));
    }
    this.send(jsonText({ type: "unsubscribed", channel, symbols }));
  }
}
