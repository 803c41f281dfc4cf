import { errorTable } from "@sluice/contract/errors";
import { yellowstoneBounds } from "@sluice/contract/yellowstone";
import { packCreatedAt, packPing, packPong } from "@sluice/encode/updates";
import { FilterFault, type FilterLimits, FilterSet, type SubscribeRequest } from "@sluice/geyser";
import type { Clock } from "@sluice/lib";
import type { Slot } from "@sluice/wire/identifiers";
import type { Grant } from "../../keys/index.ts";
import { GrpcStatusError, InboundBounds, PackedMessage, type PackedResponses } from "../../net/index.ts";
import type { ConnectionMeter, Unpaid } from "../delivery/connection-meter.ts";
import type { FlowFrom } from "../flow/flow-receiver.ts";
import { FlowSubscription, tooOld } from "./flow-subscription.ts";
import type { NetworkStreams } from "./network-streams.ts";
import { Outgoing } from "./outgoing.ts";
import type { Plan } from "./plan.ts";
import { ProcessedSubscription } from "./processed-subscription.ts";
import { ToldBlocks } from "./told-blocks.ts";

const { requestsPerSecond } = yellowstoneBounds;

/** A request, the text that requests for the same filters share, and its size. */
export interface ReadRequest {
  readonly request: SubscribeRequest;
  readonly identity: string;
  readonly bytes: number;
}

export interface ClientStreamDependencies {
  readonly clock: Pick<Clock, "after" | "monotonic" | "now">;
  readonly responses: PackedResponses;
  readonly meter: ConnectionMeter;
  readonly take: (grant: Grant, messages: number) => boolean | Promise<boolean>;
  /** Takes a token of the key's requests. */
  readonly mayRead: (grant: Grant) => Promise<boolean>;
  /** The streams of its network; null while its log is not open here. */
  readonly streams: () => NetworkStreams | null;
  readonly limits: (grant: Grant) => FilterLimits;
  readonly sent: (messages: number) => void;
  readonly lagged: () => void;
}

/** One client's stream: its requests, and what it is told by the last of them. */
export class ClientStream {
  /** As the key was looked at last. */
  grant: Grant;
  readonly #dependencies: ClientStreamDependencies;
  readonly #outgoing: Outgoing;
  readonly #bounds: InboundBounds;
  #subscription: FlowSubscription | ProcessedSubscription | null = null;
  #streams: NetworkStreams | null = null;
  #toldBlocks = new ToldBlocks("processed");

  constructor(grant: Grant, dependencies: ClientStreamDependencies) {
    const { clock, responses, take, meter, sent } = dependencies;
    this.grant = grant;
    this.#dependencies = dependencies;
    this.#bounds = new InboundBounds({ messageBytesMax: Infinity, messagesPerSecond: requestsPerSecond }, { clock });
    this.#outgoing = new Outgoing({
      clock,
      responses,
      take: (messages) => take(this.grant, messages),
      sent: (bytes, messages) => {
        sent(messages);
        meter.sent(bytes, this.grant.creditsMonthly, (reason) => this.end(unpaid(reason)));
      },
    });
    responses.onClose(() => this.#leave());
    this.ping();
  }

  /** @throws {GrpcStatusError} to end the stream */
  take({ request, identity, bytes }: ReadRequest): void {
    this.#dependencies.meter.received(bytes);
    if (this.#bounds.check(bytes) !== null) {
      throw new GrpcStatusError("RESOURCE_EXHAUSTED", `more than ${requestsPerSecond} requests a second`);
    }
    if (request.ping !== undefined && request.ping !== null) {
      this.#say(packPong(request.ping.id));
      return;
    }
    const filters = this.#filtersOf(request);
    const streams = this.#dependencies.streams();
    if (streams === null) throw new GrpcStatusError("UNAVAILABLE", errorTable.NETWORK_UNAVAILABLE.text);
    streams.requireServed(filters);
    const from = this.#placeOf(request, filters);
    // What slots have reached stays known while the stream changes from one request to the next.
    using _kept = this.#subscription !== null && filters.hasSlots ? streams.parts.statuses.join(() => {}) : null;
    this.#leave();
    this.#streams = streams;
    const plan = streams.plans.take(identity, filters, request);
    const subscription = this.#subscriptionOf(plan, streams, from);
    this.#subscription = subscription;
    subscription.begin(from);
  }

  /** Also ends a stream whose client takes nothing. */
  ping(): void {
    if (this.#outgoing.stalledMs > yellowstoneBounds.stalledMs) {
      this.end(new GrpcStatusError("INTERNAL", "lagged to send an update"));
      return;
    }
    // One that waits says as much.
    if (this.#outgoing.waitingBytes === 0) this.#say(packPing());
  }

  end(fault: GrpcStatusError): void {
    if (fault.message === "lagged to send an update") this.#dependencies.lagged();
    this.#leave();
    this.#outgoing.end(fault);
  }

  #subscriptionOf(plan: Plan, streams: NetworkStreams, from: FlowFrom): FlowSubscription | ProcessedSubscription {
    const shared = { outgoing: this.#outgoing, end: (fault: GrpcStatusError) => this.end(fault) };
    const { feed } = streams;
    const { needs, commitment } = plan.filters;
    // What was is in the log alone: a stream that comes back at processed is told blocks as they are obtained.
    if (feed !== null && commitment === "processed" && from === "live") {
      return new ProcessedSubscription(plan, { ...shared, feed });
    }
    const needed = needs.accounts || needs.entries ? feed : null;
    const mayRead = (): Promise<boolean> => this.#dependencies.mayRead(this.grant);
    // Who asks for a slot is told again what it was told; at another commitment nothing was.
    const isAgain = from !== "live" && "slot" in from;
    if (isAgain || commitment !== this.#toldBlocks.commitment) this.#toldBlocks = new ToldBlocks(commitment);
    const { parts } = streams;
    return new FlowSubscription(plan, { ...parts, ...shared, mayRead, feed: needed, toldBlocks: this.#toldBlocks });
  }

  #filtersOf(request: SubscribeRequest): FilterSet {
    try {
      return new FilterSet(request, this.#dependencies.limits(this.grant));
    } catch (error) {
      if (!(error instanceof FilterFault)) throw error;
      throw new GrpcStatusError("INVALID_ARGUMENT", error.message);
    }
  }

  /** Where a request begins: at its slot, or where the stream has got to. */
  #placeOf({ from_slot: from }: SubscribeRequest, { commitment, needs }: FilterSet): FlowFrom {
    const isOfBlocks = !needs.accounts && !needs.entries && !needs.interslot;
    if (from === undefined) {
      const before = this.#subscription;
      const goesOn = before !== null && before.plan.filters.commitment === commitment && isOfBlocks;
      return goesOn ? before.position : "live";
    }
    const newest = this.#dependencies.streams()?.parts.flow.newest(commitment) ?? null;
    const slot = BigInt(from);
    // What has not happened yet needs no replay; so the slot is one that the log has had.
    if (newest === null || slot > newest) return "live";
    // The log does not hold what blocks do not.
    if (!isOfBlocks) throw tooOld(slot, newest + 1n);
    return { slot: slot as Slot };
  }

  #say(content: Uint8Array): void {
    this.#outgoing.send([PackedMessage.of([content, packCreatedAt(this.#dependencies.clock.now())])]);
  }

  #leave(): void {
    const subscription = this.#subscription;
    this.#subscription = null;
    if (subscription === null) return;
    subscription[Symbol.dispose]();
    this.#streams?.plans.giveBack(subscription.plan);
  }
}

function unpaid(reason: Unpaid): GrpcStatusError {
  const text = errorTable[reason].text;
  if (reason === "INSUFFICIENT_CREDITS") return new GrpcStatusError("RESOURCE_EXHAUSTED", text, { publicCode: reason });
  return new GrpcStatusError("UNAVAILABLE", text, { retryAfterSeconds: 1, publicCode: reason });
}
