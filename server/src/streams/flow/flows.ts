import type { Network } from "@sluice/contract/tiers";
import { type IdlPrograms, noPrograms } from "@sluice/parser";
import type { Slot } from "@sluice/wire/identifiers";
import { BlockReader } from "../../events/index.ts";
import type { PastBlocks } from "../../history/index.ts";
import type { ChainIdentity, ChainLog, ChainLogs, Stage } from "../../log/index.ts";
import type { StreamsEvents } from "../events.ts";
import { FlowBlocks } from "./flow-block.ts";
import type { FlowEnd, FlowFrom, FlowOutcome, FlowReceiver } from "./flow-receiver.ts";
import { ReplayTurns } from "./replay-turns.ts";
import { StageFlow } from "./stage-flow.ts";

export interface FlowJoin {
  readonly stage: Stage;
  readonly from: FlowFrom;
}

export interface PastJoin {
  readonly stage: Stage;
  readonly from: Exclude<FlowFrom, "live">;
}

export interface NetworkFlowParts {
  readonly network: Network;
  readonly log: ChainLog;
  readonly chain: ChainIdentity;
  /** What the log no longer holds; null where nothing else holds it. */
  readonly past: PastBlocks | null;
}

/** The blocks of one network, as long as its log is open. */
export class NetworkFlow {
  readonly network: Network;
  readonly chain: ChainIdentity;
  readonly log: ChainLog;
  readonly #stages: Readonly<Record<Stage, StageFlow>>;

  constructor(of: NetworkFlowParts, events: StreamsEvents) {
    this.network = of.network;
    this.chain = of.chain;
    this.log = of.log;
    const dependencies = { ...of, blocks: new FlowBlocks(), turns: new ReplayTurns(), events };
    this.#stages = {
      processed: new StageFlow("processed", dependencies),
      confirmed: new StageFlow("confirmed", dependencies),
      finalized: new StageFlow("finalized", dependencies),
    };
  }

  /**
   * Tells the receiver the blocks of a stage from a place on. At `processed` a block is told when it is first obtained,
   * whatever its parent, and a resume may tell it again.
   */
  join({ stage, from }: FlowJoin, receiver: FlowReceiver): FlowOutcome {
    return this.#stages[stage].join(from, receiver);
  }

  /**
   * The same from a place that the log no longer holds, where `join` says CURSOR_EXPIRED.
   *
   * @throws {unknown} while what is held of the past cannot be read
   */
  joinPast({ stage, from }: PastJoin, receiver: FlowReceiver): Promise<FlowOutcome> {
    return this.#stages[stage].joinPast(from, receiver);
  }

  /** The first slot from which all of a stage can be told; null when none can. @throws {unknown} as `joinPast` */
  firstSlot(stage: Stage): Promise<Slot | null> {
    return this.#stages[stage].firstSlot();
  }

  /** The slot of the newest block of a stage; null while there is none. */
  newest(stage: Stage): Slot | null {
    return this.log.latest(stage)?.slot ?? null;
  }

  end(reason: FlowEnd): void {
    for (const stage of Object.values(this.#stages)) stage.end(reason);
  }
}

/**
 * The flow of blocks of every network whose log this process has open. Receivers of a network are ended when its log
 * closes; on the log of another chain they begin anew.
 */
export class Flows implements Disposable {
  readonly events: StreamsEvents;
  readonly #past: PastBlocks | null;
  /** Reads what the blocks say, once for all protocols. */
  readonly reader: BlockReader;
  readonly #flows = new Map<Network, NetworkFlow>();
  #chainLogs: Pick<ChainLogs, "networks"> = { networks: [] };
  #following: Disposable | null = null;

  constructor({
    events,
    past,
    programs = noPrograms,
  }: {
    readonly events: StreamsEvents;
    readonly past: PastBlocks | null;
    readonly programs?: IdlPrograms;
  }) {
    this.events = events;
    this.reader = new BlockReader(programs);
    this.#past = past;
  }

  /** Follows which logs are open. */
  async follow(chainLogs: Pick<ChainLogs, "follow" | "networks">): Promise<void> {
    this.#chainLogs = chainLogs;
    this.#following = await chainLogs.follow((network, log, chain) => {
      this.#flows.get(network)?.end("closed");
      this.#flows.delete(network);
      if (log !== null)
        this.#flows.set(network, new NetworkFlow({ network, log, chain, past: this.#past }, this.events));
    });
  }

  /** Those whose logs this process opens, whether they are open now or not. */
  get networks(): readonly Network[] {
    return this.#chainLogs.networks;
  }

  /** For each network of this process whether its log is open. */
  get isOpen(): readonly boolean[] {
    return this.networks.map((network) => this.#flows.has(network));
  }

  /** Null while the network's log is not open here. */
  network(network: Network): NetworkFlow | null {
    return this.#flows.get(network) ?? null;
  }

  [Symbol.dispose](): void {
    this.#following?.[Symbol.dispose]();
    for (const flow of this.#flows.values()) flow.end("closed");
    this.#flows.clear();
  }
}
