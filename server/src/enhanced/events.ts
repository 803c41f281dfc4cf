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
  documents: counter(
    "sluice_enhanced_documents_total",
    "Documents behind URIs of tokens and NFTs that were fetched, by outcome",
    ["outcome"],
  ),
  fetching: latency("sluice_enhanced_document_seconds", "Time to fetch one document, redirects included"),
  parsing: latency("sluice_enhanced_parse_seconds", "Time to parse one transaction and write its record"),
  wallets: latency("sluice_enhanced_wallet_seconds", "Time to read what is asked of a wallet, by what that is", [
    "kind",
  ]),
  partial: counter(
    "sluice_enhanced_wallet_partial_total",
    "Answers about wallets that ended by their bounds of time or number, by what was asked",
    ["kind"],
  ),
} as const;

/** What is asked of wallets. */
export type WalletRead = "analytics" | "balances" | "balance_at" | "funding" | "history" | "identity" | "transfers";

export interface EnhancedEvents {
  transactionParsed(type: string, elapsedMs: number): void;
  /** `kind` is `transaction`, `token` or `nft`; `from` is `kept` or `chain`. */
  answered(kind: "transaction" | "token" | "nft", from: "kept" | "chain"): void;
  readFailed(code: string): void;
  walletRead(kind: WalletRead, elapsedMs: number): void;
  walletPartial(kind: WalletRead): void;
  /** `outcome` is `read`, `busy`, or why there is none; `busy` and what leads nowhere took no time. */
  documentFetched(outcome: string, elapsedMs: number): void;
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
    documentFetched: (outcome, elapsedMs) => {
      families.documents.with(outcome).add(1);
      if (elapsedMs > 0) families.fetching.with().observe(elapsedMs / 1_000);
    },
    readFailed: (code) => families.failed.with(code).add(1),
    walletRead: (kind, elapsedMs) => families.wallets.with(kind).observe(elapsedMs / 1_000),
    walletPartial: (kind) => families.partial.with(kind).add(1),
  };
}
