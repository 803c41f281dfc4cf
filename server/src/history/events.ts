import type { Network } from "@sluice/contract/tiers";
import { counter, gauge, latency, type Observe } from "../observe/index.ts";

const ofNetwork = ["network"] as const;

/** The metrics of what writes the chain into the ledger. */
export const historyMetrics = {
  blocks: counter("sluice_history_blocks_total", "Blocks written to the ledger, by who wrote them", [
    "network",
    "source",
  ]),
  bytes: counter("sluice_history_bytes_total", "Bytes of rows that the writer has sent to the ledger", ofNetwork),
  delay: latency(
    "sluice_history_write_duration_seconds",
    "Time from the moment that the writer has a block until its rows are on disk",
    ofNetwork,
  ),
  lagSlots: gauge("sluice_history_lag_slots", "Slots that the writer is behind the newest confirmed block", ofNetwork),
  lagSeconds: gauge(
    "sluice_history_lag_seconds",
    "Age, by the chain's own time, of the newest block when it was written",
    ofNetwork,
  ),
  watermark: gauge("sluice_history_watermark_slot", "The slot up to which blocks of the ledger are final", ofNetwork),
  missing: gauge(
    "sluice_history_missing_slots",
    "Slots between the first and the last one held that the ledger does not hold",
    ofNetwork,
  ),
  failures: counter(
    "sluice_history_failures_total",
    "Writes that the ledger did not take, and attempts of backfill that failed; they are repeated",
    ["network", "source"],
  ),
  singleWords: counter(
    "sluice_history_single_words_total",
    "Blocks of backfill of which one node alone could say anything",
    ofNetwork,
  ),
  dropped: counter("sluice_history_dropped_blocks_total", "Written blocks that left the chain", ofNetwork),
  reparsed: counter(
    "sluice_history_reparsed_transactions_total",
    "Transactions of the ledger that were parsed again",
    ofNetwork,
  ),
  reparseLeft: gauge(
    "sluice_history_reparse_left_slots",
    "Slots that are left of what is being parsed again; 0 when nothing is",
    ofNetwork,
  ),
  unparsed: counter(
    "sluice_history_unparsed_transactions_total",
    "Transactions that made the parser fail, an error of Sluice; they are written as UNKNOWN",
    ofNetwork,
  ),
  malformed: counter("sluice_history_malformed_blocks_total", "Blocks of the log that cannot be read", ofNetwork),
} as const;

/** What a write has brought. */
export interface WriterFigures {
  readonly blocks: number;
  readonly bytes: number;
  /** From the moment that the writer had the first of the blocks. */
  readonly delayMs: number;
  /** The age of the last of them; null where the chain does not know its time. */
  readonly behindMs: number | null;
}

/** Every function is cheap and must not throw. */
export interface HistoryEvents {
  writerWrote(network: Network, figures: WriterFigures): void;
  writerLag(network: Network, slots: number): void;
  /** Where what is held ends, not included. */
  writerHolds(network: Network, until: bigint): void;
  writerFailed(network: Network, failure: { readonly error: unknown; readonly isFirst: boolean }): void;
  /** The ledger takes what it has refused before. */
  writerWorks(network: Network): void;
  writerDropped(network: Network): void;
  writerMalformed(network: Network, of: { readonly slot: bigint; readonly error: unknown }): void;
  reparsed(network: Network, transactions: number): void;
  /** Slots of what is being parsed again that are left. */
  reparseLeft(network: Network, slots: bigint): void;
  reparseDone(
    network: Network,
    of: { readonly order: string; readonly transactions: bigint; readonly tookMs: number },
  ): void;
  /** Nothing can be parsed again now, told once for each reason. */
  reparseFailed(network: Network, reason: string): void;
  /** The parser failed on a transaction, which is written as UNKNOWN. */
  parserFault(network: Network, of: { readonly signature: string; readonly error: unknown }): void;
  /** The log does not have what follows on what was written. */
  writerCursorLost(network: Network, code: string): void;
  /** The ledger holds another chain of this network. */
  writerRefused(network: Network): void;
  backfillWrote(network: Network, blocks: number): void;
  /** A block was taken on the word of the one node that could say anything of it. */
  backfillSingleWord(network: Network): void;
  /** How many slots the ledger does not hold between the first and the last one that it holds. */
  holesCounted(network: Network, slots: bigint): void;
  /** Slots cannot be filled now, told once for each reason. */
  backfillFailed(network: Network, reason: string): void;
  /** An error of Sluice itself; the writer begins again. */
  writerFault(network: Network, error: unknown): void;
}

/** Registers the metrics of this room and gives the functions that feed them. */
export function createHistoryEvents({ log, metrics }: Observe): HistoryEvents {
  const families = metrics.register(historyMetrics);
  return {
    writerWrote: (network, { blocks, bytes, delayMs, behindMs }) => {
      families.blocks.with(network, "writer").add(blocks);
      families.bytes.with(network).add(bytes);
      families.delay.with(network).observe(delayMs / 1_000);
      if (behindMs !== null) families.lagSeconds.with(network).set(behindMs / 1_000);
    },
    writerLag: (network, slots) => families.lagSlots.with(network).set(slots),
    writerHolds: (network, until) => families.watermark.with(network).set(Number(until - 1n)),
    writerFailed: (network, { error, isFirst }) => {
      families.failures.with(network, "writer").add();
      if (isFirst) log.warn({ network, error }, "the ledger takes no blocks, which wait in the log of the chain");
    },
    writerWorks: (network) => log.info({ network }, "the ledger takes blocks again"),
    writerDropped: (network) => families.dropped.with(network).add(),
    writerMalformed: (network, { slot, error }) => {
      families.malformed.with(network).add();
      log.error(
        { network, slot: String(slot), error },
        "a block of the log cannot be read and is missing in the ledger",
      );
    },
    reparsed: (network, transactions) => {
      if (transactions > 0) families.reparsed.with(network).add(transactions);
    },
    reparseLeft: (network, slots) => families.reparseLeft.with(network).set(Number(slots)),
    reparseDone: (network, { order, transactions, tookMs }) =>
      log.info(
        { network, order, transactions: String(transactions), seconds: Math.round(tookMs / 1_000) },
        "transactions of the ledger were parsed again",
      ),
    reparseFailed: (network, reason) => {
      families.failures.with(network, "reparse").add();
      log.warn({ network, reason }, "transactions of the ledger cannot be parsed again now");
    },
    parserFault: (network, { signature, error }) => {
      families.unparsed.with(network).add();
      log.error({ network, signature, error }, "the parser failed on a transaction, which is written as UNKNOWN");
    },
    writerCursorLost: (network, code) =>
      log.warn({ network, code }, "the log of the chain does not reach back to what the ledger holds"),
    writerRefused: (network) =>
      log.warn({ network }, "the ledger holds another chain of this network, so no block is written to it"),
    holesCounted: (network, slots) => families.missing.with(network).set(Number(slots)),
    backfillWrote: (network, blocks) => families.blocks.with(network, "backfill").add(blocks),
    backfillSingleWord: (network) => families.singleWords.with(network).add(),
    backfillFailed: (network, reason) => {
      families.failures.with(network, "backfill").add();
      log.warn({ network, reason }, "backfill cannot fill slots of the ledger now");
    },
    writerFault: (network, error) => log.error({ network, error }, "the writer of the ledger failed and begins again"),
  };
}
