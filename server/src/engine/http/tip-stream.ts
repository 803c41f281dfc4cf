import { closeCodes } from "@sluice/contract/close-codes";
import type { AddressSet, Timer, Timers } from "@sluice/lib";
import { stringifyJsonExact } from "@sluice/wire/json";
import { clientAddress } from "../../http/index.ts";
import type { SocketMount, SocketPeer } from "../../net/index.ts";
import type { EngineEvents } from "../model/events.ts";
import { type RefusalRecords, recordRefusal } from "../model/refusal-records.ts";
import type { BlockEngineService } from "../model/service.ts";
import type { Admit, Incoming } from "./admit.ts";
import { EngineRefusal, engineFailure, type ShownFailure, shownFailure } from "./failure.ts";
import { tipFloorRecord } from "./tip-floor-record.ts";
import { TipSession } from "./tip-session.ts";

export interface TipStreamDependencies {
  readonly engine: Pick<BlockEngineService, "tipFloor">;
  readonly admit: Admit;
  readonly trustedProxies: AddressSet;
  readonly requestId: () => string;
  readonly clock: Timers;
  readonly records: RefusalRecords;
  readonly events: Pick<EngineEvents, "streamOpened" | "streamClosed" | "answered" | "internalError">;
}

export const tipStreamPath = "/api/v1/bundles/tip_stream";
/** How often the floor is checked, and the checks after which an unchanged floor is sent again. */
const checkMs = 1_000;
const checksUnsent = 5;
/** Clients of all keys together; each costs a socket and nothing else. */
const clientsMax = 1_000;
const clientsPerAccountMax = 20;

/**
 * Jito's stream of the tip floor: the record of `GET /bundles/tip_floor` at once, at each change and every few seconds.
 */
export class TipStream implements SocketMount, Disposable {
  readonly #dependencies: TipStreamDependencies;
  readonly #members = new Map<TipSession, { readonly accountId: string; readonly incoming: Incoming }>();
  readonly #timer: Timer;
  #sent = "";
  #unsentChecks = 0;

  constructor(dependencies: TipStreamDependencies) {
    this.#dependencies = dependencies;
    this.#timer = dependencies.clock.every(checkMs, () => this.check());
  }

  /** Connected clients. */
  get size(): number {
    return this.#members.size;
  }

  serves(path: string): boolean {
    return path === tipStreamPath;
  }

  /**
   * The checks of a request, in the same order. A client that is refused is reported on the socket and closed with a
   * code.
   */
  async begin(request: Request, peer: SocketPeer): Promise<TipSession> {
    const { admit, trustedProxies, requestId, records, events } = this.#dependencies;
    const forwarded = request.headers.get("x-forwarded-for");
    const address = clientAddress(peer.requestIP(request)?.address ?? "", forwarded, trustedProxies);
    const incoming: Incoming = { request, clientAddress: address, headers: {}, grant: undefined, isRecorded: false };
    const session = new TipSession(requestId(), {
      opened: () => session.offer(this.#text()),
      closed: () => this.#members.delete(session) && events.streamClosed(tipStreamPath),
      recheck: () => void this.#recheck(session),
    });
    const sinceMs = records.clock.monotonic();
    try {
      await admit.address(incoming);
      const { accountId } = await admit.key(incoming, "read");
      this.#requireRoom(accountId);
      this.#members.set(session, { accountId, incoming });
      events.streamOpened(tipStreamPath);
    } catch (error) {
      const failure = this.#shown(error);
      events.answered(tipStreamPath, failure.status);
      const caller = admit.callerOf(incoming);
      const status = refuse(session, failure);
      const { code } = failure;
      if (caller !== null) {
        recordRefusal(records, { caller, requestId: session.requestId, method: tipStreamPath, status, code, sinceMs });
      }
    }
    return session;
  }

  /** Sends the floor when it has changed, or was not sent for a while. */
  check(): void {
    if (this.#members.size === 0) return;
    const text = this.#text();
    const isNew = text !== this.#sent;
    this.#unsentChecks = isNew ? 0 : this.#unsentChecks + 1;
    if (!isNew && this.#unsentChecks < checksUnsent) return;
    this.#sent = text;
    this.#unsentChecks = 0;
    for (const session of this.#members.keys()) session.offer(text);
  }

  /** Keys or accounts have changed: clients whose key may not read any more are sent away. */
  async recheck(): Promise<void> {
    await Promise.all([...this.#members.keys()].map((session) => this.#recheck(session)));
  }

  #text(): string {
    return stringifyJsonExact(tipFloorRecord(this.#dependencies.engine.tipFloor()));
  }

  #requireRoom(accountId: string): void {
    let held = 0;
    for (const member of this.#members.values()) if (member.accountId === accountId) held += 1;
    if (held >= clientsPerAccountMax) throw new EngineRefusal(engineFailure("RATE_LIMIT_EXCEEDED"));
    if (this.#members.size >= clientsMax) throw new EngineRefusal(engineFailure("UNAVAILABLE"));
  }

  async #recheck(session: TipSession): Promise<void> {
    const member = this.#members.get(session);
    if (member === undefined) return;
    try {
      await this.#dependencies.admit.key(member.incoming, "read");
    } catch (error) {
      const failure = this.#shown(error);
      // A store that does not answer now is no reason to send away who was let in.
      if (failure.status < 500) refuse(session, failure);
    }
  }

  #shown(error: unknown): ShownFailure {
    const failure = shownFailure(error);
    if (failure !== null) return failure;
    this.#dependencies.events.internalError("tip stream", error);
    return engineFailure("INTERNAL_ERROR");
  }

  [Symbol.dispose](): void {
    this.#timer.cancel();
    for (const session of this.#members.keys()) {
      session.end({ code: closeCodes.unavailable, reason: "The engine of this process ends" });
    }
  }
}

/** Closes the session, and gives the code that it is closed with. */
function refuse(session: TipSession, { status, code, detail }: ShownFailure): number {
  const closeCode =
    status === 401 || code === "INVALID_API_KEY"
      ? closeCodes.badKey
      : status === 403
        ? closeCodes.notAllowed
        : status === 429
          ? closeCodes.rateLimited
          : closeCodes.unavailable;
  session.end({ code: closeCode, reason: detail });
  return closeCode;
}
