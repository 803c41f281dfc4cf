import type { Input } from "../aggregate/inputs.ts";
import { type Decimal, parseDecimal } from "../model/decimal.ts";
import { type QuoteCurrency, type SourceId, sourceIds, type Tick } from "../model/tick.ts";

/** A line of a tick log. */
export type LogLine =
  | { readonly kind: "input"; readonly input: Input }
  /** A process began here: nothing before it belongs to what follows. */
  | { readonly kind: "start"; readonly atMs: number }
  /** What the rounds since the digest before come to. */
  | { readonly kind: "digest"; readonly rounds: number; readonly sha256: string };

type Members = Readonly<Record<string, unknown>>;

const quotes: readonly QuoteCurrency[] = ["USD", "USDT", "USDC"];

/** Reads one line; null for what is none. */
export function readLogLine(text: string): LogLine | null {
  const members = membersOf(text);
  if (members === null) return null;
  const { kind, atMs, rounds, sha256 } = members;
  if (kind === "time" && isTime(atMs)) return { kind: "input", input: { kind, atMs } };
  if (kind === "start" && isTime(atMs)) return { kind, atMs };
  if (kind === "digest" && typeof rounds === "number" && typeof sha256 === "string") return { kind, rounds, sha256 };
  if (kind !== "tick") return null;
  const tick = tickOf(members);
  return tick === null ? null : { kind: "input", input: { kind, tick } };
}

function membersOf(text: string): Members | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Members) : null;
  } catch {
    return null;
  }
}

const isTime = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);

function tickOf(members: Members): Tick | null {
  const source = sourceIds.find((id) => id === members["source"]);
  const quote = quotes.find((each) => each === members["quote"]);
  const { base, asOfMs, receivedAtMs } = members;
  const price = decimalOf(members["price"]);
  if (source === undefined || quote === undefined || typeof base !== "string" || price === null) return null;
  if (!isTime(asOfMs) || !isTime(receivedAtMs)) return null;
  return { ...partsOf(members), source: source satisfies SourceId, base, quote, price, asOfMs, receivedAtMs };
}

function partsOf(members: Members) {
  return {
    bid: decimalOf(members["bid"]),
    ask: decimalOf(members["ask"]),
    open24h: decimalOf(members["open24h"]),
    high24h: decimalOf(members["high24h"]),
    low24h: decimalOf(members["low24h"]),
    baseVolume24h: decimalOf(members["baseVolume24h"]),
    quoteVolume24h: decimalOf(members["quoteVolume24h"]),
  };
}

const decimalOf = (value: unknown): Decimal | null => (typeof value === "string" ? parseDecimal(value) : null);
