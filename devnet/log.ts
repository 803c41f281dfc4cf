import type { Log } from "@sluice/lib";

type Level = "debug" | "info" | "warn" | "error";

/** Converts values that JSON cannot represent: an error as its text and stack, a bigint as its digits. */
function printable(_name: string, value: unknown): unknown {
  if (value instanceof Error) return { name: value.name, message: value.message, stack: value.stack };
  return typeof value === "bigint" ? value.toString() : value;
}

/** A log of one JSON object a line: level, name of the process, message, and fields. Lines go to standard error. */
export function processLog(name: string, write = (line: string) => void process.stderr.write(line)): Log {
  const logOf = (always: object): Log => {
    const line = (level: Level) => (fields: object, message: string) =>
      write(`${JSON.stringify({ level, name, msg: message, ...always, ...fields }, printable)}\n`);
    return {
      debug: line("debug"),
      info: line("info"),
      warn: line("warn"),
      error: line("error"),
      child: (fields) => logOf({ ...always, ...fields }),
    };
  };
  return logOf({});
}
