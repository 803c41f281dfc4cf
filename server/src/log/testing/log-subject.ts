import type { ChainIdentity, ChainLog, Follower, FollowFrom, Stage } from "../records.ts";
import { blockOf, headerOf } from "./chain-model.ts";

/** An empty log of one driver. */
export interface LogHarness extends AsyncDisposable {
  readonly log: ChainLog;
  /** Another process's view of the same log; null where only one process may have it. */
  readonly other: ChainLog | null;
  /** Closes the log and opens it again, as the next process does, which may know its chain by another name. */
  reopen(chain?: ChainIdentity): Promise<ChainLog>;
  /** Waits until the log has trimmed what is beyond its bytes, which are about ten blocks of 300 kB. */
  trim(): Promise<void>;
}

/** What tests of one promise need. */
export interface LogSubject {
  readonly harness: () => LogHarness;
  readonly log: () => ChainLog;
}

/** The follower of an outcome that has to be one. */
export function follow(log: ChainLog, stage: Stage, from: FollowFrom): Follower {
  const outcome = log.follow({ stage, from });
  if (!outcome.ok) throw new Error(outcome.code);
  return outcome.follower;
}

/** Blocks of consecutive slots, confirmed. */
export async function appendBlocks(log: ChainLog, from: number, to: number): Promise<void> {
  const slots = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  await Promise.all(slots.map((slot) => log.append(blockOf(headerOf(slot)))));
}
