import { createHash } from "node:crypto";
import { unpackBlock } from "@sluice/encode";
import { ManualClock, type Random, seededRandom } from "@sluice/lib";
import type { Slot } from "@sluice/wire/identifiers";
import type { BlockHeader, ChainLog, LogRecord } from "../../log/index.ts";
import { ToldChain } from "../../log/testing/chain-model.ts";
import { SharedMemory } from "../../log/testing/shared-memory.ts";
import { Pipeline } from "../pipeline.ts";
import { isSameContent } from "../second-reads.ts";
import { digestOfBody } from "../source-block.ts";
import type { Plan } from "./plan.ts";
import { quietEvents } from "./quiet-events.ts";
import { ResultReads } from "./result-reads.ts";
import { type ChainBlock, firstSlot, isAlteredBody, SimulatedChain, simulatedIdentity } from "./simulated-chain.ts";
import { SimulatedNode, SimulatedSource } from "./simulated-node.ts";

/** What becomes of one schedule. */
interface ScheduleReport {
  readonly faults: readonly string[];
  readonly slots: number;
  readonly kills: number;
  readonly undone: number;
  readonly gaps: number;
  readonly lies: number;
  /** Second readings that found altered results. */
  readonly alterations: number;
  /** Holes that only an operator could end. */
  readonly skips: number;
  /** SHA-256 over all that was stored, told and asked, with its time: the same for each run of a schedule. */
  readonly trace: string;
}

const gapAfterMs = 40_000;
const tickMs = 100;
const slotMs = 400;
/** How long faults may have effects after they have ended. */
const settleMsMax = 240_000;
const idleTurnsMax = 50;

/** One process that ingests. */
class Process {
  readonly #world: World;
  readonly memory: SharedMemory;
  pipeline: Pipeline | null = null;
  log: ChainLog | null = null;
  #kill: () => void = () => undefined;
  #sources: SimulatedSource<ChainBlock>[] = [];
  appending = 0;
  #starts = 0;

  constructor(world: World, memory: SharedMemory) {
    this.#world = world;
    this.memory = memory;
  }

  async start(): Promise<void> {
    const { log, kill } = await this.memory.open(simulatedIdentity);
    this.#kill = kill;
    this.log = log;
    this.#starts += 1;
    const { clock, random, nodes } = this.#world;
    const counted: ChainLog = Object.create(log, {
      append: {
        value: async (record: Parameters<ChainLog["append"]>[0]) => {
          this.appending += 1;
          const { kind } = record;
          const text = kind === "gap" ? `gap ${record.from}` : `${kind} ${record.stage} ${record.header.blockhash}`;
          this.#world.trace(text);
          const outcome = await log.append(record).finally(() => {
            this.appending -= 1;
            this.#world.trace(`${text} ends`);
          });
          if (record.kind === "block" && outcome === "stored") this.#world.stored(this.memory, record);
          return outcome;
        },
      },
      find: { value: log.find.bind(log) },
      read: { value: log.read.bind(log) },
      holes: { value: log.holes.bind(log) },
      reached: { value: log.reached.bind(log) },
      earliest: { value: log.earliest.bind(log) },
      latest: { value: log.latest.bind(log) },
    });
    this.pipeline = new Pipeline(
      { chain: simulatedIdentity, gapAfterMs },
      {
        clock,
        random,
        log: counted,
        nodes: { head: (commitment) => this.#world.head(commitment), isWell: (label) => this.#world.isWell(label) },
        events: {
          ...quietEvents,
          lied: (node) => this.#world.lied(node),
          readAgain: (outcome, slot) => this.#readAgain(outcome, slot),
        },
        digestOfBody,
        isSameContent,
      },
    );
    this.#sources = nodes.map((node) => new SimulatedSource(node, { clock }));
    for (const source of this.#sources) this.pipeline.add(source);
    this.pipeline.start();
  }

  look(): void {
    for (const source of this.#sources) source.look();
  }

  #readAgain(outcome: "equal" | "differs" | "unread", slot: bigint): void {
    this.#world.resultReads.check({
      slot: Number(slot),
      outcome,
      isKeptAltered: this.#world.isKeptAltered(this.memory, Number(slot)),
      isGiverKnown: this.#starts === 1 && this.#world.isWrittenByOne,
    });
  }

  /** The process ends at once: what it has not stored is lost. */
  async kill(): Promise<void> {
    this.#kill();
    const { pipeline, log } = this;
    this.pipeline = null;
    this.log = null;
    this.#sources = [];
    void pipeline?.[Symbol.asyncDispose]();
    void log?.[Symbol.asyncDispose]();
  }
}

/** All of a schedule's world, moved by a clock of its own. */
export class World {
  readonly clock = new ManualClock(1_800_000_000_000);
  readonly random: Random;
  readonly chain: SimulatedChain;
  readonly nodes: readonly SimulatedNode<ChainBlock>[];
  readonly #plan: Plan;
  readonly #memories: readonly SharedMemory[];
  readonly #processes: readonly Process[];
  readonly #told: ToldChain[] = [];
  readonly #faults: string[] = [];
  readonly #liars = new Set<string>();
  readonly resultReads = new ResultReads(() => this.nodes);
  /** By memory, the kept blocks' hashes with whether their results are altered. */
  readonly #altered = new Map<SharedMemory, Map<string, boolean>>();
  #skips = 0;
  readonly #trace = createHash("sha256");
  #kills = 0;
  #nowMs = 0;

  constructor(seed: number, plan: Plan) {
    this.random = seededRandom(seed);
    this.#plan = plan;
    this.chain = new SimulatedChain(this.random, plan);
    const unavailable = new Set(plan.unavailable);
    this.nodes = plan.nodes.map(
      (faults, index) =>
        new SimulatedNode(
          { label: `n${index}`, faults },
          {
            chain: this.chain,
            clock: this.clock,
            random: this.random,
            unavailable,
            onAsked: (text) => this.trace(text),
          },
        ),
    );
    const first = new SharedMemory(this.clock);
    this.#memories = plan.form === "apart" ? [first, new SharedMemory(this.clock)] : [first];
    const places = plan.form === "alone" ? [first] : [first, this.#memories.at(-1) ?? first];
    this.#processes = places.map((memory) => new Process(this, memory));
  }

  head(commitment: "confirmed" | "finalized"): Slot | null {
    const heads = this.nodes.filter(({ isWell }) => isWell).map((node) => node[commitment]);
    if (heads.length === 0) return null;
    // As pools do: the newest confirmed slot that any shows, and the root that a second one confirms.
    heads.sort((left, right) => right - left);
    const head = commitment === "confirmed" ? heads[0] : heads[Math.min(1, heads.length - 1)];
    return head === undefined || head < 0 ? null : (BigInt(head) as Slot);
  }

  isWell(label: string): boolean {
    return this.nodes.some((node) => node.label === label && node.isWell);
  }

  lied(node: string): void {
    this.#liars.add(node);
  }

  get isWrittenByOne(): boolean {
    return this.#plan.form !== "shared";
  }

  stored(memory: SharedMemory, { header, body }: Extract<LogRecord, { kind: "block" }>): void {
    const altered = this.#altered.get(memory) ?? new Map<string, boolean>();
    this.#altered.set(memory, altered);
    const block = this.chain.canonical.get(Number(header.slot));
    if (block?.blockhash === header.blockhash) altered.set(header.blockhash, isAlteredBody(block, body));
  }

  isKeptAltered(memory: SharedMemory, slot: number): boolean | null {
    return this.#altered.get(memory)?.get(this.chain.canonical.get(slot)?.blockhash ?? "") ?? null;
  }

  trace(text: string): void {
    if (!this.#isOver) this.#trace.update(`${this.clock.monotonic()} ${text}\n`);
  }

  async run(): Promise<ScheduleReport> {
    for (const process of this.#processes) await process.start();
    const followers = this.#memories.map((_memory, index) => this.#follow(index));
    const events = this.#drawEvents();
    const endMs = (this.chain.lastSlot - 100) * slotMs;
    for (; this.#nowMs < endMs; this.#nowMs += tickMs) {
      for (const each of events.filter(({ atMs }) => atMs <= this.#nowMs && atMs > this.#nowMs - tickMs))
        await each.run();
      await this.#tick();
    }
    for (const node of this.nodes) {
      node.isDown = false;
      node.isHealed = true;
    }
    for (const memory of this.#memories) memory.fault = null;
    for (const process of this.#processes) if (process.pipeline === null) await process.start();
    await this.#settle();
    if (!this.#isDone() && this.#plan.forks && this.#plan.unavailable.length > 0) {
      this.#operate();
      await this.#settle();
    }
    this.#verify();
    for (const process of this.#processes) await process.kill();
    await this.#idle();
    this.#isOver = true;
    void followers;
    return {
      faults: [...this.#faults, ...this.resultReads.faults],
      slots: this.chain.lastSlot - 100,
      kills: this.#kills,
      undone: this.#told.reduce((sum, { undone }) => sum + undone, 0),
      gaps: this.#told.reduce((sum, { gaps }) => sum + gaps.length, 0),
      lies: this.#liars.size,
      alterations: this.resultReads.found,
      skips: this.#skips,
      trace: this.#trace.digest("hex"),
    };
  }

  #isOver = false;

  async #settle(): Promise<void> {
    for (let waited = 0; waited < settleMsMax && !this.#isDone(); waited += tickMs) await this.#tick();
  }

  /**
   * What an operator does about a hole below which a dead fork stands (record 0058): says that nobody has the slots.
   * Below every other hole all is final, and ingest has to have ended it by itself.
   */
  #operate(): void {
    for (const [index, memory] of this.#memories.entries()) {
      const { log, pipeline } = this.#processes.find((each) => each.memory === memory) ?? {};
      const hole = log?.holes()[0];
      if (hole === undefined) continue;
      const { below, missing } = hole;
      const isFinal = below !== null && log?.reached("finalized")?.blockhash === below.blockhash;
      if (below === null || isFinal)
        this.#faults.push(`log ${index}: the hole at ${missing.slot} has not become a gap`);
      else pipeline?.skip((below.slot + 1n) as Slot, missing.slot);
      this.#skips += 1;
    }
  }

  async #tick(): Promise<void> {
    const newest = Math.min(100 + Math.floor(this.#nowMs / slotMs) + 4, this.chain.lastSlot + 20);
    for (const node of this.nodes) node.newestSlot = Math.max(node.newestSlot, newest);
    for (const process of this.#processes) process.look();
    this.clock.advance(tickMs);
    this.#nowMs += this.#nowMs >= (this.chain.lastSlot - 100) * slotMs ? tickMs : 0;
    await this.#idle();
  }

  /** Waits until nothing is under way but what waits for the clock. */
  async #idle(): Promise<void> {
    for (let turn = 0; turn < idleTurnsMax; turn += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      const appending = this.#processes.reduce((sum, each) => sum + each.appending, 0);
      const waiting = this.#memories.reduce((sum, { waiting: each }) => sum + each, 0);
      // An append may wait for another one of its block, which waits for the clock.
      if (turn >= (waiting > 0 ? 3 : 1) && (appending === 0 || waiting > 0)) return;
    }
  }

  #drawEvents(): { readonly atMs: number; readonly run: () => void | Promise<void> }[] {
    const { random } = this;
    const lengthMs = this.#plan.slots * slotMs;
    const at = (): number => Math.floor((random.next() * lengthMs) / tickMs) * tickMs;
    const events: { readonly atMs: number; readonly run: () => void | Promise<void> }[] = [];
    for (let kill = 0; kill < this.#plan.kills; kill += 1) {
      const process = this.#processes[Math.floor(random.next() * this.#processes.length)];
      const atMs = at();
      events.push({
        atMs,
        run: async () => {
          this.#kills += 1;
          await process?.kill();
        },
      });
      events.push({
        atMs: atMs + 1_000 + at() / 4,
        run: () => (process?.pipeline === null ? process.start() : undefined),
      });
    }
    for (let stall = 0; stall < this.#plan.stalls; stall += 1) {
      const memory = this.#memories[Math.floor(random.next() * this.#memories.length)];
      const atMs = at();
      if (memory === undefined) continue;
      const fault = random.next() < 0.5 ? "DISK_FULL" : "UNAVAILABLE";
      events.push({ atMs, run: () => memory.fail(fault) });
      events.push({ atMs: atMs + at() / 2, run: () => memory.fail(null) });
    }
    // Beside a liar one honest node at a time, so that two that agree are always there; else all may be away at once.
    const hasLiar = this.nodes.some(({ faults }) => faults.lies > 0);
    const honest = this.nodes.filter(({ faults }) => faults.lies === 0);
    for (let outage = 0; outage < this.#plan.outages; outage += 1) {
      const node = honest[Math.floor(random.next() * honest.length)];
      const atMs = at();
      const isAlone = (): boolean => this.nodes.some((each) => each.faults.lies === 0 && each.isDown);
      if (node === undefined) continue;
      events.push({ atMs, run: () => node.setDown(node.isDown || !hasLiar || !isAlone()) });
      events.push({ atMs: atMs + 400 + at() / 3, run: () => node.setDown(false) });
    }
    for (const memory of this.#memories) {
      const slowestMs = random.next() < 0.4 ? random.next() * 400 : 0;
      const isEven = random.next() < 0.3;
      // Writes of which a later one ends first, as threads and servers have them.
      if (slowestMs > 0) memory.writeMs = () => (isEven ? slowestMs : random.next() * slowestMs);
    }
    return events;
  }

  /** A follower that goes on in another process, by its cursor, after every event. */
  async #follow(index: number): Promise<void> {
    const told = new ToldChain(({ slot, blockhash }, body) => {
      const head = unpackBlock(body);
      return head.slot === slot && head.blockhash === blockhash;
    });
    this.#told[index] = told;
    let cursor: string | null = null;
    for (let turn = 0; !this.#isOver; turn += 1) {
      // Two processes may see different forks for a moment, and a follower that changes between them goes to and fro.
      await new Promise((resolve) => setImmediate(resolve));
      const log = this.#logAt(index, turn);
      if (log === null) continue;
      // Processes that share a new log learn its first blocks in any order; a follower begins when the first is there.
      const isShared = this.#plan.form === "shared";
      if (isShared && cursor === null && log.earliest()?.slot !== BigInt(firstSlot)) continue;
      const outcome = log.follow({ stage: "confirmed", from: cursor === null ? "earliest" : { cursor } });
      if (!outcome.ok) {
        this.#faults.push(`a follower's cursor is ${outcome.code}`);
        return;
      }
      const { value, done } = await outcome.follower.next();
      await outcome.follower.return();
      if (done === true) continue;
      this.trace(`log ${index} ${value.type} ${"cursor" in value ? value.cursor : ""}`);
      try {
        told.take(value);
      } catch (error) {
        this.#faults.push(String(error));
        return;
      }
      if (value.type === "expired") {
        this.#faults.push("a follower is told that what it wants is gone");
        return;
      }
      cursor = value.cursor;
    }
  }

  /** The logs of one memory in turn, as processes have them. */
  #logAt(index: number, turn: number): ChainLog | null {
    const open = this.#processes.filter((_process, place) => this.#plan.form !== "apart" || place === index);
    const logs = open.flatMap(({ log }) => (log === null ? [] : [log]));
    return logs[turn % Math.max(1, logs.length)] ?? null;
  }

  #isDone(): boolean {
    const last = this.chain.blocks.at(-1);
    return this.#memories.every((_memory, index) => {
      const top = this.#told[index]?.blocks.at(-1);
      const final = this.#logAt(index, 0)?.reached("finalized");
      return top?.blockhash === last?.blockhash && final?.blockhash === last?.blockhash;
    });
  }

  /** Without blocks of a dead fork that stand right before a gap, which an operator has accepted. */
  #standing(blocks: readonly BlockHeader[], gaps: readonly (readonly [bigint, bigint])[]): readonly BlockHeader[] {
    if (this.#skips === 0) return blocks;
    const isDead = ({ slot, blockhash }: BlockHeader): boolean =>
      this.chain.canonical.get(Number(slot))?.blockhash !== blockhash;
    const standing = [...blocks];
    for (const [from] of gaps) {
      let last = standing.findLastIndex(({ slot }) => slot < from);
      for (let dead = standing[last]; dead !== undefined && isDead(dead); dead = standing[last]) {
        standing.splice(last, 1);
        last -= 1;
      }
    }
    return standing;
  }

  /** Nothing missing, nothing twice, no dead fork: what was told is the chain, but for what no node had. */
  #verify(): void {
    const { unavailable } = this.#plan;
    const expected = this.chain.blocks
      .filter(({ slot }) => !unavailable.includes(slot))
      .map(({ blockhash }) => blockhash);
    const missing = this.chain.blocks.filter(({ slot }) => unavailable.includes(slot));
    for (const [index, { blocks, gaps }] of this.#told.entries()) {
      const told = this.#standing(blocks, gaps).map(({ blockhash }) => blockhash);
      if (told.join() !== expected.join()) {
        const at = expected.findIndex((hash, place) => told[place] !== hash);
        this.#faults.push(`log ${index}: ${told.length} of ${expected.length} blocks are told; they differ at ${at}`);
      }
      const isTold = missing.every(({ slot }) => gaps.some(([from, to]) => from <= slot && to >= slot));
      if (!isTold) this.#faults.push(`log ${index}: a block that nobody has is not told as a gap`);
      if (missing.length === 0 && gaps.length > 0) this.#faults.push(`log ${index}: a gap where nodes have the blocks`);
      const final = this.#logAt(index, 0)?.reached("finalized");
      if (final?.blockhash !== expected.at(-1)) this.#faults.push(`log ${index}: finality ends at ${final?.slot}`);
    }
  }
}
