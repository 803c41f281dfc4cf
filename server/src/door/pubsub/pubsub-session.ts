import { type ErrorCode, errorTable, limits } from "@sluice/contract";
import { jsonRpcFailureBody } from "../../http/index.ts";
import type { Exchange } from "../exchange.ts";
import type { DoorGrant } from "../interfaces.ts";
import { closeCodes, type DoorSocket, type SocketSession } from "../socket.ts";
import { MessageRate } from "./message-rate.ts";
import { NodeWay } from "./node-way.ts";
import type { PubSubServices } from "./services.ts";
import type { PubSubTarget } from "./upstream-link.ts";

/** What may lie unsent towards a client before it is taken for one that does not read. */
const unsentBytesMax = 8 * 1024 * 1024;
const inboundPerSecondMax = 50;
/** A stream costs one credit for each started 0.1 MB sent. */
const bytesPerCredit = 100_000;
const missedPongsMax = 2;

/** A client that was refused at the upgrade: it is told why and closed. */
export class RefusedSession implements SocketSession {
  readonly requestId: string;
  readonly #code: ErrorCode;
  readonly #closeCode: number;

  constructor(requestId: string, code: ErrorCode, closeCode: number) {
    this.requestId = requestId;
    this.#code = code;
    this.#closeCode = closeCode;
  }

  opened(socket: DoorSocket): void {
    socket.send(jsonRpcFailureBody(this.#code, { requestId: this.requestId }));
    socket.close(this.#closeCode, errorTable[this.#code].text);
  }

  received(): void {}
  ponged(): void {}
  closed(): void {}
  tick(): void {}
  drain(): void {}
}

/** A client passed through to a node: what either says goes to the other byte for byte, within bounds. */
export class PubSubSession implements SocketSession {
  readonly #exchange: Exchange;
  readonly #grant: DoorGrant;
  readonly #presented: string | null;
  readonly #target: PubSubTarget;
  readonly #services: PubSubServices;
  readonly #inbound = new MessageRate({ perSecond: inboundPerSecondMax });
  #socket: DoorSocket | null = null;
  #link: NodeWay | null = null;
  #missedPongs = 0;
  #bytesIn = 0;
  #bytesOut = 0;
  #credits = 0;
  /** The code we closed with; what the runtime reports after a close of ours may differ. */
  #closeCode: number | null = null;
  #isGone = false;

  constructor(
    exchange: Exchange,
    grant: DoorGrant,
    options: { readonly presented: string | null; readonly target: PubSubTarget },
    services: PubSubServices,
  ) {
    this.#exchange = exchange;
    this.#grant = grant;
    this.#presented = options.presented;
    this.#target = options.target;
    this.#services = services;
  }

  get requestId(): string {
    return this.#exchange.requestId;
  }

  opened(socket: DoorSocket): void {
    this.#socket = socket;
    this.#services.events.pubsubOpened("pubsub", this.#exchange.network);
    const { network } = this.#exchange;
    this.#link = new NodeWay(
      { first: this.#target, next: (lost) => this.#services.target(network, lost) },
      {
        received: (data) => this.#forward(data),
        lost: () => this.#end(closeCodes.nodeLost, "NETWORK_UNAVAILABLE"),
        moved: () => this.#services.events.pubsubMoved("pubsub", network),
      },
    );
  }

  received(data: string | Uint8Array): void {
    const bytes = typeof data === "string" ? Buffer.byteLength(data) : data.byteLength;
    this.#bytesIn += bytes;
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
    if (link !== null && !this.#services.isServing(this.#exchange.network, link.label)) link.leave();
    void this.#checkKey();
  }

  drain(): void {
    this.#end(closeCodes.goingAway, null);
  }

  closed(code: number): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#link?.close();
    const closeCode = this.#closeCode ?? code;
    this.#services.connections.leave(this.#grant.accountId);
    if (this.#socket === null) return;
    this.#services.events.pubsubClosed("pubsub", this.#exchange.network, closeCode);
    this.#services.served({
      at: this.#exchange.at,
      requestId: this.#exchange.requestId,
      accountId: this.#grant.accountId,
      keyId: this.#grant.keyId,
      network: this.#exchange.network,
      door: "pubsub",
      method: "pubsub",
      status: closeCode,
      rpcCode: null,
      latencyMs: this.#services.clock.monotonic() - this.#exchange.startedMs,
      bytesIn: this.#bytesIn,
      bytesOut: this.#bytesOut,
      credits: this.#credits,
      cache: "",
      upstream: this.#link?.label ?? this.#target.label,
    });
  }

  #forward(data: string | Uint8Array): void {
    const socket = this.#socket;
    if (socket === null || this.#closeCode !== null) return;
    this.#bytesOut += typeof data === "string" ? Buffer.byteLength(data) : data.byteLength;
    socket.send(data);
    if (socket.getBufferedAmount() > unsentBytesMax) {
      this.#end(closeCodes.slowConsumer, null);
      return;
    }
    while (this.#closeCode === null && this.#credits * bytesPerCredit < this.#bytesOut) this.#charge();
  }

  #charge(): void {
    this.#credits += 1;
    const paid = this.#services.credits.take(this.#grant.accountId, this.#grant.creditsMonthly, 1);
    const judge = (isPaid: boolean): void => {
      if (!isPaid) this.#end(closeCodes.outOfCredits, "INSUFFICIENT_CREDITS");
    };
    if (typeof paid === "boolean") judge(paid);
    else paid.then(judge, () => judge(false));
  }

  /** A key that was revoked while its connection lasts ends the connection. */
  async #checkKey(): Promise<void> {
    try {
      const outcome = await this.#services.keys.authenticate(this.#presented);
      if (!("refused" in outcome) || outcome.refused === "OVERLOADED") return;
      this.#end(closeCodes.badKey, outcome.refused);
    } catch (fault) {
      this.#services.events.faultCaught("pubsub", fault, { requestId: this.#exchange.requestId });
    }
  }

  #end(closeCode: number, code: ErrorCode | null): void {
    if (this.#closeCode !== null || this.#isGone) return;
    this.#closeCode = closeCode;
    this.#link?.close();
    const socket = this.#socket;
    if (socket === null) return;
    if (code !== null) socket.send(jsonRpcFailureBody(code, { requestId: this.#exchange.requestId }));
    socket.close(closeCode, code === null ? "" : errorTable[code].text);
  }
}
