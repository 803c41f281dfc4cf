import { BoundedMap, type Clock } from "@sluice/lib";
import type { Slot } from "@sluice/wire/identifiers";
import {
  type BlockDigest,
  type BlockSource,
  digestKeyOf,
  type FetchedBlock,
  type GivenBlock,
  type SourceBlock,
  type SourceStage,
} from "./source.ts";

/** What several nodes say of one slot's block, told apart by all that a second opinion covers. */
export interface BlockCandidate {
  readonly digest: BlockDigest;
  /** Null until some node has given the block itself. */
  block: SourceBlock | null;
  /** The source that gave it. */
  giver: BlockSource | null;
  /** Nodes that gave or confirmed it, with the stage at which they did; below confirmed it is no vote yet. */
  readonly votes: Map<string, SourceStage>;
  /** Monotonic milliseconds at which it was first named, or had arrived where it was given at once. */
  readonly sinceMs: number;
  /** Whether it was handed on to the log. */
  isAccepted: boolean;
}

/** All that is known of one slot. */
export interface SlotCase {
  readonly slot: Slot;
  /** Monotonic milliseconds at which it was first heard of. */
  readonly sinceMs: number;
  readonly candidates: Map<string, BlockCandidate>;
  /** Nodes that answered that the slot has no block. */
  readonly absent: Set<string>;
  /** Questions to each node that brought no answer. */
  readonly failures: Map<string, number>;
  /** Hashes that kept blocks, or enough nodes at finality, name for the slot. */
  readonly named: Set<string>;
}

export type Judgement =
  /** It may be kept: enough nodes say the same. */
  | { readonly kind: "accepted"; readonly candidate: BlockCandidate; readonly liars: readonly string[] }
  /** Another node has to be asked. */
  | { readonly kind: "open"; readonly isDisputed: boolean };

export interface JudgeDependencies {
  readonly clock: Pick<Clock, "monotonic">;
  /** Nodes whose word counts now: well, not caught lying, with a source that is up. */
  readonly witnesses: () => ReadonlySet<string>;
}

/**
 * A node that answers so many questions about a slot with nothing has no part in it. With their growing distances they
 * take ten seconds and more, in which a node that is behind arrives at the slot.
 */
const failuresMax = 8;
/** Slots of which something is known at a time; the one heard of first goes first, and is asked for again. */
const casesMax = 2_048;

type NoBlock = Exclude<FetchedBlock, { readonly kind: "present" }>;

const ranks: Readonly<Record<SourceStage, number>> = { processed: 0, confirmed: 1, finalized: 2 };
export const isAtLeast = (stage: SourceStage, least: SourceStage): boolean => ranks[stage] >= ranks[least];

/**
 * Decides which blocks are kept. The log keeps a body once and for ever, so a block is kept when two nodes say the same
 * of it: slot, hash, parent and list of signatures. Where one node alone can be heard, its own word is enough.
 */
export class Judge {
  readonly #dependencies: JudgeDependencies;
  readonly #cases: BoundedMap<Slot, SlotCase>;

  constructor(dependencies: JudgeDependencies) {
    this.#dependencies = dependencies;
    this.#cases = new BoundedMap({ max: casesMax });
  }

  get size(): number {
    return this.#cases.size;
  }

  /** Bytes of blocks that wait for a verdict or for the log. */
  bytesHeld(): number {
    let bytes = 0;
    for (const { candidates } of this.#cases.values()) {
      for (const { block } of candidates.values()) bytes += block?.body.length ?? 0;
    }
    return bytes;
  }

  find(slot: Slot): SlotCase | null {
    return this.#cases.get(slot) ?? null;
  }

  open(slot: Slot): SlotCase {
    const known = this.#cases.get(slot);
    if (known !== undefined) return known;
    const fresh: SlotCase = {
      slot,
      sinceMs: this.#dependencies.clock.monotonic(),
      candidates: new Map(),
      absent: new Set(),
      failures: new Map(),
      named: new Set(),
    };
    this.#cases.set(slot, fresh);
    return fresh;
  }

  /** A whole block, as a vote of its node. */
  gave(of: SlotCase, source: BlockSource, { block, stage, arrivedMs }: GivenBlock): BlockCandidate {
    const candidate = this.voted(of, source.node, {
      digest: { ...block.header, signatureHash: block.signatureHash },
      stage,
      sinceMs: arrivedMs,
    });
    if (candidate.block === null && !candidate.isAccepted) {
      candidate.block = block;
      candidate.giver = source;
    }
    return candidate;
  }

  voted(
    of: SlotCase,
    node: string,
    said: { readonly digest: BlockDigest; readonly stage: SourceStage; readonly sinceMs?: number },
  ): BlockCandidate {
    const key = digestKeyOf(said.digest);
    let candidate = of.candidates.get(key);
    if (candidate === undefined) {
      candidate = {
        digest: said.digest,
        block: null,
        giver: null,
        votes: new Map(),
        sinceMs: said.sinceMs ?? this.#dependencies.clock.monotonic(),
        isAccepted: false,
      };
      of.candidates.set(key, candidate);
    }
    const before = candidate.votes.get(node);
    if (before === undefined || isAtLeast(said.stage, before)) candidate.votes.set(node, said.stage);
    of.absent.delete(node);
    of.failures.delete(node);
    return candidate;
  }

  /** The node has no block in the slot, or cannot say. */
  silent(of: SlotCase, node: string, answer: NoBlock): void {
    if (answer.kind === "absent" && of.named.size === 0) of.absent.add(node);
    else if (answer.kind === "absent") of.failures.set(node, (of.failures.get(node) ?? 0) + 1);
    else if (answer.reason === "pruned") of.failures.set(node, failuresMax);
    else if (answer.reason !== "limited") of.failures.set(node, (of.failures.get(node) ?? 0) + 1);
  }

  /** The node says that its block of the slot has come to a stage, where it gave one alone. */
  reached(of: SlotCase, node: string, stage: SourceStage): void {
    const given = [...of.candidates.values()].filter(({ votes }) => votes.has(node));
    const [only] = given;
    if (only !== undefined && given.length === 1) this.voted(of, node, { digest: only.digest, stage });
  }

  /**
   * The slot is known to have this block: a node that has said that it has none is behind, on another fork, or has lost
   * it. It is asked again, or the word of a liar alone would be enough.
   */
  named(of: SlotCase, blockhash: string): void {
    of.named.add(blockhash);
    of.absent.clear();
  }

  /** Nodes that could say something of the slot and were not found unable to. */
  able(of: SlotCase): ReadonlySet<string> {
    const able = new Set<string>();
    for (const node of this.#dependencies.witnesses()) {
      if ((of.failures.get(node) ?? 0) < failuresMax) able.add(node);
    }
    // Where every node has failed, or those that have not contradict each other, each may be asked again.
    return able.size > 0 && !this.#isContrary(of) ? able : this.#dependencies.witnesses();
  }

  /** Whether nodes say different things of one block, so that another one's word decides. */
  #isContrary({ candidates }: SlotCase): boolean {
    const named = new Set<string>();
    for (const candidate of candidates.values()) {
      if (this.votersOf(candidate).length === 0) continue;
      const { blockhash } = candidate.digest;
      if (named.has(blockhash)) return true;
      named.add(blockhash);
    }
    return false;
  }

  /**
   * How many nodes have to say the same of the slot, or of a block in it. Who has spoken counts; but who gave another
   * fork's block and cannot answer any more has no part in one that is known to be there.
   */
  needed(of: SlotCase, candidate: BlockCandidate | null = null): 1 | 2 {
    const blockhash = candidate?.digest.blockhash ?? null;
    const isNamed = blockhash !== null && of.named.has(blockhash);
    const spoke = new Set(this.able(of));
    for (const each of of.candidates.values()) {
      if (isNamed && each.digest.blockhash !== blockhash) continue;
      for (const node of this.votersOf(each)) spoke.add(node);
    }
    return spoke.size >= 2 ? 2 : 1;
  }

  /** The word of all nodes on a candidate. */
  judge(of: SlotCase, candidate: BlockCandidate): Judgement {
    const votes = this.votersOf(candidate).length;
    const rivals = [...of.candidates.values()].filter((each) => each !== candidate && this.votersOf(each).length > 0);
    if (votes < this.needed(of, candidate))
      return { kind: "open", isDisputed: rivals.length > 0 || of.absent.size > 0 };
    // Of one blockhash there is one content; a block of another hash is a fork.
    const contrary = rivals.filter(({ digest }) => digest.blockhash === candidate.digest.blockhash);
    if (contrary.some((each) => this.votersOf(each).length >= votes)) return { kind: "open", isDisputed: true };
    return { kind: "accepted", candidate, liars: contrary.flatMap((each) => this.votersOf(each)) };
  }

  /** Nodes whose word counts and that say, of a block that two nodes have confirmed, something else. */
  liarsOf(of: SlotCase): string[] {
    const liars: string[] = [];
    for (const accepted of of.candidates.values()) {
      if (!accepted.isAccepted || accepted.votes.size < 2) continue;
      for (const other of of.candidates.values()) {
        const isContrary = other !== accepted && other.digest.blockhash === accepted.digest.blockhash;
        if (isContrary) liars.push(...this.votersOf(other).filter((node) => !accepted.votes.has(node)));
      }
    }
    return liars;
  }

  /** The nodes that vote for it and whose word counts. */
  votersOf({ votes }: BlockCandidate): string[] {
    const witnesses = this.#dependencies.witnesses();
    return [...votes].flatMap(([node, stage]) => (witnesses.has(node) && isAtLeast(stage, "confirmed") ? [node] : []));
  }

  /** Whether two nodes have said the same of a block that was kept. */
  isConfirmedByTwo({ slot, blockhash }: { readonly slot: Slot; readonly blockhash: string }): boolean {
    for (const { digest, isAccepted, votes } of this.#cases.get(slot)?.candidates.values() ?? []) {
      if (isAccepted && digest.blockhash === blockhash) return votes.size >= 2;
    }
    return false;
  }

  /** The content of a block that was kept, as it was judged; null where that is forgotten. */
  keptDigest({ slot, blockhash }: { readonly slot: Slot; readonly blockhash: string }): BlockDigest | null {
    const candidates = [...(this.#cases.get(slot)?.candidates.values() ?? [])];
    return candidates.find(({ digest, isAccepted }) => isAccepted && digest.blockhash === blockhash)?.digest ?? null;
  }

  /** The node that gave a kept block; null where that is forgotten. */
  giverOf({ slot, blockhash }: { readonly slot: Slot; readonly blockhash: string }): string | null {
    const candidates = [...(this.#cases.get(slot)?.candidates.values() ?? [])];
    const kept = candidates.find(({ digest, isAccepted }) => isAccepted && digest.blockhash === blockhash);
    return kept?.giver?.node ?? null;
  }

  /** Slots with a block that waits for a verdict. */
  waiting(): SlotCase[] {
    return [...this.#cases.values()].filter(({ candidates }) =>
      [...candidates.values()].some(({ block, isAccepted }) => block !== null && !isAccepted),
    );
  }

  forget(slot: Slot): void {
    this.#cases.delete(slot);
  }

  /** Forgets all slots below, which are settled. */
  forgetBelow(slot: Slot): void {
    for (const each of [...this.#cases.keys()]) if (each < slot) this.#cases.delete(each);
  }
}
