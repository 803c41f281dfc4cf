import type { ManualClock } from "@sluice/lib";
import type { State } from "../../records.ts";

/** What the tests of one part are given; the values are read when a test runs, after the database has been opened. */
export interface ConformanceSubject {
  readonly clock: ManualClock;
  state(): State;
  /** All replicas there are, at least one. */
  replicas(): readonly State[];
  execute(sql: string): Promise<void>;
}
