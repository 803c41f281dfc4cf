import type { Address } from "@sluice/wire/identifiers";

/** What this folder needs of others; compose hands them in. */
export interface ScheduledLeaders {
  /** Whether the identity leads a slot of this epoch or the next. */
  isScheduled(identity: Address): boolean;
}

/** What happens to validators; compose wires it to logs and metrics. */
export interface ValidatorEvents {
  validatorConnected(identity: Address): void;
  /** A validator takes single transactions, too. */
  packetsSubscribed(identity: Address): void;
  /** `left` by itself, `replaced` by a newer stream of its own, `unscheduled`, or `closed` by the server's end. */
  validatorGone(identity: Address, why: "left" | "replaced" | "unscheduled" | "closed"): void;
  bundlesDelivered(identity: Address, bundles: number): void;
  /** Bundles that were not handed over since the validator does not read those before them. */
  deliveryRefused(identity: Address, bundles: number): void;
}

export interface ValidatorOptions {
  /** What validators are told to connect to: the address under which they reach this server. */
  readonly endpoint: {
    readonly blockEngineUrl: string;
    /** Host and port. */
    readonly shredstreamReceiver: string;
  };
  /** Who is paid the builder's share of tips, and its percentage, 0 to 100. */
  readonly fee: { readonly pubkey: Address; readonly commission: number };
  /** Identities to which an operator narrows the schedule; null is all of it. */
  readonly allowed: ReadonlySet<Address> | null;
}
