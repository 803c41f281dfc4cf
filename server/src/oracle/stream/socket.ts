/** A connected WebSocket as a session sees it; door's sockets have this shape. */
export interface StreamSocket {
  send(data: string): number;
  close(code?: number, reason?: string): void;
  terminate(): void;
  ping(): number;
  getBufferedAmount(): number;
  /** Runs the work and sends what it sent in one piece. */
  cork?(work: () => void): unknown;
}

/** Close codes, as at every door of the server. */
export const closeCodes = {
  goingAway: 1001,
  messageTooLarge: 1009,
  badKey: 4401,
  outOfRequests: 4402,
  notAllowed: 4403,
  rateLimited: 4429,
  unavailable: 4503,
} as const;
