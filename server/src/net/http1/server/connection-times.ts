/** What a connection is about, as far as it can last too long. */
export type Phase =
  /** Waits for a request, for more of a head, or for more of a body that somebody reads. */
  | "idle"
  | "head"
  | "body"
  /** An answer that the client does not take. */
  | "unread"
  /** What is left of a body that nobody reads is thrown away, or all that still comes on a connection closed from here. */
  | "discarding"
  | "lingering"
  /** Waits for us, or is somebody else's to watch. */
  | "busy";

export interface ConnectionTimes {
  /** Between requests, and for a peer that neither sends nor takes what it should. */
  readonly idleMs: number;
  /** For a head, from its first byte on. */
  readonly headMs: number;
  /** For what is left of a body that nobody reads, and for the end of a connection that was closed from here. */
  readonly lingerMs: number;
}

/** Whether a phase has lasted too long: `stoodMs` without a byte, `sinceMs` since it began. */
export function isOverdue(phase: Phase, stoodMs: number, sinceMs: number, times: ConnectionTimes): boolean {
  switch (phase) {
    case "busy":
      return false;
    case "head":
      return sinceMs >= times.headMs;
    case "discarding":
    case "lingering":
      return sinceMs >= times.lingerMs;
    default:
      return stoodMs >= times.idleMs;
  }
}
