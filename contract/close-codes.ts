/** Close codes of every WebSocket of the server: PubSub, the stream of prices, the stream of tips. */
export const closeCodes = {
  goingAway: 1001,
  messageTooLarge: 1009,
  internalError: 1011,
  badKey: 4401,
  /** No credits, or no requests of the month, are left. */
  quotaExceeded: 4402,
  notAllowed: 4403,
  slowConsumer: 4408,
  rateLimited: 4429,
  /** No node, or the service itself, can serve the client now. */
  unavailable: 4503,
} as const;

/** What each of them means to a client. */
export const closeCodeTexts: Readonly<Record<keyof typeof closeCodes, string>> = {
  goingAway: "The server ends. Connect again; another process may have taken over.",
  messageTooLarge: "A message of the client is larger than the endpoint takes.",
  internalError: "An error of the server itself.",
  badKey: "The key is missing, invalid or no longer active.",
  quotaExceeded: "No credits, or no requests of the month, are left.",
  notAllowed: "The key, its restrictions or its tier do not allow this connection.",
  slowConsumer: "The client reads more slowly than it is sent to. Subscribe to less, or read faster.",
  rateLimited: "The client sends too many messages, or the account has too many connections.",
  unavailable: "No node, or the service itself, can serve the client now. Connect again later.",
};
