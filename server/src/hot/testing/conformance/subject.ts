import type { Hot } from "../../hot.ts";

/** What the tests are given; the values are read when a test runs, after the store has been opened. */
export interface HotSubject {
  hot(): Hot;
  other(): Hot;
  pass(durationMs: number): Promise<void>;
  /** A key that no other test has. */
  newKey(): string;
}
