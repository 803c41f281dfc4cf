import { type ErrorCode, errorTable } from "@sluice/contract/errors";
import { limits } from "@sluice/contract/limits";
import { type Network, platformTierLimits } from "@sluice/contract/tiers";
import { jsonRpcFailureBody } from "../../http/index.ts";
import type { Grant, RestrictedRequest } from "../../keys/index.ts";
import { closeCodes, type DoorSocket, type SocketSession } from "../../net/index.ts";
import { ConnectionMeter } from "./connection-meter.ts";
import { MessageRate } from "./message-rate.ts";
import { NodeWay } from "./node-way.ts";
import type { PubSubServices } from "./services.ts";
import type { PubSubTarget } from "./upstream-link.ts";

/** What may lie unsent towards a client before it is taken for one that does not read. */
const unsentBytesMax = 8 * 1024 * 1024;
const inboundPerSecondMax = 50;
const missedPongsMax = 2;

/** A client that was refused at the upgrade: it is told why and closed. */
export class RefusedSession implements SocketSession {
  readonly requestId: string;
  readonly #refusal: { readonly code: ErrorCode; readonly message: string };
  readonly #closeCode: number;

  constructor(requestId: string, refusal: { readonly code: ErrorCode; readonly message: string }, closeCode: number) {
    this.requestId = requestId;
    this.#refusal = refusal;
    this.#closeCode = closeCode;
  }

  opened(socket: DoorSocket): void {
    const { code, message } = this.#refusal;
    socket.send(jsonRpcFailureBody(code, { requestId: this.requestId, message }));
    socket.close(this.#closeCode, message);
  }

  received(): void {}
  ponged(): void {}
  closed(): void {}
  tick(): void {}
  drain(): void {}
}

/** What is known of a client since its upgrade. */
export interface PubSubClient {
  readonly requestId: string;
  /** Monotonic. */
  readonly startedMs: number;
  /** What restrictions are about, kept since they may be narrowed while the connection lasts. */
  readonly request: RestrictedRequest & { readonly network: Network };
  readonly presented: string | null;
  readonly target: PubSubTarget;
}

/** A client passed through to a node: what either says goes to the other byte for byte, within bounds. */
export class PubSubSession implements SocketSession {
  readonly #client: PubSubClient;
  readonly #services: PubSubServices;
  readonly #inbound = new MessageRate({ perSecond: inboundPerSecondMax });
  readonly #meter: ConnectionMeter;
  /** What the key may do now: narrowed as its account is, while the connection lasts. */
  #grant: Grant;
  #socket: DoorSocket | null = null;
  #link: NodeWay | null = null;
  #missedPongs = 0;
  /** The code we closed with; what the runtime reports after a close of ours may differ. */
  #closeCode: number | null = null;
  #said: ErrorCode | null = null;
  #hasLeft = false;
  #isGone = false;

  constructor(client: PubSubClient, grant: Grant, services: PubSubServices) {
    this.#client = client;
    this.#grant = grant;
    this.#services = services;
    const { requestId, startedMs, request } = client;
    const { accountId, keyId } = grant;
    this.#meter = new ConnectionMeter({ requestId, startedMs, accountId, keyId, network: request.network }, services);
  }

  get requestId(): string {
    return this.#client.requestId;
  }

  opened(socket: DoorSocket): void {
    this.#socket = socket;
    const { network } = this.#client.request;
    this.#services.events.pubsubOpened("pubsub", network);
    if (this.#closeCode !== null) {
      this.#close(socket, this.#closeCode);
      return;
    }
    this.#link = new NodeWay(
      { first: this.#client.target, next: (lost) => this.#services.target(network, lost) },
      {
        received: (data) => this.#forward(data),
        lost: () => this.#end(closeCodes.nodeLost, "NETWORK_UNAVAILABLE"),
        moved: () => this.#services.events.pubsubMoved("pubsub", network),
      },
    );
  }

  received(data: string | Uint8Array): void {
    const bytes = typeof data === "string" ? Buffer.byteLength(data) : data.byteLength;
    this.#meter.received(bytes);
    if (this.#closeCode !== null) return;
    if (bytes > limits.pubsubMessageBytes) {
      this.#end(closeCodes.messageTooLarge, null);
      return;
    }
    if (!this.#inbound.take(this.#services.clock.monotonic())) {
      this.#end(closeCodes.rateLimited, "RATE_LIMIT_EXCEEDED");
      return;
    }
    if (this.#link?.send(data) === false) this.#end(closeCodes.nodeLost, "NETWORK_UNAVAILABLE");
  }

  ponged(): void {
    this.#missedPongs = 0;
  }

  tick(): void {
    // Also the end of a peer that was sent our closing frame and never answered it.
    if (this.#missedPongs >= missedPongsMax || this.#closeCode !== null) {
      this.#socket?.terminate();
      return;
    }
    this.#missedPongs += 1;
    this.#socket?.ping();
    const link = this.#link;
    if (link !== null && !this.#services.isServing(this.#client.request.network, link.label)) link.leave();
    this.#meter.tellWhenDue(this.#upstream);
    void this.recheck();
  }

  drain(): void {
    this.#end(closeCodes.goingAway, null);
  }

  closed(code: number): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#link?.close();
    this.#leave();
    this.#services.left(this);
    if (this.#socket === null) return;
    const closeCode = this.#closeCode ?? code;
    this.#services.events.pubsubClosed("pubsub", this.#client.request.network, closeCode);
    void this.#meter.end(closeCode, this.#upstream);
  }

  /**
   * Judges the connection by what its key may do now: one that was revoked ends it, as does a restriction that it breaks
   * since it was narrowed, or a tier that allows fewer connections than its account holds.
   */
  async recheck(): Promise<void> {
    const { access, connections, events } = this.#services;
    try {
      const outcome = await access.identify(this.#client.presented);
      if (this.#closeCode !== null || this.#isGone) return;
      if (!outcome.ok) {
        // Whoever cannot be asked now is asked at the next tick.
        if (outcome.code !== "OVERLOADED") this.#end(closeCodes.badKey, outcome.code);
        return;
      }
      this.#grant = outcome;
      const restricted = access.restrict(outcome, this.#client.request);
      if (restricted !== null) this.#end(closeCodes.notAllowed, restricted.code);
      else if (connections.of(outcome.accountId) > platformTierLimits[outcome.tier].webSocketConnections) {
        this.#end(closeCodes.rateLimited, "RATE_LIMIT_EXCEEDED");
      }
    } catch (fault) {
      events.internalError("pubsub", fault, { requestId: this.requestId });
    }
  }

  get #upstream(): string {
    return this.#link?.label ?? this.#client.target.label;
  }

  #forward(data: string | Uint8Array): void {
    const socket = this.#socket;
    if (socket === null || this.#closeCode !== null) return;
    socket.send(data);
    if (socket.getBufferedAmount() > unsentBytesMax) this.#end(closeCodes.slowConsumer, null);
    const bytes = typeof data === "string" ? Buffer.byteLength(data) : data.byteLength;
    this.#meter.sent(bytes, this.#grant.creditsMonthly, () =>
      this.#end(closeCodes.outOfCredits, "INSUFFICIENT_CREDITS"),
    );
  }

  /** Given back once, as soon as it is to end: the next to be judged counts without it. */
  #leave(): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    this.#services.connections.leave(this.#grant.accountId);
  }

  #end(closeCode: number, code: ErrorCode | null): void {
    if (this.#closeCode !== null || this.#isGone) return;
    this.#closeCode = closeCode;
    this.#said = code;
    this.#link?.close();
    this.#leave();
    // One that is still being upgraded is told when it is open.
    if (this.#socket !== null) this.#close(this.#socket, closeCode);
  }

  #close(socket: DoorSocket, closeCode: number): void {
    const code = this.#said;
    if (code !== null) socket.send(jsonRpcFailureBody(code, { requestId: this.requestId }));
    socket.close(closeCode, code === null ? "" : errorTable[code].text);
  }
}
