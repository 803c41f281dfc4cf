/**
 * The messages of the .proto files beside this one, as they are when loaded with `protoLoading`. What comes in has every
 * field that has no presence; what goes out may leave out what has a default. 64-bit numbers are decimal text coming in.
 */

/** A 64-bit number going out: text, since a double is not exact. */
export type Uint64Text = string;

export interface BundleRequestMessage {
  readonly transactions: readonly Uint8Array[];
  readonly tip: Uint64Text;
  readonly mev_type: string;
  readonly target_slot?: Uint64Text;
  readonly encrypted_payload?: Uint8Array;
}

export interface BundleResponseMessage {
  readonly bundle_id: string;
  readonly status: "accepted" | "rejected";
  readonly reason?: string;
  readonly tip_floor?: Uint64Text;
}

export interface BundleConfirmationMessage {
  readonly bundle_id: string;
  readonly status: "accepted" | "included" | "dropped" | "expired";
  readonly slot?: Uint64Text;
  readonly signatures: readonly string[];
  readonly reason?: string;
}

export interface TipFloorMessage {
  readonly tip_floor: Uint64Text;
  readonly tip_floor_24h_avg: Uint64Text;
  readonly utilization: number;
}

export interface ReputationMessage {
  readonly score: number;
  readonly tier: string;
  readonly landing_rate: number;
  readonly sim_success: number;
  readonly bundles_submitted: Uint64Text;
  readonly bundles_landed: Uint64Text;
}

export interface TimestampMessage {
  readonly seconds: Uint64Text;
  readonly nanos: number;
}

export type RoleName = "RELAYER" | "SEARCHER" | "VALIDATOR" | "SHREDSTREAM_SUBSCRIBER";

export interface AuthChallengeRequestMessage {
  readonly role: RoleName;
  readonly pubkey: Uint8Array;
}

export interface AuthTokensRequestMessage {
  readonly challenge: string;
  readonly client_pubkey: Uint8Array;
  readonly signed_challenge: Uint8Array;
}

export interface TokenMessage {
  readonly value: string;
  readonly expires_at_utc: TimestampMessage | null;
}

export interface AuthTokensMessage {
  readonly access_token: TokenMessage | null;
  readonly refresh_token: TokenMessage | null;
}

export interface PacketFlagsMessage {
  readonly discard: boolean;
  readonly forwarded: boolean;
  readonly repair: boolean;
  readonly simple_vote_tx: boolean;
  readonly tracer_packet: boolean;
  readonly from_staked_node: boolean;
}

export interface PacketMessage {
  readonly data: Uint8Array;
  readonly meta?: {
    readonly size: Uint64Text;
    readonly addr: string;
    readonly port: number;
    readonly flags?: PacketFlagsMessage | null;
    readonly sender_stake: Uint64Text;
  } | null;
}

export interface BundleMessage {
  readonly header?: { readonly ts: TimestampMessage | null } | null;
  readonly packets: readonly PacketMessage[];
}

export interface BundleUuidMessage {
  readonly bundle: BundleMessage | null;
  readonly uuid: string;
}

export interface SubscribeBundlesMessage {
  readonly bundles: readonly BundleUuidMessage[];
}

export interface SubscribePacketsMessage {
  readonly header?: { readonly ts: TimestampMessage | null } | null;
  readonly batch: { readonly packets: readonly PacketMessage[] } | null;
}

export interface BlockBuilderFeeInfoMessage {
  readonly pubkey: string;
  readonly commission: Uint64Text;
}

export interface BlockEngineEndpointMessage {
  readonly block_engine_url: string;
  readonly shredstream_receiver_address: string;
}

export interface BlockEngineEndpointsMessage {
  readonly global_endpoint: BlockEngineEndpointMessage | null;
  readonly regioned_endpoints: readonly BlockEngineEndpointMessage[];
}

/** Exactly one of the members beside `bundle_id` is there. */
export type BundleResultMessage = { readonly bundle_id: string } & (
  | { readonly accepted: { readonly slot: Uint64Text; readonly validator_identity: string } }
  | { readonly rejected: RejectedMessage }
  | { readonly finalized: Record<string, never> }
  | {
      readonly processed: {
        readonly validator_identity: string;
        readonly slot: Uint64Text;
        readonly bundle_index: Uint64Text;
      };
    }
  | { readonly dropped: { readonly reason: "BlockhashExpired" | "PartiallyProcessed" | "NotFinalized" } }
);

interface BidRejectedMessage {
  readonly auction_id: string;
  readonly simulated_bid_lamports: Uint64Text;
  readonly msg?: string;
}

/** Exactly one member is there. */
export type RejectedMessage =
  | { readonly state_auction_bid_rejected: BidRejectedMessage }
  | { readonly winning_batch_bid_rejected: BidRejectedMessage }
  | { readonly simulation_failure: { readonly tx_signature: string; readonly msg?: string } }
  | { readonly internal_error: { readonly msg: string } }
  | { readonly dropped_bundle: { readonly msg: string } };
