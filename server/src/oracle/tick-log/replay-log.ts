import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { zstdDecompressSync } from "node:zlib";
import { Aggregator } from "../aggregate/aggregator.ts";
import { serialiseRound } from "../aggregate/inputs.ts";
import type { AggregateOptions } from "../aggregate/options.ts";
import type { Round } from "../model/round.ts";
import { type LogLine, readLogLine } from "./read-line.ts";
import { tickLogPattern } from "./tick-log.ts";

/** No block is made larger than what waits for a flush, packed. */
const blockBytesMax = 16 * 1_024 * 1_024;

/** The lines of one file. A block that was cut ends it; one that cannot be unpacked, or a line that is none, is told as null. */
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
  /** Digests of the running server that the replay's rounds come to as well, and those that they do not. */
  readonly proved: number;
  readonly differing: number;
  /** Digests before which something is missing: the beginning of a log whose oldest files are gone, or a damaged block. */
  readonly unprovable: number;
  /** Lines and blocks that could not be read. */
  readonly damaged: number;
}

/**
 * Makes the rounds of a log again, hands each to `onRound`, and holds them against the digests that the server wrote. Each
 * start of a process begins anew, as it did then.
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
