import { closeCodes } from "@sluice/contract/close-codes";
import { type ErrorCode, errorTable } from "@sluice/contract/errors";
import { streamBounds } from "@sluice/contract/streams";
import { historyDays, platformTierLimits } from "@sluice/contract/tiers";
import type { Grant } from "../../keys/index.ts";
import { LogError } from "../../log/index.ts";
import { ClientSession, type FrameBatch, InboundBounds } from "../../net/index.ts";
import type { AdmittedClient, Recheck } from "../delivery/admission.ts";
import { ConnectionMeter } from "../delivery/connection-meter.ts";
import { HeldPlace } from "../delivery/connection-places.ts";
import type { PacedConnection } from "../delivery/message-pacer.ts";
import type { FlowEnd, FlowFrom } from "../flow/flow-receiver.ts";
import { type Ref, readClientMessage, type StreamRequest } from "./client-messages.ts";
import { LiveDelivery } from "./live-delivery.ts";
import {
  connectedText,
  drainingText,
  type ErrorMessage,
  errorText,
  placeText,
  pongText,
  subscribedText,
  unsubscribedText,
} from "./server-messages.ts";
import type { CheckedStream, SessionServices } from "./session-services.ts";
import { specOf, streamIdOf } from "./stream-spec.ts";
import { type BeginOutcome, Subscription, type SubscriptionHost } from "./subscription.ts";

const inbound = {
  messageBytesMax: streamBounds.messageBytesMax,
  messagesPerSecond: streamBounds.messagesPerSecond,
} as const;

/** A replay pauses while so much of the connection is unsent. */
const replayUnsentMax = 256 * 1024;
const dayMs = 86_400_000;
/** The clocks of a chain and of this server may differ by so much. */
const slackMs = 60_000;

/** What a connection has under one id: a subscription to the flow, or to slots as nodes begin them. */
type Held = Subscription | { readonly id: string; readonly cursor: null; end(): void };

type Begun = BeginOutcome | { readonly ok: false; readonly code: "RATE_LIMIT_EXCEEDED" };

/** Why a message is not taken. */
type Refusal = Pick<ErrorMessage, "code" | "message" | "firstSlot">;

/** One client of `/ws`. */
export class StreamSession extends ClientSession implements PacedConnection, CheckedStream {
  readonly #client: AdmittedClient;
  readonly #services: SessionServices;
  readonly #meter: ConnectionMeter;
  readonly #delivery: LiveDelivery;
  readonly #held = new Map<string, Held>();
  /** Replays with messages that wait, in the order in which they are served: one message each, in turn. */
  readonly #waiting = new Set<Subscription>();
  readonly #replays = new Set<Subscription>();
  /** The ids of subscriptions whose beginning is being looked for in the past. */
  readonly #beginning = new Set<string>();
  #grant: Grant;
  readonly #place: HeldPlace;

  constructor(client: AdmittedClient, grant: Grant, services: SessionServices) {
    super(client.requestId, new InboundBounds(inbound, services));
    this.#client = client;
    this.#grant = grant;
    this.#place = new HeldPlace(services.places, grant.accountId);
    this.#services = services;
    const { requestId, startedMs, request } = client;
    const { accountId, keyId } = grant;
    this.#meter = new ConnectionMeter(
      { requestId, startedMs, accountId, keyId, network: request.network, door: "ws" },
      services,
    );
    this.#delivery = new LiveDelivery({
      meter: (messages) => services.access.meter(this.#grant.buckets.messages, messages),
      send: (text) => void this.send(text),
      unsentBytes: () => this.unsentBytes,
      slow: () => this.#fail(closeCodes.slowConsumer, null),
      passed: ({ messages, bytes }) => this.#sent(messages, bytes),
      dropped: (messages) => services.events.streamDropped(request.network, messages),
    });
  }

  get grant(): Grant {
    return this.#grant;
  }

  get replays(): ReadonlySet<Subscription> {
    return this.#replays;
  }

  protected override onOpened(): void {
    this.#services.events.streamOpened(this.#client.request.network);
    this.#say(connectedText);
  }

  protected override onReceived(bytes: number): void {
    this.#meter.received(bytes);
  }

  protected override onMessage(data: string | Uint8Array): void {
    const message = readClientMessage(data);
    if (message.action === "ping") this.#say(pongText);
    else if (message.action === "fault") this.#refuse(message, message.ref);
    else if (message.action === "unsubscribe") this.#unsubscribe(message);
    else {
      const refusal = this.#subscribe(message);
      if (refusal !== null) this.#refuse(refusal, message.ref);
    }
  }

  protected override onExceeded(closeCode: number): void {
    this.#fail(closeCode, closeCode === closeCodes.rateLimited ? { code: "RATE_LIMIT_EXCEEDED" } : null);
  }

  protected override takes(batch: FrameBatch): boolean {
    return this.#delivery.takes(batch, this.#services.moment());
  }

  protected override onWritable(): void {
    if (this.#waiting.size > 0) this.#services.pacer.offer(this);
  }

  protected override onTick(): void {
    this.#meter.reportWhenDue("");
    this.#sayCursors();
    void this.recheck();
  }

  protected override onEnding(): void {
    this.#endAll();
    this.#leave();
  }

  protected override onClosed(code: number, wasOpened: boolean): void {
    this.#endAll();
    this.#leave();
    this.#services.left(this);
    if (!wasOpened) return;
    this.#services.events.streamClosed(this.#client.request.network, code);
    void this.#meter.end(code, "");
  }

  /** The process ends: tells the client where each of its subscriptions goes on, at another one. */
  override drain(): void {
    this.#delivery.flush();
    const subscriptions = [...this.#held.values()].map(({ id, cursor }) => ({ id, cursor }));
    this.end({ code: closeCodes.goingAway, message: drainingText(subscriptions) });
  }

  /** Checks the connection against its key as it is now. */
  async recheck(): Promise<void> {
    const { admission, events } = this.#services;
    try {
      const found: Recheck = await admission.recheck(this.#client);
      if (!this.isLive || found.kind === "undecided") return;
      if (found.kind === "ends") {
        this.#fail(found.closeCode, { code: found.code });
        return;
      }
      this.#grant = found.grant;
      if (await this.#place.leaveBeyond(platformTierLimits[found.grant.tier].webSocketConnections))
        this.#fail(closeCodes.rateLimited, { code: "RATE_LIMIT_EXCEEDED" });
    } catch (error) {
      events.internalError("ws", error, { requestId: this.requestId });
    }
  }

  /** A replay that comes no nearer to the head ends the connection; looked at each second. */
  checkReplays(): void {
    for (const subscription of this.#replays) {
      const { replay, head, id } = subscription;
      if (replay === null || replay.stalledMs(head) < streamBounds.replayStallMs) continue;
      this.#services.events.replayEnded(this.#client.request.network, "too_slow");
      this.#fail(closeCodes.slowConsumer, { code: "REPLAY_TOO_SLOW", subscriptionId: id, cursor: replay.cursor });
      return;
    }
  }

  /** Sends the next message of a replay. */
  sendNext(): boolean {
    if (!this.isLive || this.unsentBytes > replayUnsentMax) return false;
    for (const subscription of this.#waiting) {
      this.#waiting.delete(subscription);
      const text = subscription.replay?.take();
      if (text === undefined) continue;
      if (subscription.replay?.isWaiting === true) this.#waiting.add(subscription);
      this.#say(text);
      this.#services.events.streamSent(this.#client.request.network, 1, 0);
      return this.isLive && this.#waiting.size > 0;
    }
    return false;
  }

  /** Null where it is taken. */
  #subscribe({
    channel,
    filters,
    from,
    cursors,
    ref,
  }: Extract<StreamRequest, { action: "subscribe" }>): Refusal | null {
    const { network } = this.#client.request;
    if (this.#held.size + this.#beginning.size >= streamBounds.subscriptionsMax) return { code: "SUBSCRIPTION_LIMIT" };
    const outcome = specOf({ channel, network }, filters);
    if (!outcome.ok) return outcome;
    const { spec } = outcome;
    const { commitment } = spec;
    const id = this.#freeId(streamIdOf(spec));
    if (commitment === "processed") {
      if (from !== "live") {
        const message = "Slots at processed are told as they come: no cursor and no from_slot leads back to them";
        return { code: "COMMITMENT_UNAVAILABLE", message };
      }
      this.#say(subscribedText({ channel, id, cursor: null, ref }));
      this.#hold(this.#services.followProcessed(network, id, this.#groups));
      return null;
    }
    const parts = this.#services.stage(network, commitment);
    if (parts === null) return { code: "STREAM_UNAVAILABLE" };
    const subscription = new Subscription({ spec, commitment, id, tellsCursors: cursors, ...parts }, this.#host);
    try {
      const begun = this.#begin(subscription, from);
      if (!(begun instanceof Promise)) return this.#begun(subscription, begun, ref);
      this.#beginning.add(id);
      void this.#awaitBegun(subscription, begun, ref);
      return null;
    } catch (error) {
      return this.#refusalOf(error);
    }
  }

  /** To begin in the past costs reading it, also where nothing is sent of it: it takes a token as a request does. */
  #begin(subscription: Subscription, from: FlowFrom): Begun | Promise<Begun> {
    if (from === "live") return subscription.begin(from);
    const taken = this.#services.access.meter(this.#grant.buckets.requests);
    const begin = ({ allowed }: { readonly allowed: boolean }): Begun | Promise<Begun> =>
      allowed ? subscription.begin(from) : { ok: false, code: "RATE_LIMIT_EXCEEDED" };
    return taken instanceof Promise ? taken.then(begin) : begin(taken);
  }

  /** Why a place cannot be looked for: the log has just closed, or what holds the past is away. */
  #refusalOf(error: unknown): Refusal {
    if (error instanceof LogError) return { code: "STREAM_UNAVAILABLE" };
    this.#services.events.internalError("ws", error, { requestId: this.requestId });
    return { code: "STORE_UNAVAILABLE" };
  }

  async #awaitBegun(subscription: Subscription, beginning: Promise<Begun>, ref: Ref | null): Promise<void> {
    let refusal: Refusal | null;
    try {
      const begun = await beginning;
      this.#beginning.delete(subscription.id);
      refusal = this.#begun(subscription, begun, ref);
    } catch (error) {
      this.#beginning.delete(subscription.id);
      refusal = this.#refusalOf(error);
    }
    if (refusal !== null) this.#refuse(refusal, ref);
  }

  #begun(subscription: Subscription, begun: Begun, ref: Ref | null): Refusal | null {
    if (!begun.ok) return begun;
    if (!this.isLive) {
      subscription.end();
      return null;
    }
    const { id, spec } = subscription;
    this.#say(subscribedText({ channel: spec.channel, id, cursor: begun.cursor, ref }));
    this.#hold(subscription);
    if (subscription.replay !== null) {
      this.#replays.add(subscription);
      this.#services.events.replayBegun(spec.network);
    }
    subscription.start();
    return null;
  }

  #hold(held: Held): void {
    this.#held.set(held.id, held);
    this.#services.events.streamSubscribed(this.#client.request.network, 1);
  }

  #unsubscribe({ subscriptionId, ref }: Extract<StreamRequest, { action: "unsubscribe" }>): void {
    const held = this.#held.get(subscriptionId);
    if (held === undefined) {
      this.#refuse({ code: "NOT_FOUND", message: "The connection has no subscription of that id" }, ref);
      return;
    }
    this.#release(held);
    this.#say(unsubscribedText(held.id, ref));
  }

  #release(held: Held): void {
    if (!this.#held.delete(held.id)) return;
    this.#services.events.streamSubscribed(this.#client.request.network, -1);
    held.end();
  }

  /** Equal subscriptions of one connection are told apart by a number. */
  #freeId(id: string): string {
    const isTaken = (name: string): boolean => this.#held.has(name) || this.#beginning.has(name);
    if (!isTaken(id)) return id;
    let number = 2;
    while (isTaken(`${id}-${number}`)) number += 1;
    return `${id}-${number}`;
  }

  readonly #groups = {
    joined: (frames: Parameters<SubscriptionHost["joined"]>[0]): void => this.join(frames),
    left: (frames: Parameters<SubscriptionHost["left"]>[0]): void => this.leave(frames),
  };

  get #host(): SubscriptionHost {
    const { random, clock, read } = this.#services;
    return {
      ...this.#groups,
      random,
      read,
      nowMs: () => clock.monotonic(),
      sees: (blockTime) => this.#sees(blockTime),
      say: (text) => this.#say(text),
      offered: (subscription) => {
        this.#waiting.add(subscription);
        if (this.unsentBytes <= replayUnsentMax) this.#services.pacer.offer(this);
      },
      replayed: (subscription) => {
        this.#waiting.delete(subscription);
        if (!this.#replays.delete(subscription)) return;
        this.#services.events.replayEnded(this.#client.request.network, "done");
      },
      ended: (subscription, end) => this.#subscriptionEnded(subscription, end),
    };
  }

  #sees(blockTime: bigint | null): boolean {
    const days = historyDays[this.#grant.tier];
    if (days === null || blockTime === null) return true;
    return Number(blockTime) * 1_000 >= this.#services.clock.now() - days * dayMs - slackMs;
  }

  #subscriptionEnded(subscription: Subscription, end: FlowEnd | "tier"): void {
    const { id: subscriptionId, cursor } = subscription;
    if (end === "expired") {
      this.#release(subscription);
      void this.#sayExpired(subscription);
    } else if (end === "tier") {
      this.#release(subscription);
      const days = historyDays[this.#grant.tier];
      const message = `The tier ${this.#grant.tier} reaches ${days} days back`;
      this.#say(errorText({ code: "TIER_REQUIRED", message, subscriptionId }));
    } else {
      this.#fail(closeCodes.unavailable, { code: "STREAM_UNAVAILABLE", subscriptionId, cursor });
    }
  }

  /** What comes next is not held: no cursor leads on, but a slot does. */
  async #sayExpired(subscription: Subscription): Promise<void> {
    const firstSlot = await subscription.firstSlot().catch(() => null);
    this.#say(errorText({ code: "CURSOR_EXPIRED", subscriptionId: subscription.id, firstSlot }));
  }

  /** A client that is sent nothing for hours comes back near to where the chain is. */
  #sayCursors(): void {
    for (const held of this.#held.values()) {
      const place = held instanceof Subscription ? held.quietPlace() : null;
      if (place !== null) this.#say(placeText(held.id, place.slot, place.cursor));
    }
  }

  #say(text: string): void {
    if (!this.isLive) return;
    this.#delivery.say(text);
    this.#sent(0, Buffer.byteLength(text));
  }

  #sent(messages: number, bytes: number): void {
    const { events } = this.#services;
    events.streamSent(this.#client.request.network, messages, bytes);
    this.#meter.sent(bytes, this.#grant.creditsMonthly, (code) =>
      this.#fail(code === "STORE_UNAVAILABLE" ? closeCodes.unavailable : closeCodes.quotaExceeded, { code }),
    );
  }

  #refuse(why: Refusal, ref: Ref | null): void {
    this.#services.events.streamRefused(why.code);
    const { code, message, firstSlot } = why;
    const named = message === undefined ? {} : { message };
    this.#say(errorText({ code, ref, ...named, ...(firstSlot === undefined ? {} : { firstSlot }) }));
  }

  #endAll(): void {
    for (const held of [...this.#held.values()]) this.#release(held);
  }

  /** Gives its place back once, as soon as it is to end: the next connection is counted without it. */
  #leave(): void {
    this.#services.pacer.leave(this);
    this.#place.leave();
  }

  /** Ends the session; an `error` is sent to the client before it is closed. */
  #fail(code: number, error: (ErrorMessage & { readonly code: ErrorCode }) | null): void {
    if (!this.isLive) return;
    this.#delivery.flush();
    if (error === null) this.end({ code });
    else this.end({ code, reason: errorTable[error.code].text, message: errorText(error) });
  }
}
