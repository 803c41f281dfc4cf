import type { Network } from "@sluice/contract/tiers";
import { counter, gauge, latency, type Observe } from "../observe/index.ts";
import type { QuestionKind } from "./questions.ts";

/** How far a network's log is behind its chain. */
export const ingestStates = ["starting", "live", "lagging", "catching_up", "paused", "stopped"] as const;
export type IngestState = (typeof ingestStates)[number];

/** The metrics of ingest. */
export const ingestMetrics = {
  state: gauge("sluice_ingest_state", "1 for the state of a network's ingest, 0 for the others", ["network", "state"]),
  lag: gauge("sluice_ingest_lag_slots", "Slots from the newest block that followers get to the believed head", [
    "network",
  ]),
  blocks: counter("sluice_ingest_blocks_total", "Blocks that sources gave, by what became of them", [
    "network",
    "source",
    "outcome",
  ]),
  delay: latency(
    "sluice_ingest_delay_seconds",
    "From the last byte of the first source's block to the moment at which followers in this process have it",
    ["network"],
  ),
  sourceUp: gauge("sluice_ingest_source_up", "1 while a source's notices arrive", ["network", "source", "kind"]),
  questions: counter("sluice_ingest_questions_total", "Questions to nodes about slots, by their answers", [
    "network",
    "kind",
    "outcome",
  ]),
  waitingBytes: gauge("sluice_ingest_waiting_bytes", "Bytes of blocks that wait for a second word or for the log", [
    "network",
    "what",
  ]),
  singleWords: counter(
    "sluice_ingest_single_words_total",
    "Blocks that were kept on the word of one node, since no other one could be heard",
    ["network"],
  ),
  disputes: counter("sluice_ingest_disputes_total", "Times that nodes contradicted each other about a block", [
    "network",
    "about",
  ]),
  lies: counter("sluice_ingest_lies_total", "Times that a node's word on a block was outvoted by two others", [
    "network",
    "node",
  ]),
  secondReads: counter("sluice_ingest_second_reads_total", "Whole blocks that were read again from another node", [
    "network",
    "outcome",
  ]),
  unavailable: gauge("sluice_ingest_unavailable_slots", "Slots of which no node gives what a later block names", [
    "network",
  ]),
  gaps: counter("sluice_ingest_gaps_total", "Gaps that were recorded, with the reason", ["network", "reason"]),
} as const;

export type BlockOutcome = "kept" | "repeat" | "refused" | "dropped";

/** Of one network. Every function is cheap and must not throw. */
export interface IngestEvents {
  stateChanged(state: IngestState): void;
  measured(figures: {
    readonly lagSlots: number;
    readonly judgedBytes: number;
    readonly logBytes: number;
    readonly unavailableSlots: number;
  }): void;
  blockGiven(source: string, outcome: BlockOutcome): void;
  blockKept(delayMs: number): void;
  sourceChanged(source: { readonly name: string; readonly kind: string }, isUp: boolean, reason: string | null): void;
  asked(kind: QuestionKind, outcome: "present" | "absent" | "unavailable"): void;
  keptOnOneWord(): void;
  disputed(about: "content" | "finality", slot: bigint): void;
  lied(node: string, slot: bigint): void;
  readAgain(outcome: "equal" | "differs" | "unread", slot: bigint): void;
  blockUnavailable(hole: { readonly from: bigint; readonly to: bigint }): void;
  gapRecorded(gap: { readonly from: bigint; readonly to: bigint; readonly reason: string }): void;
  logStalled(code: string | null): void;
  recordRefused(slot: bigint, code: string): void;
}

/** Registers the metrics of ingest and gives the functions that feed those of one network. */
export function createIngestEvents(
  { log, metrics }: Observe,
  { network }: { readonly network: Network },
): IngestEvents {
  const families = metrics.register(ingestMetrics);
  return {
    stateChanged: (state) => {
      for (const each of ingestStates) families.state.with(network, each).set(each === state ? 1 : 0);
      const text = "the state of a network's ingest has changed";
      // Blocks stand still while the log takes nothing; a planned end is none of the operator's concern.
      if (state === "paused") log.warn({ network, state }, text);
      else log.info({ network, state }, text);
    },
    measured: ({ lagSlots, judgedBytes, logBytes, unavailableSlots }) => {
      families.lag.with(network).set(lagSlots);
      families.waitingBytes.with(network, "judgement").set(judgedBytes);
      families.waitingBytes.with(network, "log").set(logBytes);
      families.unavailable.with(network).set(unavailableSlots);
    },
    blockGiven: (source, outcome) => families.blocks.with(network, source, outcome).add(),
    blockKept: (delayMs) => families.delay.with(network).observe(delayMs / 1_000),
    sourceChanged: ({ name, kind }, isUp, reason) => {
      families.sourceUp.with(network, name, kind).set(isUp ? 1 : 0);
      if (!isUp) log.info({ network, source: name, reason }, "a source of blocks is down");
    },
    asked: (kind, outcome) => families.questions.with(network, kind, outcome).add(),
    keptOnOneWord: () => families.singleWords.with(network).add(),
    disputed: (about, slot) => {
      families.disputes.with(network, about).add();
      log.warn({ network, about, slot: String(slot) }, "nodes contradict each other about a block");
    },
    lied: (node, slot) => {
      families.lies.with(network, node).add();
      log.warn(
        { network, node, slot: String(slot) },
        "two nodes contradict this one about a block: it is not heard for ten minutes",
      );
    },
    readAgain: (outcome, slot) => {
      families.secondReads.with(network, outcome).add();
      if (outcome === "differs")
        log.warn({ network, slot: String(slot) }, "another node gives other results of a block");
    },
    blockUnavailable: ({ from, to }) =>
      log.warn({ network, from: String(from), to: String(to) }, "no node gives blocks that a later one needs"),
    gapRecorded: ({ from, to, reason }) => {
      families.gaps.with(network, reason).add();
      log.warn({ network, from: String(from), to: String(to), reason }, "the chain's log has a gap");
    },
    logStalled: (code) => {
      if (code === null) log.info({ network }, "the chain's log takes blocks again");
      else log.warn({ network, code }, "the chain's log takes no blocks; they are tried again");
    },
    recordRefused: (slot, code) => log.warn({ network, slot: String(slot), code }, "the chain's log refuses a block"),
  };
}
