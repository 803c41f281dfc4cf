import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { zstdDecompressSync } from "node:zlib";
import { Aggregator } from "../aggregate/aggregator.ts";
import { type Input, serialiseRound } from "../aggregate/inputs.ts";
import type { AggregateOptions } from "../aggregate/options.ts";
import { type Decimal, parseDecimal } from "../model/decimal.ts";
import type { Round } from "../model/round.ts";
import { type QuoteCurrency, type SourceId, sourceIds, type Tick } from "../model/tick.ts";
import { tickLogPattern } from "./tick-log.ts";

/** A compressed block is at most as large as the text that waits for a flush. */
const blockBytesMax = 16 * 1_024 * 1_024;

/**
 * The lines of one file. A block that was cut off ends it; a damaged block and an unreadable line are yielded as null.
 */
export function* linesOfFile(path: string): Generator<LogLine | null> {
  const bytes = readFileSync(path);
  let at = 0;
  while (at + 4 <= bytes.length) {
    const length = bytes.readUInt32LE(at);
    if (length > blockBytesMax || at + 4 + length > bytes.length) return;
    let text: string;
    try {
      text = zstdDecompressSync(bytes.subarray(at + 4, at + 4 + length), {
        maxOutputLength: 8 * blockBytesMax,
      }).toString();
    } catch {
      yield null;
      return;
    }
    for (const line of text.split("\n")) yield readLogLine(line);
    at += 4 + length;
  }
}

/** The files of a log's directory, oldest first. */
export function tickLogFiles(directory: string): string[] {
  return readdirSync(directory)
    .filter((name) => tickLogPattern.test(name))
    .toSorted()
    .map((name) => join(directory, name));
}

export interface ReplayReport {
  readonly inputs: number;
  readonly rounds: number;
  /** Digests of the server that are equal to those of the replay, and those that differ. */
  readonly proved: number;
  readonly differing: number;
  /** Digests whose inputs are incomplete, because the oldest files are gone or a block is damaged. */
  readonly unprovable: number;
  /** Lines and blocks that could not be read. */
  readonly damaged: number;
}

/**
 * Computes the rounds of a log again, passes each to `onRound`, and compares them with the digests that the server
 * wrote. Each start of a process begins with an empty state, as it did then.
 */
export function replayLog(
  files: Iterable<string>,
  options: AggregateOptions,
  onRound: (round: Round) => void = () => {},
): ReplayReport {
  const report = { inputs: 0, rounds: 0, proved: 0, differing: 0, unprovable: 0, damaged: 0 };
  let aggregator = new Aggregator(options);
  let digest = createHash("sha256");
  let isWhole = false;
  for (const file of files) {
    for (const line of linesOfFile(file)) {
      if (line === null) {
        report.damaged += 1;
        isWhole = false;
      } else if (line.kind === "start") {
        aggregator = new Aggregator(options);
        digest = createHash("sha256");
        isWhole = true;
      } else if (line.kind === "digest") {
        const isSame = digest.digest("hex") === line.sha256;
        if (isSame) report.proved += 1;
        else if (isWhole) report.differing += 1;
        else report.unprovable += 1;
        digest = createHash("sha256");
      } else {
        report.inputs += 1;
        for (const round of aggregator.accept(line.input)) {
          report.rounds += 1;
          digest.update(serialiseRound(round)).update("\n");
          onRound(round);
        }
      }
    }
  }
  return report;
}

/** A line of a tick log. */
export type LogLine =
  | { readonly kind: "input"; readonly input: Input }
  /** A process started here; later lines do not depend on earlier ones. */
  | { readonly kind: "start"; readonly atMs: number }
  /** The digest of the rounds since the previous digest. */
  | { readonly kind: "digest"; readonly rounds: number; readonly sha256: string };

type Members = Readonly<Record<string, unknown>>;

const quoteCurrencies: readonly QuoteCurrency[] = ["USD", "USDT", "USDC"];

/** Reads one line; null when it is not one. */
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
  const quote = quoteCurrencies.find((each) => each === members["quote"]);
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
