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
const bufferedBytesMax = 1024 * 1024;

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
function streamOf(to: LogDestination): DestinationStream {
  if (typeof to === "object") return to;
  return fileDestination({ dest: to === "stderr" ? 2 : 1, sync: false, maxLength: bufferedBytesMax });
}

/** Makes the process's log. Colours are used for standard streams only, and not where NO_COLOR would ask: pass pretty: false. */
export function createLog(options: LogOptions): Log {
  const to = options.destination ?? "stdout";
  const stream = streamOf(to);
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
  return new PinoLog(logger);
}
