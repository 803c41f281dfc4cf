import type { Clock, Random, Timer } from "@sluice/lib";
import type { Slot } from "@sluice/wire/identifiers";
import type { BlockHeader, BlockPlace, ChainIdentity, ChainLog, LogRecord } from "../log/index.ts";
import { admit, admitDigest } from "./admit.ts";
import { Appends } from "./appends.ts";
import type { BlockOutcome, IngestEvents, IngestState } from "./events.ts";
import { Finality, type FinalQuestion, type FinalWord } from "./finality.ts";
import { Gaps, type GapsOptions, gapReasons } from "./gaps.ts";
import { type BlockCandidate, isAtLeast, Judge, type SlotCase } from "./judge.ts";
import { Pursuit } from "./pursuit.ts";
import { type Question, Questions } from "./questions.ts";
import { secondReadEvery } from "./second-reads.ts";
import type { BlockDigest, BlockSource, GivenBlock, SlotNotice, SourceBlock, SourceSink } from "./source.ts";
import { Wants } from "./wants.ts";
import { type IngestNodes, Witnesses } from "./witnesses.ts";

export interface PipelineOptions extends GapsOptions {
  readonly chain: ChainIdentity;
}

export interface NetworkPipelineDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: ChainLog;
  readonly nodes: IngestNodes;
  readonly events: IngestEvents;
  /** What a kept body says of itself. @throws {MalformedBytes} when it is no block */
  readonly digestOfBody: (body: Uint8Array) => BlockDigest;
  /** Whether two bodies of one block say the same. @throws {MalformedBytes} */
  readonly isSameContent: (one: Uint8Array, other: Uint8Array) => boolean;
}

const tickMs = 100;
const measureTicks = 10;
/** Bytes of blocks that wait for a verdict; beyond them blocks are dropped and fetched later. */
const judgedBytesMax = 128 * 1024 * 1024;
/** A chain that is not older is read from its first block; an older one from its head. */
const youngSlots = 1_000n;
/** Lag of the states, in slots. */
const lagMax = { live: 8n, lagging: 150n } as const;
/** Nodes that are asked for one final block at a time. */
const finalNodesMax = 2;
const unsaid = { kind: "unavailable", isPruned: false } as const;
/** Disputes that were told, so that each is told once. */
const disputesMax = 1_024;

/**
 * The blocks of one network, from its sources to its log:
 *
 * sources -> admit (form, size) -> judge (two nodes say the same) -> append (log) -> link (parents, by the log's index)
 * -> settle (finality) -> gaps (what nobody gives)
 *
 * What is missing is asked for by `Pursuit`. All that is known is in the log or can be asked again, so that a process
 * that is killed loses nothing but time.
 */
export class Pipeline implements SourceSink, AsyncDisposable {
  readonly witnesses: Witnesses;
  readonly #options: PipelineOptions;
  readonly #dependencies: NetworkPipelineDependencies;
  readonly #judge: Judge;
  readonly #wants = new Wants();
  readonly #questions: Questions;
  readonly #pursuit: Pursuit;
  readonly #appends: Appends;
  readonly #finality: Finality;
  readonly #gaps: Gaps;
  readonly #disputed = new Set<string>();
  /** The hash of a log's first block while it is being stored. */
  #first: string | null = null;
  #state: IngestState = "starting";
  #timer: Timer | null = null;
  #ticks = 0;
  #isPlanned = false;
  #isClosed = false;

  constructor(options: PipelineOptions, dependencies: NetworkPipelineDependencies) {
    const { clock, random, log, nodes, events } = dependencies;
    this.#options = options;
    this.#dependencies = dependencies;
    this.witnesses = new Witnesses({ clock, nodes });
    this.#judge = new Judge({ clock, witnesses: this.witnesses.nodes });
    this.#questions = new Questions({ clock, random, onAnswer: ({ kind }, outcome) => events.asked(kind, outcome) });
    this.#pursuit = new Pursuit({
      clock,
      log,
      judge: this.#judge,
      wants: this.#wants,
      questions: this.#questions,
      witnesses: this.witnesses,
      onBlock: (source, block) => this.block(source, { block, stage: "confirmed", arrivedMs: clock.monotonic() }),
      onWord: (of) => this.#heard(of),
    });
    this.#appends = new Appends({
      clock,
      random,
      log,
      onStored: (record) => {
        this.#begins(record);
        this.#plan();
      },
      onRefused: (record, code) => {
        this.#begins(record);
        events.recordRefused(record.kind === "gap" ? record.from : record.header.slot, code);
      },
      onStalled: (code) => events.logStalled(code),
    });
    this.#finality = new Finality({
      log,
      witnesses: this.witnesses.nodes,
      isConfirmedByTwo: (place) => this.#judge.isConfirmedByTwo(place),
    });
    this.#gaps = new Gaps(options, {
      log,
      onUnavailable: ({ below, missing }) =>
        events.blockUnavailable({ from: below === null ? missing.slot : below.slot + 1n, to: missing.slot }),
    });
    events.stateChanged("starting");
  }

  get state(): IngestState {
    return this.#state;
  }

  /** Slots between the newest block that followers get and the believed head; null before both are known. */
  get lagSlots(): bigint | null {
    const { log, nodes } = this.#dependencies;
    const [head, reached] = [nodes.head("confirmed"), log.reached("confirmed")];
    if (head === null || reached === null) return null;
    return head > reached.slot ? head - reached.slot : 0n;
  }

  get unavailableSlots(): bigint {
    return this.#gaps.unavailableSlots;
  }

  start(): void {
    this.#timer ??= this.#dependencies.clock.every(tickMs, () => this.#tick(), { keepsAlive: true });
  }

  /** A source takes part from now on. Who opened it closes it. */
  add(source: BlockSource): void {
    this.witnesses.add(source);
    source.start(this);
  }

  remove(source: BlockSource): void {
    this.witnesses.remove(source);
  }

  up(source: BlockSource): void {
    this.witnesses.setUp(source, true);
    this.#dependencies.events.sourceChanged(source, true, null);
    this.#plan();
  }

  down(source: BlockSource, reason: string): void {
    this.witnesses.setUp(source, false);
    this.#dependencies.events.sourceChanged(source, false, reason);
  }

  slot(source: BlockSource, { slot, stage }: SlotNotice): void {
    if (stage === "processed" || stage === "dead" || !this.#isOpen(slot)) return;
    const known = this.#judge.find(slot);
    if (known !== null) {
      this.#judge.reached(known, source.node, stage);
      this.#heard(known);
    }
    if (stage === "confirmed") this.#wants.said(slot);
    this.#plan();
  }

  block(source: BlockSource, given: GivenBlock): void {
    this.#dependencies.events.blockGiven(source.name, this.#take(source, given));
    this.#plan();
  }

  malformed(source: BlockSource): void {
    this.#dependencies.events.blockGiven(source.name, "refused");
  }

  /** Records a gap at an operator's word. */
  skip(from: Slot, to: Slot): void {
    this.#recordGap({ kind: "gap", from, to, reason: gapReasons.skipped });
  }

  #take(source: BlockSource, given: GivenBlock): BlockOutcome {
    const { block, stage } = given;
    const { slot } = block.header;
    if (this.witnesses.isDistrusted(source.node) || !admit(block)) return "refused";
    if (!this.#isOpen(slot)) return "repeat";
    const isConfirmed = isAtLeast(stage, "confirmed");
    if (this.#appends.isFull || this.#judge.bytesHeld() + block.body.length > judgedBytesMax) {
      if (isConfirmed) this.#wants.said(slot);
      return "dropped";
    }
    const of = this.#judge.open(slot);
    const { isAccepted } = this.#judge.gave(of, source, given);
    if (isConfirmed) this.#wants.said(slot);
    this.#heard(of);
    return isAccepted ? "repeat" : "kept";
  }

  /** Not final yet, nor before the beginning. */
  #isOpen(slot: Slot): boolean {
    const final = this.#dependencies.log.reached("finalized");
    return (final === null || slot > final.slot) && slot >= (this.#wants.begin ?? 0n);
  }

  /** Judges what was said of a slot, and hands on what may be kept. */
  #heard(of: SlotCase): void {
    for (const candidate of of.candidates.values()) {
      if (candidate.isAccepted || candidate.block === null || !this.#mayBegin(of.slot)) continue;
      const verdict = this.#judge.judge(of, candidate);
      if (verdict.kind === "open") {
        if (verdict.isDisputed) this.#tellDispute("content", of.slot);
        continue;
      }
      this.#keep(candidate, candidate.block);
    }
    for (const node of this.#judge.liarsOf(of)) {
      if (this.witnesses.distrust(node)) this.#dependencies.events.lied(node, of.slot);
    }
  }

  /**
   * The first block of an empty log is the lowest that is said to be there. Others wait until it is stored, or a log
   * whose process is killed could begin after a block that followers were told.
   */
  #mayBegin(slot: Slot): boolean {
    if (this.#first !== null) return false;
    return this.#dependencies.log.earliest() !== null || slot === this.#wants.first(this.witnesses.nodes().size);
  }

  #begins(record: LogRecord): void {
    if (record.kind === "block" && record.header.blockhash === this.#first) this.#first = null;
  }

  #keep(candidate: BlockCandidate, block: SourceBlock): void {
    const { clock, events } = this.#dependencies;
    candidate.isAccepted = true;
    candidate.block = null;
    const header: BlockHeader = { ...block.header, chain: this.#options.chain };
    if (this.#dependencies.log.earliest() === null) this.#first = header.blockhash;
    this.#appends.add({ kind: "block", header, stage: "confirmed", body: block.body });
    events.blockKept(clock.monotonic() - candidate.sinceMs);
    if (candidate.votes.size < 2) events.keptOnOneWord();
  }

  /** What is to be done is looked at once for all that arrives together. */
  #plan(): void {
    if (this.#isPlanned || this.#isClosed) return;
    this.#isPlanned = true;
    queueMicrotask(() => {
      this.#isPlanned = false;
      if (!this.#isClosed) this.#work();
    });
  }

  #work(): void {
    const { log, nodes } = this.#dependencies;
    const head = nodes.head("confirmed");
    if (head === null || this.#appends.isFull) return;
    if (log.earliest() === null) {
      this.#wants.beginAt((head > youngSlots ? head : 1n) as Slot);
      this.#wants.awaitListers(this.witnesses.mayMoreCome);
    }
    this.#pursuit.list(this.#wants.ranges(log, head));
    const wants = this.#wants.list(log, head, (slot) => this.#keptAt(slot));
    for (const want of wants) this.#pursuit.pursue(want, head);
  }

  #keptAt(slot: Slot): BlockPlace[] {
    const candidates = [...(this.#judge.find(slot)?.candidates.values() ?? [])];
    return candidates.flatMap(({ isAccepted, digest }) => (isAccepted ? [{ slot, blockhash: digest.blockhash }] : []));
  }

  #tick(): void {
    this.#rejudge();
    this.#work();
    this.#finish();
    for (const gap of this.#gaps.due(this.#dependencies.clock.monotonic())) this.#recordGap(gap);
    this.#setState(this.#stateNow());
    this.#ticks += 1;
    if (this.#ticks % measureTicks === 0) this.#measure();
  }

  /** Who counts as a witness changes with time, and with it what may be kept. */
  #rejudge(): void {
    for (const of of this.#judge.waiting()) this.#heard(of);
  }

  /** One step of finality. */
  #finish(): void {
    const { log, nodes } = this.#dependencies;
    const root = nodes.head("finalized");
    const final = log.reached("finalized");
    if (root === null || this.#appends.isStalled || (final !== null && root <= final.slot)) return;
    const step = this.#finality.step(root);
    if (step.kind === "fetch") this.#wants.demand(step.place);
    if (step.kind === "ask") for (const question of step.questions) this.#askFinal(question);
    if (step.kind === "final") this.#settle(step.header);
  }

  #settle(header: BlockHeader): void {
    const before = this.#dependencies.log.reached("finalized")?.slot ?? header.slot - 1n;
    // Drawn before it is final: which block is read again must not be known to who gives it.
    const again = this.#drawnOf(header, before);
    this.#appends.add({ kind: "stage", header, stage: "finalized" });
    this.#finality.settled(header);
    if (again !== null) void this.#readAgain(again);
    this.#judge.forgetBelow(header.slot);
    this.#wants.forgetBelow(header.slot);
  }

  /** A block to read again of those up to one that become final with it; null for none of them. */
  #drawnOf(last: BlockHeader, before: bigint): BlockHeader | null {
    const { random, log } = this.#dependencies;
    if (random.next() * secondReadEvery >= Number(last.slot - before)) return null;
    const blocks = [last];
    for (let block = last; block.parentSlot > before && blocks.length < secondReadEvery; ) {
      const parent = log.find({ slot: block.parentSlot, blockhash: block.parentBlockhash });
      if (parent === null) break;
      block = parent.header;
      blocks.push(block);
    }
    return blocks[Math.floor(random.next() * blocks.length)] ?? last;
  }

  #askFinal({ place, nodes }: FinalQuestion): void {
    for (const node of nodes.slice(0, finalNodesMax)) {
      const source = this.witnesses.sourceOf(node);
      if (source === null) continue;
      const question: Question = { kind: "final", slot: place.slot, source };
      if (!this.#questions.isFree(question)) continue;
      void this.#askFinalOf(place, question);
    }
  }

  async #askFinalOf(place: BlockPlace, question: Question): Promise<void> {
    const { source } = question;
    const answer = await this.#questions.ask(
      question,
      source.fetchDigest(place.slot, "finalized", this.#questions.signal),
    );
    if (answer === null) return;
    let word: FinalWord = unsaid;
    if (answer.kind === "absent") word = answer;
    if (answer.kind === "unavailable") word = { kind: "unavailable", isPruned: answer.reason === "pruned" };
    if (answer.kind === "present" && admitDigest(place.slot, answer.digest))
      word = await this.#compared(place, answer.digest);
    if (this.#isClosed) return;
    this.#finality.answered(place, source.node, word);
    if (place.blockhash !== "" && this.#finality.isDisputed(place)) this.#tellDispute("finality", place.slot);
    this.#finish();
  }

  /** A node's word on a final block, beside the block as it is kept. */
  async #compared(place: BlockPlace, said: BlockDigest): Promise<FinalWord> {
    const other = { kind: "other", blockhash: said.blockhash } as const;
    if (said.blockhash !== place.blockhash) return other;
    const kept = this.#judge.keptDigest(place) ?? (await this.#digestOf(place));
    if (kept === null) return unsaid;
    const isSame =
      kept.parentSlot === said.parentSlot &&
      kept.parentBlockhash === said.parentBlockhash &&
      kept.transactions === said.transactions &&
      Buffer.from(kept.signatureHash).equals(said.signatureHash);
    return isSame ? { kind: "same" } : other;
  }

  async #digestOf(place: BlockPlace): Promise<BlockDigest | null> {
    const { log, digestOfBody } = this.#dependencies;
    try {
      const body = await log.read(place);
      return body === null ? null : digestOfBody(body);
    } catch {
      // The log says why it cannot be read; the question is asked again.
      return null;
    }
  }

  /** Looks for altered results, which no list of signatures shows, in a sample of blocks. */
  async #readAgain(header: BlockHeader): Promise<void> {
    const { log, events, isSameContent } = this.#dependencies;
    const [source] = this.witnesses.live.filter(({ node }) => node !== this.#judge.giverOf(header));
    if (source === undefined || this.witnesses.nodes().size < 2) return;
    const again = await source.fetchBlock(header.slot, this.#questions.signal);
    if (this.#isClosed) return;
    try {
      const kept = await log.read(header);
      const isRead = again.kind === "present" && kept !== null;
      if (isRead) events.readAgain(isSameContent(kept, again.block.body) ? "equal" : "differs", header.slot);
      else events.readAgain("unread", header.slot);
    } catch {
      events.readAgain("unread", header.slot);
    }
  }

  #recordGap(gap: Extract<LogRecord, { kind: "gap" }>): void {
    this.#appends.add(gap);
    this.#dependencies.events.gapRecorded(gap);
  }

  #tellDispute(about: "content" | "finality", slot: Slot): void {
    const key = `${about} ${slot}`;
    if (this.#disputed.has(key)) return;
    if (this.#disputed.size >= disputesMax) this.#disputed.clear();
    this.#disputed.add(key);
    this.#dependencies.events.disputed(about, slot);
  }

  #stateNow(): IngestState {
    if (this.#appends.isStalled) return "paused";
    const { lagSlots } = this;
    if (lagSlots === null) return "starting";
    if (lagSlots <= lagMax.live) return "live";
    return lagSlots <= lagMax.lagging ? "lagging" : "catching_up";
  }

  #setState(state: IngestState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#dependencies.events.stateChanged(state);
  }

  #measure(): void {
    this.#dependencies.events.measured({
      lagSlots: Number(this.lagSlots ?? 0n),
      judgedBytes: this.#judge.bytesHeld(),
      logBytes: this.#appends.waitingBytes,
      unavailableSlots: Number(this.unavailableSlots),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#questions[Symbol.dispose]();
    await this.#appends[Symbol.asyncDispose]();
    this.#setState("stopped");
  }
}
