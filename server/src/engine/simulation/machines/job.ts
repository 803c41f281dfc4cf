import type { PreparedBundle } from "../resolve/prepared-bundle.ts";

/** What a machine said of a bundle, or why none did. */
export type MachineAnswer =
  | { readonly kind: "succeeded"; readonly tip: bigint; readonly units: number; readonly slot: bigint }
  | { readonly kind: "failed"; readonly index: number; readonly error: string; readonly logs: readonly string[] }
  | { readonly kind: "wrong_nonce"; readonly index: number }
  /** A lookup table has changed since the bundle's keys were found. */
  | { readonly kind: "outdated" }
  | { readonly kind: "unavailable"; readonly cause: "machine_ended" | "too_late" | "session_over" | "closed" };

/** One machine's process, as the dispatcher sees it. */
export interface Machine {
  readonly isUp: boolean;
  /** Its process; null between two lives. */
  readonly pid: number | null;
  /** Frames that it has not answered, and bundles in them. */
  readonly frames: number;
  readonly bundles: number;
  /** Whether it runs one that may end it. */
  readonly hasSuspect: boolean;
  /** Runs bundles in order as one frame. */
  run(jobs: readonly Job[]): void;
  closeBlock(number: number): void;
  /** Whether its oldest frame has waited for longer than this. */
  isHanging(waitMsMax: number): boolean;
  kill(): void;
}

/** A block that is being built at one machine. */
export interface Block {
  /** What the machine knows it by, never 0. */
  readonly number: number;
  /** What was kept in it, in order: a machine that begins anew runs it again. */
  readonly kept: PreparedBundle[];
  /** Whether it is closed, or could not be built again. */
  isOver: boolean;
}

/** A bundle on its way through a machine. */
export interface Job {
  readonly bundle: PreparedBundle;
  /** Null for one that runs on the newest state alone. */
  readonly block: Block | null;
  readonly keep: boolean;
  readonly verify: boolean;
  /** Whether it builds a block again. */
  readonly isReplay: boolean;
  /** Monotonic milliseconds. */
  readonly since: number;
  /** Whether a machine ended while it had this bundle and others: it runs alone, so that one that ends machines is known. */
  isSuspect: boolean;
  /** Times that a machine ended while it had this bundle alone. */
  deaths: number;
  readonly settle: (answer: MachineAnswer) => void;
}
