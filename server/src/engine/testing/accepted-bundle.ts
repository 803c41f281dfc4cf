import type { Slot } from "@sluice/wire/identifiers";
import type { BundleRecord } from "../model/bundle.ts";

/** A bundle that was accepted at time 0 and has not changed since, without content; a test sets what it is about. */
export function acceptedBundle(parts: Partial<BundleRecord> = {}): BundleRecord {
  return {
    id: "00",
    searcherId: "searcher",
    ingress: "grpc",
    transactions: [],
    signatures: [],
    tip: 1_000n,
    mevType: "unknown",
    targetSlot: null,
    sealed: null,
    receivedAt: 0,
    acceptedSlot: 0n as Slot,
    lastValidBlockHeight: null,
    expiresAt: 300_000,
    state: "accepted",
    reason: null,
    detail: null,
    landed: null,
    forwarded: null,
    tipSeen: null,
    computeUnits: null,
    changedAt: 0,
    followers: [],
    chain: null,
    ...parts,
  };
}
