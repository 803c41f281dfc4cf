/** A connected WebSocket as a session sees it; Bun's server socket has this shape. */
export interface DoorSocket {
  send(data: string | Uint8Array): number;
  close(code?: number, reason?: string): void;
  /** Ends the connection without the closing exchange, for peers that no longer read. */
  terminate(): void;
  ping(): number;
  getBufferedAmount(): number;
  /** Runs the work and sends what it sent in one piece. */
  cork?(work: () => void): unknown;
}

/** One client's life on a WebSocket, from the upgrade on. */
export interface SocketSession {
  /** Sent with the upgrade's answer. */
  readonly requestId: string;
  opened(socket: DoorSocket): void;
  received(data: string | Uint8Array): void;
  ponged(): void;
  /** What was sent has gone out after the socket had been full; for sessions that hold something back meanwhile. */
  writable?(): void;
  closed(code: number): void;
  /** Every 30 seconds: ping, and look whether the client may still be here. */
  tick(): void;
  /** The server is going away: close with 1001. */
  drain(): void;
}

/** Who knows where an upgrade came from; Bun's server has this shape. */
export interface SocketPeer {
  requestIP(request: Request): { readonly address: string } | null;
}

/** What serves the WebSocket upgrades of some paths. */
export interface SocketMount {
  serves(path: string): boolean;
  /** Always gives a session: a client that is refused is told so on the socket and closed with a code. */
  begin(request: Request, peer: SocketPeer): SocketSession | Promise<SocketSession>;
}

/** Close codes of all our sockets (decisions: Platform). */
export const closeCodes = {
  goingAway: 1001,
  messageTooLarge: 1009,
  badKey: 4401,
  outOfCredits: 4402,
  notAllowed: 4403,
  slowConsumer: 4408,
  rateLimited: 4429,
  nodeLost: 4503,
} as const;
