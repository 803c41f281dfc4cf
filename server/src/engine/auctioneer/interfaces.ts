import type { Address, Slot } from "@sluice/wire/identifiers";
import type { BundlePool, BundleRecord } from "../model/bundle.ts";
import type { AuctioneerEvents } from "../model/events.ts";
import type { LostBid, Validators } from "../model/service.ts";
import type { Simulator } from "../simulation/index.ts";

/** A slot that winners can be handed over for, and whose it is. */
export interface BuildTarget {
  readonly slot: Slot;
  readonly leader: Address;
  /** Whether the slot is the one that is open, so that what arrives now lands in no earlier one. */
  readonly isOpen: boolean;
}

export interface AuctioneerDependencies {
  readonly pool: Pick<BundlePool, "everyAccepted" | "live" | "forwarded" | "simulated" | "onChange">;
  readonly simulator: Pick<Simulator, "openBlock">;
  readonly validators: Pick<Validators, "deliver">;
  /** The slot to build for now; null while no leader that takes bundles is near. */
  readonly target: () => BuildTarget | null;
  /** Whether a slot is over, as far as anybody can tell: its leader is handed nothing for it any more. */
  readonly isOver: (slot: Slot) => boolean;
  /** The slot up to which every block was looked at for bundles: what was handed over for it has landed or has not. */
  readonly settledThrough: () => Slot | null;
  readonly tipAccounts: readonly Address[];
  /** Opens the sealed bundles whose tick this is. */
  readonly openSealed: (target: BuildTarget) => Promise<void>;
  /** Those of the bundles that can be run now; of the others the chain has not told enough yet. */
  readonly simulatable: (bundles: readonly BundleRecord[]) => Promise<readonly BundleRecord[]>;
  /** Bundles lost a slot that is over now. */
  readonly lost: (bids: readonly LostBid[]) => void;
  readonly nowMs: () => number;
  readonly events: AuctioneerEvents;
}

/** What a tick brings the leader; amounts in lamports. */
export interface TickResult {
  readonly winners: number;
  readonly revenue: bigint;
  /** How much more the best auction may have brought at most. */
  readonly gap: bigint;
}
