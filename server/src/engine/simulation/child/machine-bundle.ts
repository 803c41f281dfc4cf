import type { FAILED, SUCCEEDED, WRONG_NONCE } from "../protocol/messages.ts";

export interface MachineTransaction {
  readonly bytes: Uint8Array;
  readonly isLegacy: boolean;
  /** Handle of the nonce account whose value it carries at `lifetimeStart`; -1 with a blockhash. */
  readonly nonce: number;
  readonly lifetimeStart: number;
}

export interface MachineBundle {
  readonly block: number;
  readonly verify: boolean;
  readonly deploys: boolean;
  readonly keep: boolean;
  /** Positions of the tip accounts whose gain counts. */
  readonly tipMask: number;
  /** Handles of what it locks. */
  readonly writes: readonly number[];
  readonly reads: readonly number[];
  readonly transactions: readonly MachineTransaction[];
}

export type MachineOutcome =
  | { readonly kind: typeof SUCCEEDED; readonly tip: bigint; readonly units: bigint }
  | { readonly kind: typeof FAILED; readonly index: number; readonly error: string; readonly logs: readonly string[] }
  | { readonly kind: typeof WRONG_NONCE; readonly index: number };
