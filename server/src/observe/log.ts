import { type DestinationStream, destination as fileDestination, type Logger, pino, stdTimeFunctions } from "pino";
import { formatPretty } from "./pretty.ts";
import { redactFields, redactText } from "./redaction.ts";

/**
 * Lines of JSON with a level, a time, a message and fields, all without secrets. `error` is only for faults of this
 * system: what a client or a node does wrong is at most `warn`.
 */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  /** A log whose every line carries `fields` as well, such as a request id. */
  child(fields: object): Log;
}

/** The log that `createLog` makes: the root of all children. */
export interface RootLog extends Log {
  /** Lines that were given up since their reader was too slow. */
  dropped(): number;
}

/** Where lines go: a standard stream, or anything that takes text (tests). */
export type LogDestination = "stdout" | "stderr" | { write(line: string): void };

export interface LogOptions {
  /** debug, info, warn, error or silent; anything else is taken for info. */
  readonly level: string;
  /** Text for people in place of JSON; meant for a terminal. */
  readonly pretty?: boolean;
  readonly destination?: LogDestination;
}

const levels = ["debug", "info", "warn", "error", "silent"];

/** Lines that wait for a slow reader take at most this much; what comes then is dropped rather than kept in memory. */
const bufferedBytesMax = 4 * 1024 * 1024;

class PinoLog implements Log {
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  debug(fields: object, message: string): void {
    if (this.#logger.isLevelEnabled("debug")) this.#logger.debug(redactFields(fields), redactText(message));
  }

  info(fields: object, message: string): void {
    if (this.#logger.isLevelEnabled("info")) this.#logger.info(redactFields(fields), redactText(message));
  }

  warn(fields: object, message: string): void {
    if (this.#logger.isLevelEnabled("warn")) this.#logger.warn(redactFields(fields), redactText(message));
  }

  error(fields: object, message: string): void {
    if (this.#logger.isLevelEnabled("error")) this.#logger.error(redactFields(fields), redactText(message));
  }

  child(fields: object): Log {
    return new PinoLog(this.#logger.child(redactFields(fields)));
  }
}

/** Writes to the stream without blocking; pino writes out what is left when the process exits. */
function streamOf(to: LogDestination, onDropped: () => void): DestinationStream {
  if (typeof to === "object") return to;
  const stream = fileDestination({ dest: to === "stderr" ? 2 : 1, sync: false, maxLength: bufferedBytesMax });
  stream.on("drop", onDropped);
  return stream;
}

/** Makes the process's log. Text for people has colours only on a standard stream. */
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
      level: levels.includes(options.level) ? options.level : "info",
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    written,
  );
  return Object.assign(new PinoLog(logger), { dropped: () => dropped });
}
