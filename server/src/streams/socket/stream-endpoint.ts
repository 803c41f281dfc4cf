import type { ErrorCode } from "@sluice/contract/errors";
import { errorTable } from "@sluice/contract/errors";
import type { Network } from "@sluice/contract/tiers";
import type { Clock, Random, Timer } from "@sluice/lib";
import type { Access } from "../../access/index.ts";
import type { BlockEvents } from "../../events/index.ts";
import type { RequestFact } from "../../ledger/index.ts";
import { FanOut, RefusedSession, type SocketMount, type SocketPeer, type SocketSession } from "../../net/index.ts";
import { type AdmissionOutcome, ConnectionAdmission, closeCodeOf, type Identify } from "../delivery/admission.ts";
import type { ConnectionPlaces } from "../delivery/connection-places.ts";
import type { MessagePacer } from "../delivery/message-pacer.ts";
import type { StreamsEvents } from "../events.ts";
import type { FlowBlock } from "../flow/flow-block.ts";
import type { Flows, NetworkFlow } from "../flow/flows.ts";
import { ProcessedSlots, type SlotSource } from "./processed-slots.ts";
import { errorText } from "./server-messages.ts";
import type { CheckedStream, SessionServices } from "./session-services.ts";
import { StageStream } from "./stage-stream.ts";
import type { ToldStage } from "./stream-events.ts";
import { StreamSession } from "./stream-session.ts";

/** Where `/ws` is served. */
export const isStreamPath = (path: string): boolean => path === "/ws" || path === "/ws/";

/** Serves `/ws`, and connections that another mount identifies. */
export interface StreamMount extends SocketMount {
  /** Without `identify` a client is who its key says. */
  begin(request: Request, peer: SocketPeer, identify?: Identify): SocketSession | Promise<SocketSession>;
}

export interface StreamEndpointOptions {
  readonly networkDefault: Network;
  /** Between two facts of a connection, to the next tick. */
  readonly reportEveryMs?: number;
}

export interface StreamEndpointDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly access: Access;
  readonly events: StreamsEvents;
  readonly requestId: () => string;
  readonly served: (fact: RequestFact) => void;
  /** A client without a valid key was refused. */
  readonly refused: (code: ErrorCode) => void;
  readonly flows: Pick<Flows, "network" | "networks" | "reader">;
  readonly slots: SlotSource;
  /** Shared with PubSub, as the tier's connections are. */
  readonly places: ConnectionPlaces;
  readonly pacer: MessagePacer;
}

/** A little less than two ticks, so that facts come each minute however exact ticks are. */
const reportEveryMsDefault = 50_000;
/** A pass over 10,000 connections takes some 10 ms. */
const recheckWaitMs = 20;
const replaysEveryMs = 1_000;

type Stages = Readonly<Record<ToldStage, StageStream>>;

/** `/ws`: the streams of transactions, blocks, accounts and slots, under the same keys and restrictions as calls. */
export class StreamEndpoint implements StreamMount, Disposable {
  readonly #dependencies: StreamEndpointDependencies;
  readonly #admission: ConnectionAdmission;
  readonly #services: SessionServices;
  readonly #fanOut: FanOut;
  readonly #processed: ProcessedSlots;
  readonly #stages = new WeakMap<NetworkFlow, Stages>();
  /** In the order in which they came. */
  readonly #sessions = new Set<CheckedStream>();
  readonly #checks: Timer;
  #moment = 0;
  #recheckTimer: Timer | null = null;

  constructor(options: StreamEndpointOptions, dependencies: StreamEndpointDependencies) {
    this.#dependencies = dependencies;
    const { clock, events, slots } = dependencies;
    const publishing = (): void => {
      this.#moment += 1;
    };
    this.#fanOut = new FanOut({ failed: (error) => events.internalError("ws", error) });
    this.#processed = new ProcessedSlots({ fanOut: this.#fanOut, source: slots, publishing });
    this.#admission = new ConnectionAdmission(
      { door: "ws", networkDefault: options.networkDefault },
      // Of a network without nodes nothing is ever told, slots at processed neither.
      { ...dependencies, isServed: (network) => dependencies.flows.networks.includes(network) },
    );
    this.#services = {
      ...dependencies,
      admission: this.#admission,
      reportEveryMs: options.reportEveryMs ?? reportEveryMsDefault,
      read: (block) => this.#read(block),
      moment: () => this.#moment,
      stage: (network, commitment) => this.#stage(network, commitment, publishing),
      followProcessed: (network, id, groups) => this.#processed.follow(network, id, groups),
      left: (session) => void this.#sessions.delete(session),
    };
    this.#checks = clock.every(replaysEveryMs, () => this.#checkReplays());
  }

  serves(path: string): boolean {
    return isStreamPath(path);
  }

  begin(request: Request, peer: SocketPeer, identify?: Identify): SocketSession | Promise<SocketSession> {
    const outcome = this.#admission.admit(request, peer, identify);
    return outcome instanceof Promise ? outcome.then((admitted) => this.#begun(admitted)) : this.#begun(outcome);
  }

  /**
   * Checks every connection again because keys or accounts have changed: within a few milliseconds, so that many
   * changes at once cost one pass. The newest come first: when a tier allows fewer connections than there are, the
   * oldest stay.
   */
  recheck(): void {
    this.#recheckTimer ??= this.#dependencies.clock.after(recheckWaitMs, () => {
      this.#recheckTimer = null;
      for (const session of [...this.#sessions].toReversed()) void session.recheck();
    });
  }

  #begun(outcome: AdmissionOutcome): SocketSession {
    if (!outcome.ok) {
      const { requestId, code, closeCode, reason } = outcome;
      return new RefusedSession(requestId, { code: closeCode, reason, message: errorText({ code, message: reason }) });
    }
    const session = new StreamSession(outcome.client, outcome.grant, this.#services);
    this.#sessions.add(session);
    return session;
  }

  #stage(
    network: Network,
    commitment: ToldStage,
    publishing: () => void,
  ): { flow: NetworkFlow; stage: StageStream } | null {
    const flow = this.#dependencies.flows.network(network);
    if (flow === null) return null;
    const stages = this.#stages.get(flow) ?? this.#openStages(flow, publishing);
    return { flow, stage: stages[commitment] };
  }

  #openStages(flow: NetworkFlow, publishing: () => void): Stages {
    const { random } = this.#dependencies;
    const open = (commitment: ToldStage): StageStream =>
      new StageStream(
        { commitment },
        {
          fanOut: this.#fanOut,
          random,
          publishing,
          read: (block) => this.#read(block),
          join: (receiver) => flow.join({ stage: commitment, from: "live" }, receiver),
        },
      );
    const stages = { confirmed: open("confirmed"), finalized: open("finalized") };
    this.#stages.set(flow, stages);
    return stages;
  }

  #read(block: FlowBlock): BlockEvents | null {
    try {
      return this.#dependencies.flows.reader.events(block.block);
    } catch (error) {
      this.#dependencies.events.internalError("ws", error);
      return null;
    }
  }

  #checkReplays(): void {
    let count = 0;
    let lagSlots = 0n;
    for (const session of this.#sessions) {
      for (const { replay, head } of session.replays) {
        count += 1;
        const lag = replay?.lagSlots(head) ?? 0n;
        if (lag > lagSlots) lagSlots = lag;
      }
      if (session.replays.size > 0) session.checkReplays();
    }
    this.#dependencies.events.replaysObserved({ count, lagSlots: Number(lagSlots) });
  }

  [Symbol.dispose](): void {
    this.#checks[Symbol.dispose]();
    this.#recheckTimer?.cancel();
    this.#processed[Symbol.dispose]();
  }
}

/** `/ws` of a process without streams: says so, and closes with 4503. */
export class AbsentStreams implements StreamMount {
  readonly #requestId: () => string;

  constructor(dependencies: { readonly requestId: () => string }) {
    this.#requestId = dependencies.requestId;
  }

  serves(path: string): boolean {
    return isStreamPath(path);
  }

  begin(): SocketSession {
    const code = "STREAM_UNAVAILABLE";
    const reason = errorTable[code].text;
    return new RefusedSession(this.#requestId(), { code: closeCodeOf(code), reason, message: errorText({ code }) });
  }
}
