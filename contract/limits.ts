/** Bounds that clients can meet; all of them, in one place. Sizes in bytes, times in milliseconds. */
export const limits = {
  rpcBodyBytes: 256 * 1024,
  rpcBatchItems: 100,
  /** A call as it goes to a node; what an Agave node takes unless the operator says otherwise. */
  nodeBodyBytes: 50 * 1024,
  restBodyBytes: 256 * 1024,
  gatewayTimeoutMs: 30_000,
  pubsubMessageBytes: 4 * 1024,
  webSocketMessageBytes: 128 * 1024,
  pageDefault: 50,
  pageMax: 1_000,
} as const;
