import { createHash } from "node:crypto";
import type { StreamFilters } from "@sluice/contract/schemas";
import {
  type StreamChannel,
  type StreamFilterName,
  streamDefaults,
  streamFilterChannels,
} from "@sluice/contract/streams";
import type { Network } from "@sluice/contract/tiers";
import { parseAddress } from "@sluice/wire/identifiers";
import type { Stage } from "../../log/index.ts";

/** What a subscription is for, in the one form that all equal ones have. */
export interface StreamSpec {
  readonly channel: StreamChannel;
  readonly network: Network;
  readonly commitment: Stage;
  /** In order, each once; null is no condition. */
  readonly accounts: readonly string[] | null;
  readonly programs: readonly string[] | null;
  /** Whether transactions that failed are told too, and votes. */
  readonly failed: boolean;
  readonly votes: boolean;
}

export type SpecOutcome =
  | { readonly ok: true; readonly spec: StreamSpec }
  | { readonly ok: false; readonly code: "INVALID_INPUT" | "COMMITMENT_UNAVAILABLE"; readonly message: string };

const invalid = (message: string): SpecOutcome => ({ ok: false, code: "INVALID_INPUT", message });

/** The subscription that filters ask for, or the member that is wrong. */
export function specOf(
  { channel, network }: Pick<StreamSpec, "channel" | "network">,
  stated: StreamFilters,
): SpecOutcome {
  for (const [name, channels] of Object.entries(streamFilterChannels)) {
    const isKnown = (channels as readonly StreamChannel[]).includes(channel);
    if (!isKnown && stated[name as StreamFilterName] !== undefined) {
      return invalid(`filters.${name}: is no filter of the channel ${channel}`);
    }
  }
  const commitment = stated.commitment ?? streamDefaults.commitment;
  if (commitment === "processed" && channel !== "slots") {
    const message = `The channel ${channel} is told at confirmed and finalized; processed is told on slots alone`;
    return { ok: false, code: "COMMITMENT_UNAVAILABLE", message };
  }
  for (const name of ["accounts", "programs"] as const) {
    const wrong = stated[name]?.findIndex((address) => parseAddress(address) === null) ?? -1;
    if (wrong >= 0) return invalid(`filters.${name}.${wrong}: must be an address: 32 bytes in base58`);
  }
  if (channel === "accounts" && stated.programs !== undefined && stated.accounts === undefined) {
    return invalid("filters.programs: needs filters.accounts, since no source of account data tells every owner");
  }
  return {
    ok: true,
    spec: {
      channel,
      network,
      commitment,
      accounts: inOrder(stated.accounts),
      programs: inOrder(stated.programs),
      failed: stated.failed ?? streamDefaults.failed,
      votes: stated.votes ?? streamDefaults.votes,
    },
  };
}

const inOrder = (list: readonly string[] | undefined): readonly string[] | null =>
  list === undefined ? null : [...new Set(list)].sort();

/** 96 bits: no two filters have one id by chance. */
const idCharacters = 16;

/** The id that equal subscriptions of all clients share, so that the bytes of their messages are equal. */
export function streamIdOf({ channel, network, commitment, accounts, programs, failed, votes }: StreamSpec): string {
  const canonical = JSON.stringify([channel, network, commitment, accounts, programs, failed, votes]);
  return `${channel}-${createHash("sha256").update(canonical).digest("base64url").slice(0, idCharacters)}`;
}
