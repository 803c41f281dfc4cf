import type { JsonObject } from "@sluice/encode";
import type { ResettableListener } from "../../listener.ts";
import { TextRandom } from "../../random.ts";
import type { Chain } from "../bank/index.ts";
import type { BlockEngineLinks } from "../leader/index.ts";
import type { StreamFaults } from "../yellowstone/index.ts";
import type { EdgeFaults, SocketFaults } from "./edge.ts";
import type { LaggingView } from "./lagging-view.ts";
import type { SlotClock } from "./slot-clock.ts";

/** The parts of a node in which something can be made to go wrong. */
interface FaultyParts {
  readonly chain: Chain;
  readonly clock: SlotClock;
  readonly edge: EdgeFaults;
  readonly sockets: SocketFaults;
  /** Of Yellowstone. */
  readonly streams: StreamFaults;
  readonly view: LaggingView;
  readonly listeners: readonly ResettableListener[];
  readonly engine: BlockEngineLinks;
}

/** Everything that can be made to go wrong with a node, and how it is mended. */
export class Faults {
  readonly parts: FaultyParts;
  readonly seed: string;
  /** A lagging node says that it is well. */
  zombie = false;
  refusing = false;

  constructor(options: { readonly seed: string }, parts: FaultyParts) {
    this.seed = options.seed;
    this.parts = parts;
  }

  /** Draws for one fault. They begin anew whenever it is set, so that the same calls meet the same fate. */
  random(fault: string, seed?: string): TextRandom {
    return new TextRandom(`${seed ?? this.seed}/${fault}`);
  }

  /** What getHealth and /health report: slots behind, or null when the node is healthy or claims to be. */
  get slotsBehind(): bigint | null {
    const behind = this.parts.view.slotsBehind;
    return behind === 0n || this.zombie ? null : behind;
  }

  /** The faults that are on, each with what it was set to. */
  active(): JsonObject {
    const { clock, edge, sockets, streams, view } = this.parts;
    const { slow, corrupt, error } = edge;
    const { disturb, disturbed } = streams;
    return {
      ...(clock.skipping > 0n && { skipSlots: clock.skipping }),
      ...(view.behind > 0 && { [this.zombie ? "zombie" : "lag"]: { slots: view.behind, now: view.slotsBehind } }),
      ...(sockets.drop !== null && { dropPubsub: { share: sockets.drop.share, dropped: sockets.dropped } }),
      ...(disturb !== null && { disturbGrpc: { share: disturb.share, kind: disturb.kind, disturbed } }),
      ...(slow !== null && { slow: { ms: slow.ms, share: slow.share, methods: slow.methods } }),
      ...((this.refusing || edge.unavailable) && { refuse: { connections: this.refusing } }),
      ...(edge.frozen.isShut && { freeze: true }),
      ...(corrupt !== null && { corrupt: { share: corrupt.share, kind: corrupt.kind } }),
      ...(error !== null && { error: { share: error.share, code: error.code } }),
    };
  }

  async refuseConnections(): Promise<void> {
    this.refusing = true;
    this.parts.streams.refuses = true;
    this.parts.streams.closeAll();
    await Promise.all(this.parts.listeners.map((listener) => listener.refuse()));
  }

  /** Ends every fault. What happened meanwhile stays: forks, skipped slots, dropped history, time that moved on. */
  async clear(): Promise<void> {
    const { chain, clock, edge, sockets, streams, view, listeners } = this.parts;
    this.zombie = false;
    this.refusing = false;
    edge.clear();
    sockets.drop = null;
    streams.disturb = null;
    streams.refuses = false;
    clock.clear(chain);
    view.clear();
    await Promise.all(listeners.map((listener) => listener.accept()));
  }
}
