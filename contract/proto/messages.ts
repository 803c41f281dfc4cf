/**
 * The messages of the .proto files beside this one, as they are when loaded with `protoLoading`. What comes in has
 * every field that has no presence; what goes out may leave out what has a default. 64-bit numbers are decimal text
 * coming in.
 */

/** A 64-bit number going out: text, since a double is not exact. */
export type Uint64Text = string;

/** A bundle submission. `tip` in lamports; with `encrypted_payload` there are no transactions. */
export interface BundleRequestMessage {
  readonly transactions: readonly Uint8Array[];
  readonly tip: Uint64Text;
  readonly mev_type: string;
  readonly target_slot?: Uint64Text;
  readonly encrypted_payload?: Uint8Array;
}

/** The answer to a submission; `reason` is one of `bundleReasons`. */
export interface BundleResponseMessage {
  readonly bundle_id: string;
  readonly status: "accepted" | "rejected";
  readonly reason?: string;
  readonly tip_floor?: Uint64Text;
  readonly logs?: readonly string[];
}

/** A change of a bundle's state. */
export interface BundleConfirmationMessage {
  readonly bundle_id: string;
  readonly status: "accepted" | "included" | "dropped" | "expired";
  readonly slot?: Uint64Text;
  readonly signatures: readonly string[];
  readonly reason?: string;
  readonly logs?: readonly string[];
}

/** The tip floor in lamports, and the share of the block space in use, 0 to 1. */
export interface TipFloorMessage {
  readonly tip_floor: Uint64Text;
  readonly tip_floor_24h_avg: Uint64Text;
  readonly utilization: number;
}

/** The reputation of a searcher: score 0 to 100, rates 0 to 1. */
export interface ReputationMessage {
  readonly score: number;
  readonly tier: string;
  readonly landing_rate: number;
  readonly sim_success: number;
  readonly bundles_submitted: Uint64Text;
  readonly bundles_landed: Uint64Text;
}

/** `google.protobuf.Timestamp`. */
export interface TimestampMessage {
  readonly seconds: Uint64Text;
  readonly nanos: number;
}

/** Who signs in. */
export type RoleName = "RELAYER" | "SEARCHER" | "VALIDATOR" | "SHREDSTREAM_SUBSCRIBER";

/** Asks for a challenge; `pubkey` has 32 bytes. */
export interface AuthChallengeRequestMessage {
  readonly role: RoleName;
  readonly pubkey: Uint8Array;
}

/** Answers a challenge with its Ed25519 signature (64 bytes). */
export interface AuthTokensRequestMessage {
  readonly challenge: string;
  readonly client_pubkey: Uint8Array;
  readonly signed_challenge: Uint8Array;
}

/** A token and its expiry. */
export interface TokenMessage {
  readonly value: string;
  readonly expires_at_utc: TimestampMessage | null;
}

/** The two tokens of a session. */
export interface AuthTokensMessage {
  readonly access_token: TokenMessage | null;
  readonly refresh_token: TokenMessage | null;
}

/** Flags of a packet, as validators forward them. */
export interface PacketFlagsMessage {
  readonly discard: boolean;
  readonly forwarded: boolean;
  readonly repair: boolean;
  readonly simple_vote_tx: boolean;
  readonly tracer_packet: boolean;
  readonly from_staked_node: boolean;
}

/** One serialized transaction and where it came from. */
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

/** Transactions that a leader executes together or not at all. */
export interface BundleMessage {
  readonly header?: { readonly ts: TimestampMessage | null } | null;
  readonly packets: readonly PacketMessage[];
}

/** A bundle and its id. */
export interface BundleUuidMessage {
  readonly bundle: BundleMessage | null;
  readonly uuid: string;
}

/** Bundles for a leader. */
export interface SubscribeBundlesMessage {
  readonly bundles: readonly BundleUuidMessage[];
}

/** Single transactions for a leader. */
export interface SubscribePacketsMessage {
  readonly header?: { readonly ts: TimestampMessage | null } | null;
  readonly batch: { readonly packets: readonly PacketMessage[] } | null;
}

/** Who receives the block builder's share, in percent. */
export interface BlockBuilderFeeInfoMessage {
  readonly pubkey: string;
  readonly commission: Uint64Text;
}

/** The address of one block engine. */
export interface BlockEngineEndpointMessage {
  readonly block_engine_url: string;
  readonly shredstream_receiver_address: string;
}

/** The addresses of all block engines. */
export interface BlockEngineEndpointsMessage {
  readonly global_endpoint: BlockEngineEndpointMessage | null;
  readonly regioned_endpoints: readonly BlockEngineEndpointMessage[];
}

/** What became of a bundle. Exactly one member beside `bundle_id` is there. */
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

/** Why a bundle was rejected. Exactly one member is there. */
export type RejectedMessage =
  | { readonly state_auction_bid_rejected: BidRejectedMessage }
  | { readonly winning_batch_bid_rejected: BidRejectedMessage }
  | { readonly simulation_failure: { readonly tx_signature: string; readonly msg?: string } }
  | { readonly internal_error: { readonly msg: string } }
  | { readonly dropped_bundle: { readonly msg: string } };
