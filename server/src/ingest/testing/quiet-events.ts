import type { IngestEvents } from "../events.ts";

/** Events that nobody counts. */
export const quietEvents: IngestEvents = {
  stateChanged: () => undefined,
  measured: () => undefined,
  blockGiven: () => undefined,
  blockKept: () => undefined,
  sourceChanged: () => undefined,
  asked: () => undefined,
  keptOnOneWord: () => undefined,
  disputed: () => undefined,
  lied: () => undefined,
  readAgain: () => undefined,
  blockUnavailable: () => undefined,
  gapRecorded: () => undefined,
  logStalled: () => undefined,
  recordRefused: () => undefined,
};
