import { closeCodes } from "@sluice/contract/close-codes";
import { oracleBounds, oracleTierTerms } from "@sluice/contract/oracle";
import type { Clock } from "@sluice/lib";
import type { Access, AdmissionCode, Caller } from "../../access/index.ts";
import type { Allowance } from "../../credits/index.ts";
import type { Grant } from "../../keys/index.ts";
import { FanOut, type FrameGroup, type SocketMount, type SocketPeer } from "../../net/index.ts";
import { admissionError, readPermission, takeRate, tierOf } from "../http/admission.ts";
import { unavailableFacts } from "../http/answers.ts";
import { streamPath } from "../http/v1-routes.ts";
import type { OracleEvents } from "../model/events.ts";
import type { Quotation } from "../model/quotation.ts";
import type { NoPrice, PriceStore } from "../store/price-store.ts";
import { faultText } from "./messages.ts";
import type { EndedConnection, Holder, StreamClient, StreamRefusal, StreamServices } from "./services.ts";
import { StreamSession } from "./session.ts";

/** The shortest time between two prices of one symbol to one client. */
export const pushEveryMs = 250;

interface Pace {
  sentAtMs: number;
  /** The newest price that waits for its time; null while none does. */
  next: Quotation | null;
}

export interface OracleStreamOptions {
  /** How long a client may take to say who it is. */
  readonly authMs?: number;
}

export interface OracleStreamDependencies {
  readonly clock: Clock;
  readonly priceStore: PriceStore;
  readonly access: Pick<Access, "admit" | "callerOf" | "meter">;
  readonly allowance: Allowance;
  readonly requestId: () => string;
  readonly events: Pick<
    OracleEvents,
    | "socketOpened"
    | "socketClosed"
    | "pricesSent"
    | "pricesConflated"
    | "requestServed"
    | "requestRefused"
    | "internalError"
  >;
}

/** The code with which a client is closed that access refuses (decisions: Platform, close codes). */
const refusalCloseCodes: Readonly<Record<AdmissionCode, number>> = {
  INVALID_API_KEY: closeCodes.badKey,
  KEY_INACTIVE: closeCodes.badKey,
  OVERLOADED: closeCodes.unavailable,
  STORE_UNAVAILABLE: closeCodes.unavailable,
  NETWORK_NOT_ALLOWED: closeCodes.notAllowed,
  DOMAIN_NOT_ALLOWED: closeCodes.notAllowed,
  IP_NOT_ALLOWED: closeCodes.notAllowed,
  PERMISSION_DENIED: closeCodes.notAllowed,
};

/** The stream of prices: who is connected, who follows what, and what each newly agreed price is sent to. */
export class OracleStream implements SocketMount {
  readonly #options: OracleStreamOptions;
  readonly #dependencies: OracleStreamDependencies;
  readonly #services: StreamServices;
  readonly #sessions = new Set<StreamClient>();
  /** What was agreed in one turn of the event loop goes out together, each text written once for all who follow. */
  readonly #fanOut: FanOut;
  readonly #followers = new Map<string, FrameGroup>();
  readonly #paces = new Map<string, Pace>();
  readonly #connections = new Map<string, number>();
  #members = 0;

  constructor(options: OracleStreamOptions, dependencies: OracleStreamDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#fanOut = new FanOut({ failed: (error) => dependencies.events.internalError("oracle", error) });
    this.#services = this.#serve();
  }

  /** Connected clients. */
  get size(): number {
    return this.#sessions.size;
  }

  serves(path: string): boolean {
    return path === streamPath;
  }

  begin(request: Request, peer: SocketPeer): StreamSession {
    const { access, requestId } = this.#dependencies;
    const caller = access.callerOf(request.headers, peer.requestIP(request)?.address ?? "");
    return new StreamSession({ requestId: requestId(), caller }, this.#services);
  }

  /**
   * Sends a price to all who follow its symbol. The first after a quiet while goes out at once; of those that follow
   * closely the newest goes out when its time has come, so that what clients are sent is bounded however busy sources
   * are.
   */
  publish(quotation: Quotation): void {
    const { symbol } = quotation.round;
    const pace = this.#paces.get(symbol) ?? { sentAtMs: Number.NEGATIVE_INFINITY, next: null };
    this.#paces.set(symbol, pace);
    const waitMs = pace.sentAtMs + pushEveryMs - this.#dependencies.clock.monotonic();
    if (pace.next !== null) pace.next = quotation;
    else if (waitMs <= 0) this.#send(quotation, pace);
    else {
      pace.next = quotation;
      this.#dependencies.clock.after(waitMs, () => this.#sendNext(pace));
    }
  }

  /**
   * Reports once to subscribers that a symbol has no price any more; without it they would assume an unchanged price.
   */
  withdraw(none: NoPrice): void {
    const pace = this.#paces.get(none.symbol);
    if (pace !== undefined) pace.next = null;
    const facts = unavailableFacts(none, { variant: "v1", nowMs: this.#dependencies.clock.now() });
    this.#followers.get(none.symbol)?.publish(faultText({ code: "PRICE_UNAVAILABLE", ...facts }));
  }

  #sendNext(pace: Pace): void {
    const { next } = pace;
    pace.next = null;
    if (next !== null) this.#send(next, pace);
  }

  #send({ round, update }: Quotation, pace: Pace): void {
    pace.sentAtMs = this.#dependencies.clock.monotonic();
    this.#followers.get(round.symbol)?.publish(update);
  }

  /** Asks again whether the keys of all clients hold: some may have been revoked. */
  recheck(): void {
    for (const session of this.#sessions) void session.recheck();
  }

  #serve(): StreamServices {
    const { clock, priceStore, events } = this.#dependencies;
    return {
      authMs: this.#options.authMs ?? oracleBounds.socketAuthMs,
      clock,
      isCrowded: () => this.#sessions.size - this.#members > oracleBounds.socketsUnknownMax,
      admit: (apiKey, caller) => this.#admit(apiKey, caller),
      leave: (accountId) => this.#leave(accountId),
      recheck: async (apiKey, caller) => {
        const known = await this.#identify(apiKey, caller);
        if (known.ok) return null;
        // A store that does not answer now is no reason to send away who was let in.
        return known.closeCode === closeCodes.unavailable ? null : known;
      },
      followers: (symbol) => {
        const followers = this.#followers.get(symbol) ?? this.#fanOut.group(symbol);
        this.#followers.set(symbol, followers);
        return followers;
      },
      present: (symbol) => {
        const served = priceStore.served(symbol, oracleTierTerms.ultra.updateFrequencySeconds);
        return served.kind === "price" ? served.quotation : null;
      },
      refused: (connection, refusal) => this.#record(connection, refusal),
      opened: (session) => {
        this.#sessions.add(session);
        events.socketOpened();
      },
      closed: (session, code) => this.#closed(session, code),
      sent: (messages) => events.pricesSent(messages),
      conflated: (messages) => events.pricesConflated(messages),
    };
  }

  #closed(session: StreamClient, code: number): void {
    if (!this.#sessions.delete(session)) return;
    if (session.member !== null) this.#leave(session.member.accountId);
    this.#dependencies.events.socketClosed(code);
  }

  /** What is refused once its account is known has a record, as a request has. */
  #record({ requestId, sinceMs, bytesOut }: EndedConnection, { holder, code, closeCode }: StreamRefusal): void {
    if (holder === null) return;
    const { clock, events } = this.#dependencies;
    events.requestServed({
      at: clock.now(),
      requestId,
      accountId: holder.accountId,
      keyId: holder.keyId,
      network: "",
      door: "rest",
      method: streamPath,
      status: closeCode,
      rpcCode: null,
      latencyMs: clock.monotonic() - sinceMs,
      bytesIn: 0,
      bytesOut,
      credits: 0,
      code,
      cache: "",
      upstream: "",
    });
  }

  /** The key's grant where it may stream, by the checks of a request in the same order. Never rejects. */
  async #identify(apiKey: string, caller: Caller): Promise<Grant | Refused> {
    const { access, events } = this.#dependencies;
    try {
      const outcome = await access.admit(apiKey, caller, readPermission);
      if (!outcome.ok) {
        const { grant } = outcome;
        if (grant === undefined) events.requestRefused(outcome.code);
        return refused(grant, {
          code: admissionError(outcome, apiKey).code,
          closeCode: refusalCloseCodes[outcome.code],
        });
      }
      if (tierOf(outcome, "v1").terms.webSocketConnections > 0) return outcome;
      return refused(outcome, { code: "INSUFFICIENT_TIER", closeCode: closeCodes.notAllowed });
    } catch (error) {
      events.internalError("oracle", error);
      return refused(undefined, { code: "INTERNAL_ERROR", closeCode: closeCodes.unavailable });
    }
  }

  /** A connection takes one token of the rate and counts as one of the month's requests; what it is sent does not. */
  async #admit(apiKey: string, caller: Caller): ReturnType<StreamServices["admit"]> {
    const grant = await this.#identify(apiKey, caller);
    if (!grant.ok) return grant;
    const { access, allowance, events } = this.#dependencies;
    const { accountId, keyId } = grant;
    const { tier, terms } = tierOf(grant, "v1");
    const rateLimited = refused(grant, { code: "RATE_LIMIT_EXCEEDED", closeCode: closeCodes.rateLimited });
    if ((await takeRate(access, "v1", { grant, terms })).error !== null) return rateLimited;
    const held = this.#connections.get(accountId) ?? 0;
    if (held >= terms.webSocketConnections) return rateLimited;
    this.#connections.set(accountId, held + 1);
    this.#members += 1;
    try {
      const monthly = terms.requestsMonthly === null ? null : BigInt(terms.requestsMonthly);
      if (await allowance.take(accountId, monthly, 1)) return { accountId, keyId, tier };
      this.#leave(accountId);
      return refused(grant, { code: "QUOTA_EXCEEDED", closeCode: closeCodes.quotaExceeded });
    } catch (error) {
      this.#leave(accountId);
      events.internalError("oracle", error);
      return refused(grant, { code: "SERVICE_UNAVAILABLE", closeCode: closeCodes.unavailable });
    }
  }

  #leave(accountId: string): void {
    this.#members -= 1;
    const held = (this.#connections.get(accountId) ?? 0) - 1;
    if (held > 0) this.#connections.set(accountId, held);
    else this.#connections.delete(accountId);
  }
}

/** A refusal beside which a grant can be told apart. */
type Refused = StreamRefusal & { readonly ok: false };

function refused(grant: Holder | undefined, refusal: Omit<StreamRefusal, "holder">): Refused {
  const holder = grant === undefined ? null : { accountId: grant.accountId, keyId: grant.keyId };
  return { ok: false, ...refusal, holder };
}
