import { closeCodes } from "@sluice/contract/close-codes";
import { type ErrorCode, errorTable } from "@sluice/contract/errors";
import { limits } from "@sluice/contract/limits";
import { platformTierLimits } from "@sluice/contract/tiers";
import { jsonRpcFailureBody } from "../../http/index.ts";
import type { Grant } from "../../keys/index.ts";
import type { LimitDecision } from "../../limits/index.ts";
import { ClientSession, type FrameBatch, InboundBounds } from "../../net/index.ts";
import type { AdmittedClient } from "../delivery/admission.ts";
import { ConnectionMeter } from "../delivery/connection-meter.ts";
import { HeldPlace } from "../delivery/connection-places.ts";
import type { PacedConnection } from "../delivery/message-pacer.ts";
import { type OutboundMessage, Outbox } from "../delivery/outbox.ts";
import { type ClientCall, readMessage } from "./client-messages.ts";
import { ClientSubscriptions } from "./client-subscriptions.ts";
import { NodeLink } from "./node-link.ts";
import type { CheckedSession, SessionDependencies } from "./session-dependencies.ts";

const inbound = { messageBytesMax: limits.pubsubMessageBytes, messagesPerSecond: 50 } as const;

/**
 * A client of PubSub. Its subscriptions are shared with all clients of this process that have the same; calls of
 * methods that no table knows go to a node over a link of the client's own. What goes to the client keeps to the
 * messages a second of its account.
 */
export class PubSubSession extends ClientSession implements PacedConnection, CheckedSession {
  readonly #client: AdmittedClient;
  readonly #dependencies: SessionDependencies;
  readonly #meter: ConnectionMeter;
  readonly #outbox = new Outbox();
  readonly #subscriptions: ClientSubscriptions;
  /** What the key may do now: narrowed as its account is, while the connection lasts. */
  #grant: Grant;
  readonly #place: HeldPlace;
  /** Null before the first call of an unknown method. */
  #link: NodeLink | null = null;

  constructor(client: AdmittedClient, grant: Grant, dependencies: SessionDependencies) {
    super(client.requestId, new InboundBounds(inbound, dependencies));
    this.#client = client;
    this.#grant = grant;
    this.#place = new HeldPlace(dependencies.places, grant.accountId);
    this.#dependencies = dependencies;
    const { requestId, startedMs, request } = client;
    const { accountId, keyId } = grant;
    this.#meter = new ConnectionMeter(
      { requestId, startedMs, accountId, keyId, network: request.network, door: "pubsub" },
      dependencies,
    );
    this.#subscriptions = new ClientSubscriptions(request.network, {
      table: dependencies.table,
      grant: () => this.#grant,
      send: (text) => this.#forward(text),
      join: (group) => this.join(group),
      leave: (group) => this.leave(group),
      lost: () => this.#end(closeCodes.unavailable, "NETWORK_UNAVAILABLE"),
    });
  }

  protected override onOpened(): void {
    const { network } = this.#client.request;
    this.#dependencies.events.pubsubOpened("pubsub", network);
  }

  protected override onReceived(bytes: number): void {
    this.#meter.received(bytes);
  }

  protected override onMessage(data: string | Uint8Array): void {
    const { access, allowUnknownMethods } = this.#dependencies;
    const permit = (method: string) => access.permitMethod(this.#grant, method);
    const { calls, isBatch } = readMessage(data, { requestId: this.requestId, allowUnknownMethods, permit });
    if (!isBatch) {
      for (const call of calls) this.#answer(call, (body) => this.#forward(body));
      return;
    }
    // What a subscription notifies follows the answer that names it.
    this.#subscriptions.hold();
    const answers: string[] = [];
    let missing = calls.length;
    for (const [index, call] of calls.entries()) {
      this.#answer(call, (body) => {
        answers[index] = body;
        missing -= 1;
        if (missing > 0) return;
        this.#forward(`[${answers.join(",")}]`);
        this.#subscriptions.release();
      });
    }
  }

  /** Answers a call, at once or later; what goes to a node as it is has no answer here. */
  #answer(call: ClientCall, answered: (body: string) => void): void {
    switch (call.kind) {
      case "refused":
        answered(call.body);
        break;
      case "subscribe":
        this.#subscriptions.subscribe(call.spec, (member) => answered(answerOf(member, call.id)));
        break;
      case "unsubscribe": {
        const isKnown = this.#subscriptions.unsubscribe(call.subscription);
        answered(answerOf(isKnown ? '"result":true' : unknownSubscription, call.id));
        break;
      }
      case "version":
        void this.#dependencies.versions.answer(this.#client.request.network, call.id, this.requestId).then(answered);
        break;
      case "unknown":
        this.#pass(call.text);
        break;
    }
  }

  /** Passes a call of an unknown method to a node, over a connection that no other client has. */
  #pass(text: string): void {
    const { clock, events, pool } = this.#dependencies;
    const { network } = this.#client.request;
    if (this.#link === null) {
      const next = (lost: ReadonlySet<string>) => pool(network)?.pubsubNode(lost) ?? null;
      const first = next(new Set());
      if (first === null) {
        this.#end(closeCodes.unavailable, "NETWORK_UNAVAILABLE");
        return;
      }
      this.#link = new NodeLink({ first, next }, clock, {
        received: (data) => this.#forward(data),
        lost: () => this.#end(closeCodes.unavailable, "NETWORK_UNAVAILABLE"),
        moved: () => events.pubsubMoved(network, 1),
      });
    }
    if (!this.#link.send(text)) this.#end(closeCodes.unavailable, "NETWORK_UNAVAILABLE");
  }

  protected override onExceeded(closeCode: number): void {
    this.#end(closeCode, closeCode === closeCodes.rateLimited ? "RATE_LIMIT_EXCEEDED" : null);
  }

  protected override onTick(): void {
    const link = this.#link;
    const { network } = this.#client.request;
    if (link !== null && this.#dependencies.pool(network)?.mayNotify(link.label) !== true) link.leave();
    this.#meter.reportWhenDue(this.#upstream);
    void this.recheck();
  }

  protected override onEnding(): void {
    this.#link?.close();
    this.#subscriptions.close();
    this.#leave();
  }

  protected override onClosed(code: number, wasOpened: boolean): void {
    this.#link?.close();
    this.#subscriptions.close();
    this.#leave();
    this.#dependencies.left(this);
    if (!wasOpened) return;
    this.#dependencies.events.pubsubClosed("pubsub", this.#client.request.network, code);
    void this.#meter.end(code, this.#upstream);
  }

  /**
   * Checks the connection against its key as it is now: a revoked key ends it, as does a restriction that it breaks
   * since it was narrowed, or a tier that allows fewer connections than its account holds.
   */
  async recheck(): Promise<void> {
    const { admission, events } = this.#dependencies;
    try {
      const outcome = await admission.recheck(this.#client);
      if (!this.isLive || outcome.kind === "undecided") return;
      if (outcome.kind === "ends") {
        this.#end(outcome.closeCode, outcome.code);
        return;
      }
      this.#grant = outcome.grant;
      if (await this.#place.leaveBeyond(platformTierLimits[outcome.grant.tier].webSocketConnections))
        this.#end(closeCodes.rateLimited, "RATE_LIMIT_EXCEEDED");
    } catch (error) {
      events.internalError("pubsub", error, { requestId: this.requestId });
    }
  }

  /** The node of the client's own link; what is shared is of no one node. */
  get #upstream(): string {
    return this.#link?.label ?? "";
  }

  get grant(): Grant {
    return this.#grant;
  }

  sendNext(): boolean {
    const message = this.#outbox.take();
    if (message === undefined || !this.send(message.data)) return false;
    this.#sent(message.bytes);
    return this.isLive && !this.#outbox.isEmpty;
  }

  #sent(bytes: number): void {
    this.#meter.sent(bytes, this.#grant.creditsMonthly, (reason) =>
      this.#end(reason === "STORE_UNAVAILABLE" ? closeCodes.unavailable : closeCodes.quotaExceeded, reason),
    );
  }

  #forward(data: string | Uint8Array): void {
    this.#offer({ data, bytes: typeof data === "string" ? Buffer.byteLength(data) : data.byteLength });
  }

  #offer(message: OutboundMessage): void {
    if (!this.#wait(message)) return;
    this.#dependencies.pacer.offer(this);
    this.#countWaiting(1);
  }

  /** Adds a message behind those that wait; false, and the client is closed, where too much does. */
  #wait(message: OutboundMessage): boolean {
    if (!this.isLive) return false;
    if (this.#outbox.add(message, this.unsentBytes)) return true;
    this.#end(closeCodes.slowConsumer, null);
    return false;
  }

  #countWaiting(messages: number): void {
    if (!this.#outbox.isEmpty) this.#dependencies.events.pubsubWaited("pubsub", this.#client.request.network, messages);
  }

  /**
   * Notifications go out together where there are tokens for all of them and nothing of the account waits; else they
   * wait with the rest. What was sent to this client alone has had its tokens.
   */
  protected override takes(batch: FrameBatch): boolean {
    const shared = sharedIn(batch);
    if (shared.messages.length === 0) return true;
    const { access, pacer } = this.#dependencies;
    const fits = this.#outbox.isEmpty && this.#outbox.fits(shared.bytes, this.unsentBytes);
    const taken =
      fits && !pacer.isWaiting(this.#grant.accountId)
        ? access.meter(this.#grant.buckets.messages, shared.messages.length)
        : null;
    if (taken !== null && !(taken instanceof Promise) && taken.allowed) {
      this.#sent(shared.bytes);
      return this.isLive;
    }
    for (const { group, data } of batch.frames) if (group === null) this.send(data);
    for (const message of shared.messages) if (!this.#wait(message)) return false;
    if (taken instanceof Promise) void this.#sendWhenTaken(taken, shared.messages.length);
    else {
      pacer.offer(this);
      this.#countWaiting(shared.messages.length);
    }
    return false;
  }

  /** Sends so many of the oldest messages that wait, once tokens for them have been taken. */
  async #sendWhenTaken(taken: Promise<LimitDecision>, messages: number): Promise<void> {
    const decision = await taken.catch(() => null);
    for (let left = decision?.allowed === true ? messages : 0; left > 0 && this.sendNext(); left -= 1);
    if (!this.isLive || this.#outbox.isEmpty) return;
    this.#dependencies.pacer.offer(this);
    this.#countWaiting(messages);
  }

  /** Gives its place back once, as soon as it is to end: the next connection is counted without it. */
  #leave(): void {
    this.#dependencies.pacer.leave(this);
    this.#place.leave();
  }

  /** Ends the session; a `code` is sent to the client before it is closed. */
  #end(closeCode: number, code: ErrorCode | null): void {
    if (code === null) this.end({ code: closeCode });
    else {
      const message = jsonRpcFailureBody(code, { requestId: this.requestId });
      this.end({ code: closeCode, reason: errorTable[code].text, message });
    }
  }
}

/** `member` is the JSON text of the result or the error, with its name. */
const answerOf = (member: string, id: string): string => `{"jsonrpc":"2.0",${member},"id":${id}}`;

/** In the words of a node. */
const unknownSubscription = '"error":{"code":-32602,"message":"Invalid subscription id."}';

interface SharedPart {
  readonly messages: readonly OutboundMessage[];
  readonly bytes: number;
}

/** Of a batch that many clients get, found out once. */
const sharedParts = new WeakMap<FrameBatch, SharedPart>();

/** What groups published of a batch. */
function sharedIn(batch: FrameBatch): SharedPart {
  const known = sharedParts.get(batch);
  if (known !== undefined) return known;
  const messages = batch.frames.flatMap(({ group, data }) => {
    const bytes = typeof data === "string" ? Buffer.byteLength(data) : data.byteLength;
    return group === null ? [] : [{ data, bytes }];
  });
  const part = { messages, bytes: messages.reduce((sum, { bytes }) => sum + bytes, 0) };
  sharedParts.set(batch, part);
  return part;
}
