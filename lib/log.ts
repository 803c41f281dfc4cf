/**
 * Structured log lines: a level, a message and fields. `error` is only for defects of this system: an error of a client
 * or of a node is at most `warn`.
 */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  /** A log whose every line carries `fields` as well, such as a request id. */
  child(fields: object): Log;
}
