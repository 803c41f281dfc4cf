import { type Random, seededRandom } from "@sluice/lib";
import type { BundleRecord } from "../model/bundle.ts";
import { EngineChainError } from "../model/chain-port.ts";
import { FlowReader } from "./flow-reader.ts";
import { TipAccounts } from "./node-answers.ts";
import { isTooLate, touches, truthOf } from "./testing/bundle-plans.ts";
import { type FlowFaults, SimulatedIngest } from "./testing/simulated-ingest.ts";
import { SimulatedWorld } from "./testing/simulated-world.ts";
import { Tracker } from "./tracker.ts";

class Crash extends Error {}
class DiskFault extends Error {}

const slots = 300;
/** As many calm slots as any bundle lives, and what it takes until they are finalized. */
const calmSlots = 160;

interface Outcome {
  bundles: number;
  finalized: number;
  forks: number;
  crashes: number;
  jumps: number;
  /** Blocks that the flow brought, and that nodes were asked for. */
  told: number;
  read: number;
  gaps: number;
  trims: number;
  /** Ended by a confirmed block that was lost with its fork afterwards. */
  excused: number;
  failure: string | null;
}

/** The tracker as a process that may end at any call, with the place that it keeps on disk. */
class Process {
  place: string | null = null;
  crashes = 0;
  jumps = 0;
  lost = 0;
  readonly blocks = { flow: 0, node: 0 };
  tracker: Tracker;
  readonly #world: SimulatedWorld;
  readonly #ingest: SimulatedIngest | null;
  readonly #random: Random;
  #flow: FlowReader | null = null;
  trouble = 0;

  constructor(world: SimulatedWorld, ingest: SimulatedIngest | null, random: Random) {
    this.#world = world;
    this.#ingest = ingest;
    this.#random = random;
    const crash = (share: number): void => {
      if (random.next() < this.trouble * share) throw new Crash("killed");
    };
    world.chain.disturb = () => crash(0.01);
    world.pool.disturb = () => {
      crash(0.02);
      if (random.next() < this.trouble * 0.05) throw new DiskFault("the disk");
    };
    this.tracker = this.#begin();
  }

  #begin(): Tracker {
    const { pool, chain, clock } = this.#world;
    const disk = (): void => {
      if (this.#random.next() < this.trouble * 0.05) throw new DiskFault("the disk");
    };
    const place = {
      load: () => Promise.resolve(this.place),
      save: async (text: string) => {
        disk();
        this.place = text;
        disk();
      },
    };
    const events = {
      blockSeen: () => {},
      blockLost: () => {
        this.lost += 1;
      },
      blockRead: (from: "flow" | "node") => {
        this.blocks[from] += 1;
      },
      placeLeft: (why: string) => {
        if (why === "too far back") this.jumps += 1;
      },
    };
    const state = { confirmed: () => {}, lost: () => {}, forget: () => {} };
    const tips = new TipAccounts([]);
    this.#flow?.[Symbol.dispose]();
    this.#flow =
      this.#ingest === null
        ? null
        : new FlowReader({
            flow: { current: () => this.#ingest?.log ?? null },
            tips,
            events: { flowFailed: () => {} },
          });
    const dependencies = { chain, tips, flow: this.#flow, pool, state, place, clock, events };
    return new Tracker({ catchUpSlotsMax: 40n }, dependencies);
  }

  end(): void {
    this.#flow?.[Symbol.dispose]();
  }

  /** Goes on until there is nothing more to be seen, or something fails. */
  async run(): Promise<void> {
    try {
      for (let steps = 0; steps < 64 && (await this.tracker.step()); steps += 1);
    } catch (error) {
      if (error instanceof Crash) {
        this.crashes += 1;
        // A flow that is the process's own ends with it.
        if (this.#random.next() < 0.3) await this.#ingest?.startAnew();
        this.tracker = this.#begin();
      } else if (!(error instanceof EngineChainError || error instanceof DiskFault)) throw error;
    }
  }
}

/** What is wrong about the end of a bundle; null when it is the right one. */
function wrongEnd(record: BundleRecord, world: SimulatedWorld, all: readonly BundleRecord[]): string | null {
  const states = world.pool.history.get(record.id) ?? [];
  const { state, reason } = record;
  const truth = truthOf(record, world.head, all);
  const reported = `${record.id} is ${truth.is} and went ${states.join(" -> ")} (${reason ?? "-"}; ${record.detail ?? "-"})`;
  const hasGivenUp = state === "expired" || reason === "fork";
  const isGivenUp = truth.is !== "absent" && hasGivenUp && isTooLate(record, truth.block);
  if (truth.is === "whole") return state === "finalized" || isGivenUp ? null : reported;
  if (states.includes("included")) return state === "dropped" && reason === "fork" ? null : reported;
  if (truth.is !== "absent" && !isGivenUp) {
    if (state !== "dropped") return reported;
    return reason === "already_processed" ? null : reported;
  }
  if (state !== "expired") return reported;
  if (reason === "target_slot_past") return record.targetSlot !== null ? null : reported;
  if (reason === "blockhash_expired") return record.lastValidBlockHeight !== null ? null : reported;
  return reason === "not_landed" ? null : reported;
}

async function simulate(seed: number): Promise<Outcome> {
  const random = seededRandom(seed);
  const losesConfirmed = random.next() < 0.5;
  const world = new SimulatedWorld(random, {
    skipped: 0.3 * random.next(),
    forks: 0.15 * random.next(),
    losesConfirmed,
    bundles: 0.9,
  });
  const ingest = seed % 4 === 0 ? null : await SimulatedIngest.open(random, drawFlowFaults(random));
  const process = new Process(world, ingest, random);
  process.trouble = random.next() < 0.3 ? 0 : random.next();
  const share = (): number => (random.next() < 0.4 ? 0 : 0.2 * random.next());
  world.chain.faults = {
    unreachable: share(),
    missing: share(),
    garbled: share(),
    lagMax: Math.floor(random.next() * 8),
  };
  let down = 0;
  for (let tick = 0; tick < slots; tick += 1) {
    world.tick();
    await ingest?.tick(world.chain.heads);
    if (down === 0 && random.next() < 0.01) down = Math.floor(random.next() * 90);
    if (down > 0) down -= 1;
    else await process.run();
  }
  process.trouble = 0;
  world.chain.faults = { unreachable: 0, missing: 0, garbled: 0, lagMax: world.chain.faults.lagMax };
  for (let tick = 0; tick < calmSlots; tick += 1) {
    world.tick(true);
    await ingest?.tick(world.chain.heads);
    await process.run();
  }
  process.end();
  await ingest?.[Symbol.asyncDispose]();
  const { gaps, trims } = ingest ?? { gaps: 0, trims: 0 };
  return { ...check(world, process, losesConfirmed), gaps, trims };
}

function drawFlowFaults(random: Random): FlowFaults {
  const share = (most: number): number => (random.next() < 0.4 ? 0 : most * random.next());
  return {
    lag: random.next() < 0.3 ? Math.floor(random.next() * 30) : Math.floor(random.next() * 3),
    outages: share(0.03),
    gaps: random.next(),
    lacking: share(0.2),
    trims: share(0.02),
  };
}

function check(world: SimulatedWorld, process: Process, losesConfirmed: boolean): Omit<Outcome, "gaps" | "trims"> {
  const all = [...world.pool.records.values()];
  const lost = world.lostBlocks();
  let excused = 0;
  let failure: string | null = null;
  if (!losesConfirmed && process.lost > 0) failure = "a block was taken for lost that was not lost";
  for (const record of all) {
    const wrong = wrongEnd(record, world, all);
    if (wrong === null) continue;
    // What a confirmed block shows is believed: a bundle that it ends stays ended where that block is lost.
    const isEarly = record.reason === "already_processed" || record.reason === "not_landed";
    const isMissed = record.reason === "target_slot_past" && lost.length > 0;
    if (losesConfirmed && ((isEarly && touches(record, lost)) || isMissed)) excused += 1;
    else failure ??= wrong;
  }
  return {
    bundles: all.length,
    finalized: all.filter(({ state }) => state === "finalized").length,
    forks: all.filter(({ reason }) => reason === "fork").length,
    crashes: process.crashes,
    jumps: process.jumps,
    told: process.blocks.flow,
    read: process.blocks.node,
    excused,
    failure,
  };
}

/**
 * Bundles on simulated chains, `n` of them of 300 slots each: with forks (in half of the chains of confirmed blocks
 * too), skipped slots, nodes that lag, fail, lie about what they have and answer in any order, a disk that fails before
 * or after it has written, and a tracker that is killed at any call or stands still for longer than it catches up.
 * Three of four follow a flow of blocks, which lags, stops, has gaps, is trimmed, lacks parts of blocks and begins anew
 * with the process; the others have nodes alone. Each bundle ends once, and as a walk over the chain that won says.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  const sum = {
    bundles: 0,
    finalized: 0,
    forks: 0,
    crashes: 0,
    jumps: 0,
    told: 0,
    read: 0,
    gaps: 0,
    trims: 0,
    excused: 0,
  };
  for (let index = 0; index < n; index += 1) {
    const outcome = await simulate(seed + index);
    if (outcome.failure !== null) return { passed: false, summary: `seed ${seed + index}: ${outcome.failure}` };
    for (const [name, count] of Object.entries(outcome)) {
      if (typeof count === "number" && isName(sum, name)) sum[name] += count;
    }
  }
  const summary =
    `${sum.bundles} bundles, each with one end and the right one: ${sum.finalized} finalized, ${sum.forks} lost with a ` +
    `fork; ${sum.crashes} kills, ${sum.jumps} stands too long to catch up; ${sum.told} blocks told and ${sum.read} read ` +
    `from nodes, over ${sum.gaps} gaps and ${sum.trims} trims; ${sum.excused} ended by what a lost confirmed block showed`;
  const happened = [sum.finalized, sum.forks, sum.crashes, sum.jumps, sum.told, sum.read, sum.gaps, sum.trims];
  const isTelling = happened.every((count) => count > 0);
  return { passed: n < 20 || (isTelling && sum.excused * 100 < sum.bundles), summary };
}

const isName = <Names extends object>(names: Names, name: PropertyKey): name is keyof Names => name in names;
