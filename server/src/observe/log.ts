import type { Log } from "@sluice/lib";
import { type DestinationStream, destination as fileDestination, type Logger, pino, stdTimeFunctions } from "pino";
import { formatPretty } from "./pretty.ts";
import { redactFields, redactText } from "./redaction.ts";

/** The log of the process: lines of JSON without secrets, the root of all children. */
export interface RootLog extends Log {
  /** Lines that were dropped because their reader was too slow. */
  dropped(): number;
  /** Sets the least severe level that is written from now on, by this log and all its children. */
  setLevel(level: string): void;
}

/** The destination of lines: a standard stream, or an object that takes text (tests). */
export type LogDestination = "stdout" | "stderr" | { write(line: string): void };

export interface LogOptions {
  /** debug, info, warn, error or silent; any other text means info. */
  readonly level: string;
  /** Text for people in place of JSON, for a terminal. */
  readonly pretty?: boolean;
  readonly destination?: LogDestination;
  /** Members of every line. */
  readonly fields?: Readonly<Record<string, number | string>>;
}

/** A level of pino, shared by a log and all its children: pino's own children keep the level of their creation. */
interface Threshold {
  value: number;
}

const levels = ["debug", "info", "warn", "error", "silent"];

/** The most bytes of lines that wait for a slow reader; further lines are dropped. */
const bufferedBytesMax = 4 * 1024 * 1024;

class PinoLog implements Log {
  readonly #logger: Logger;
  readonly #threshold: Threshold;

  constructor(logger: Logger, threshold: Threshold) {
    this.#logger = logger;
    this.#threshold = threshold;
  }

  debug(fields: object, message: string): void {
    if (this.#threshold.value <= 20) this.#logger.debug(redactFields(fields), redactText(message));
  }

  info(fields: object, message: string): void {
    if (this.#threshold.value <= 30) this.#logger.info(redactFields(fields), redactText(message));
  }

  warn(fields: object, message: string): void {
    if (this.#threshold.value <= 40) this.#logger.warn(redactFields(fields), redactText(message));
  }

  error(fields: object, message: string): void {
    if (this.#threshold.value <= 50) this.#logger.error(redactFields(fields), redactText(message));
  }

  child(fields: object): Log {
    return new PinoLog(this.#logger.child(redactFields(fields)), this.#threshold);
  }
}

/** A stream that writes without blocking; pino writes the rest when the process exits. */
function streamOf(to: LogDestination, onDropped: () => void): DestinationStream {
  if (typeof to === "object") return to;
  const stream = fileDestination({ dest: to === "stderr" ? 2 : 1, sync: false, maxLength: bufferedBytesMax });
  stream.on("drop", onDropped);
  return stream;
}

/** The number of a level; `silent` is above all others. */
function severityOf(level: string): number {
  return level === "silent"
    ? Number.POSITIVE_INFINITY
    : (pino.levels.values[levels.includes(level) ? level : "info"] ?? 30);
}

/** Whole lines to a standard stream, which waits for a slow reader as a log does, and drops what is too much. */
export interface LineWriter {
  write(line: string): void;
  dropped(): number;
}

export function createLineWriter(to: "stdout" | "stderr"): LineWriter {
  let dropped = 0;
  const stream = streamOf(to, () => {
    dropped++;
  });
  return { write: (line) => void stream.write(line), dropped: () => dropped };
}

/** Creates the process's log. Text for people has colours only on a standard stream. */
export function createLog(options: LogOptions): RootLog {
  const to = options.destination ?? "stdout";
  let dropped = 0;
  const stream = streamOf(to, () => {
    dropped++;
  });
  const colour = typeof to === "string";
  const written: DestinationStream =
    options.pretty === true ? { write: (line) => stream.write(formatPretty(line, { colour })) } : stream;
  const logger = pino(
    {
      // The threshold decides which lines are written.
      level: "debug",
      base: options.fields ?? null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    written,
  );
  const threshold: Threshold = { value: severityOf(options.level) };
  return Object.assign(new PinoLog(logger, threshold), {
    dropped: () => dropped,
    setLevel: (level: string) => {
      threshold.value = severityOf(level);
    },
  });
}
