/**
 * The stream of `/ws`, as data: its channels, what their filters may name, and its bounds. The messages are in
 * `schemas/streams.ts`.
 */

/** What can be subscribed to. */
export const streamChannels = ["transactions", "blocks", "accounts", "slots"] as const;
export type StreamChannel = (typeof streamChannels)[number];

/** The `type` of the messages of a channel. */
export const streamMessageTypes = {
  transactions: "transaction",
  blocks: "block",
  accounts: "account",
  slots: "slot",
} as const satisfies Record<StreamChannel, string>;

/** Members of `filters`, and the channels that know each. */
export const streamFilterChannels = {
  commitment: streamChannels,
  accounts: ["transactions", "accounts"],
  programs: ["transactions", "accounts"],
  failed: ["transactions"],
  votes: ["transactions"],
} as const satisfies Record<string, readonly StreamChannel[]>;
export type StreamFilterName = keyof typeof streamFilterChannels;

/** What holds of a subscription that does not say. */
export const streamDefaults = { commitment: "confirmed", failed: true, votes: false } as const;

/** Bounds that clients of `/ws` can meet. Sizes in bytes, times in milliseconds. */
export const streamBounds = {
  subscriptionsMax: 100,
  /** Addresses of one list of a filter. */
  filterListMax: 1_000,
  messageBytesMax: 128 * 1024,
  /** Messages of a client in a second. */
  messagesPerSecond: 50,
  /** What may be unsent as the messages of the next block come; more closes the connection with 4408. */
  unsentBytesMax: 1024 * 1024,
  refLengthMax: 128,
  cursorLengthMax: 4_096,
  /** Without progress towards the head a replay is ended after this. */
  replayStallMs: 60_000,
  /**
   * The server pings each client so often; two pings without an answer close the connection. With each ping those
   * subscriptions that ask for it are told their cursors, where nothing else was sent since the one before.
   */
  pingEveryMs: 30_000,
} as const;
