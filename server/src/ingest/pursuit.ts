import type { Clock } from "@sluice/lib";
import type { Slot } from "@sluice/wire/identifiers";
import type { ChainLog } from "../log/index.ts";
import { admitDigest } from "./admit.ts";
import type { BlockCandidate, Judge, SlotCase } from "./judge.ts";
import type { Question, Questions } from "./questions.ts";
import type { BlockSource, SourceBlock } from "./source.ts";
import type { SlotRange, Want, Wants } from "./wants.ts";
import type { Witnesses } from "./witnesses.ts";

export interface PursuitDependencies {
  readonly clock: Pick<Clock, "monotonic">;
  readonly log: Pick<ChainLog, "find">;
  readonly judge: Judge;
  readonly wants: Wants;
  readonly questions: Questions;
  readonly witnesses: Witnesses;
  readonly onBlock: (source: BlockSource, block: SourceBlock) => void;
  /** Something new is known of a slot. */
  readonly onWord: (of: SlotCase) => void;
}

/** How long a block that arrives by itself is waited for before it is asked for, and a second node's word on it. */
const graceMs = { block: 400, second: 150 } as const;
/** Blocks of these newest slots may still be on their way. */
const headSlots = 8n;
/** A range is listed when it has this many slots, or has been open for so long. */
const listed = { slots: 4n, afterMs: 1_000 } as const;
const rangesMax = 64;
const malformed = { kind: "unavailable", reason: "malformed" } as const;

/** Asks nodes for blocks that are wanted, and for a second word on blocks that have one. */
export class Pursuit {
  readonly #dependencies: PursuitDependencies;
  /** Since when a range is open, by its first slot. */
  #ranges = new Map<Slot, number>();

  constructor(dependencies: PursuitDependencies) {
    this.#dependencies = dependencies;
  }

  /** One step towards a wanted block; `head` is the believed head. */
  pursue({ slot, blockhash }: Want, head: Slot): void {
    const { judge, log } = this.#dependencies;
    const of = judge.open(slot);
    if (blockhash !== null) {
      const named = [...of.candidates.values()].filter(({ digest }) => digest.blockhash === blockhash);
      // What was handed to the log and is not there has been lost on the way.
      for (const each of named) if (each.isAccepted && log.find({ slot, blockhash }) === null) each.isAccepted = false;
      // A kept block names it as its parent: who has it not has lost it.
      if (named.length > 0 && (of.absent.size > 0 || !of.named.has(blockhash))) {
        judge.named(of, blockhash);
        this.#dependencies.onWord(of);
      }
      this.#ask(of, named, head);
      // The kept block that names it may be of a fork that died, and the chain's own in this slot is another one.
      const others = [...of.candidates.values()].filter((each) => !each.isAccepted && !named.includes(each));
      if (others.length > 0) this.#ask(of, others, head);
      return;
    }
    const open = [...of.candidates.values()].filter(({ isAccepted }) => !isAccepted);
    this.#ask(of, open, head);
    if (of.candidates.size === 0 && of.absent.size >= judge.needed(of)) {
      this.#dependencies.wants.unsaid(slot);
      judge.forget(slot);
    }
  }

  /** Asks which slots of the ranges have blocks. */
  list(ranges: readonly SlotRange[]): void {
    const { clock, wants, witnesses, questions } = this.#dependencies;
    const nowMs = clock.monotonic();
    const before = this.#ranges;
    this.#ranges = new Map();
    for (const range of ranges.slice(0, rangesMax)) {
      const { from, to } = range;
      const sinceMs = before.get(from) ?? nowMs;
      this.#ranges.set(from, sinceMs);
      const isShort = to - from + 1n < listed.slots && from !== wants.begin;
      if (isShort && nowMs - sinceMs < listed.afterMs) continue;
      // Each range has one list under way; the node that was asked rests, so that the next one is another.
      const asked = [...witnesses.nodes()].flatMap((node): Question[] => {
        const source = witnesses.sourceOf(node);
        return source === null ? [] : [{ kind: "slots", slot: from, source }];
      });
      if (asked.some((question) => questions.isAsked(question))) continue;
      const question = asked.find((each) => questions.isFree(each));
      if (question === undefined) continue;
      const answer = question.source.fetchSlots(from, to, questions.signal);
      void questions.list(question, answer).then((slots) => wants.listed(range, question.source.node, slots));
    }
  }

  /**
   * Asks for the blocks of the candidates that most nodes name, and for second words on blocks that have come. Of two
   * forks that one node each has named, the one whose block came first may be the one that died.
   */
  #ask(of: SlotCase, candidates: readonly BlockCandidate[], head: Slot): void {
    const votes = (each: BlockCandidate): number => this.#dependencies.judge.votersOf(each).length;
    const most = Math.max(0, ...candidates.map(votes));
    if (candidates.length === 0) this.#askBlock(of, null, head);
    for (const each of candidates) {
      if (each.block !== null) this.#askSecond(of, each);
      else if (votes(each) === most) this.#askBlock(of, each, head);
    }
  }

  #askBlock(of: SlotCase, named: BlockCandidate | null, head: Slot): void {
    const { clock, judge, witnesses } = this.#dependencies;
    const isArriving = witnesses.live.some(({ bringsBlocks }) => bringsBlocks) && of.slot + headSlots > head;
    if (isArriving && clock.monotonic() - of.sinceMs < graceMs.block) return;
    const able = [...judge.able(of)];
    const isUnderWay = able.some((node) => this.#isAsked("block", of.slot, node));
    if (isUnderWay) return;
    // Who has said that it has the block is asked first, who has said that it has none comes last.
    const rank = (node: string): number => (named?.votes.has(node) === true ? 0 : of.absent.has(node) ? 2 : 1);
    for (const node of able.sort((left, right) => rank(left) - rank(right))) {
      if (this.#fetchBlock(of, node)) return;
    }
  }

  /** Whether the question was asked. */
  #fetchBlock(of: SlotCase, node: string): boolean {
    const { judge, questions, onBlock, onWord } = this.#dependencies;
    const question = this.#question("block", of.slot, node);
    if (question === null || !questions.isFree(question)) return false;
    void questions.ask(question, question.source.fetchBlock(of.slot, questions.signal)).then((answer) => {
      if (answer === null) return;
      if (answer.kind === "present" && answer.block.header.slot === of.slot) onBlock(question.source, answer.block);
      else {
        judge.silent(of, node, answer.kind === "present" ? malformed : answer);
        onWord(of);
      }
    });
    return true;
  }

  #askSecond(of: SlotCase, candidate: BlockCandidate): void {
    const { clock, judge, witnesses, questions } = this.#dependencies;
    if (candidate.isAccepted || judge.judge(of, candidate).kind === "accepted") return;
    const ageMs = clock.monotonic() - candidate.sinceMs;
    // As many nodes are asked as have to agree; where two contradict each other, a third one.
    const able = [...judge.able(of)];
    const underWay = able.filter((node) => this.#isAsked("digest", of.slot, node)).length;
    let lacking =
      judge.needed(of, candidate) - judge.votersOf(candidate).length - underWay + (of.candidates.size > 1 ? 1 : 0);
    for (const node of able.sort((left, right) => Number(of.absent.has(left)) - Number(of.absent.has(right)))) {
      if (lacking <= 0) return;
      if (candidate.votes.has(node) || (witnesses.bringsBlocks(node) && ageMs < graceMs.second)) continue;
      const question = this.#question("digest", of.slot, node);
      if (question === null || !questions.isFree(question)) continue;
      this.#fetchDigest(of, question);
      lacking -= 1;
    }
  }

  #fetchDigest(of: SlotCase, question: Question): void {
    const { judge, questions, onWord } = this.#dependencies;
    const { source } = question;
    void questions.ask(question, source.fetchDigest(of.slot, "confirmed", questions.signal)).then((answer) => {
      if (answer === null) return;
      if (answer.kind === "present" && admitDigest(of.slot, answer.digest)) {
        judge.voted(of, source.node, { digest: answer.digest, stage: "confirmed" });
      } else judge.silent(of, source.node, answer.kind === "present" ? malformed : answer);
      onWord(of);
    });
  }

  #question(kind: Question["kind"], slot: Slot, node: string): Question | null {
    const source = this.#dependencies.witnesses.sourceOf(node);
    return source === null ? null : { kind, slot, source };
  }

  #isAsked(kind: Question["kind"], slot: Slot, node: string): boolean {
    const question = this.#question(kind, slot, node);
    return question !== null && this.#dependencies.questions.isAsked(question);
  }
}
