import { counter, latency, type Observe } from "../observe/index.ts";

/** The metrics of the enhanced API. */
export const enhancedMetrics = {
  parsed: counter("sluice_enhanced_transactions_total", "Transactions that were parsed for a request, by type", [
    "type",
  ]),
  answers: counter(
    "sluice_enhanced_answers_total",
    "Records, tokens and NFTs that were answered with, by where they came from",
    ["kind", "from"],
  ),
  failed: counter("sluice_enhanced_failures_total", "Transactions, tokens and NFTs that could not be read, by code", [
    "code",
  ]),
  parsing: latency("sluice_enhanced_parse_seconds", "Time to parse one transaction and write its record"),
} as const;

export interface EnhancedEvents {
  transactionParsed(type: string, elapsedMs: number): void;
  /** `kind` is `transaction`, `token` or `nft`; `from` is `kept` or `chain`. */
  answered(kind: "transaction" | "token" | "nft", from: "kept" | "chain"): void;
  readFailed(code: string): void;
}

/** Registers the metrics of the enhanced API and gives the functions that feed them. */
export function createEnhancedEvents({ metrics }: Pick<Observe, "metrics">): EnhancedEvents {
  const families = metrics.register(enhancedMetrics);
  return {
    transactionParsed: (type, elapsedMs) => {
      families.parsed.with(type).add(1);
      families.parsing.with().observe(elapsedMs / 1_000);
    },
    answered: (kind, from) => families.answers.with(kind, from).add(1),
    readFailed: (code) => families.failed.with(code).add(1),
  };
}
