import type { ClientSocket } from "../../server/src/net/http1/server/response-writer.ts";

export interface TunnelOptions {
  /** On this machine. */
  readonly port: number;
  /** Bytes that are sent first. */
  readonly beginning: Uint8Array;
}

interface TunnelDependencies {
  readonly socket: ClientSocket;
  /** The tunnel is over. */
  readonly ended: () => void;
}

/** Bytes that a client may send before the other end has taken the connection, and before it is asked to wait. */
const earlyBytesMax = 256 * 1024;

/**
 * Passes a client's bytes on to a server of this process and its bytes back, for protocols that the runtime speaks and
 * we do not. Neither side is read while the other does not take what was read, so a tunnel holds one read of each at
 * most.
 */
export class Tunnel {
  readonly #dependencies: TunnelDependencies;
  #far: Bun.Socket<Tunnel> | null = null;
  #toFar: Uint8Array | null;
  #toClient: Uint8Array | null = null;
  #isFarDone = false;
  #isOver = false;

  constructor(options: TunnelOptions, dependencies: TunnelDependencies) {
    this.#dependencies = dependencies;
    this.#toFar = options.beginning;
    const opening = Bun.connect<Tunnel>({ hostname: "127.0.0.1", port: options.port, data: this, socket: handlers });
    opening.catch(() => this.farGone());
  }

  fromClient(bytes: Uint8Array): void {
    if (this.#isOver) return;
    if (this.#toFar !== null) {
      this.#toFar = Buffer.concat([this.#toFar, bytes]);
      if (this.#toFar.length > earlyBytesMax) this.#dependencies.socket.pause();
      return;
    }
    this.#toFar = this.#unwritten(this.#far, bytes);
    if (this.#toFar !== null) this.#dependencies.socket.pause();
  }

  clientDrained(): void {
    if (this.#toClient === null) return;
    this.#toClient = this.#unwritten(this.#dependencies.socket, this.#toClient);
    if (this.#toClient !== null) return;
    if (this.#isFarDone) this.#finish();
    else this.#far?.resume();
  }

  clientGone(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#far?.end();
  }

  farOpened(far: Bun.Socket<Tunnel>): void {
    if (this.#isOver) {
      far.terminate();
      return;
    }
    this.#far = far;
    this.farDrained();
  }

  fromFar(bytes: Uint8Array): void {
    if (this.#isOver) return;
    if (this.#toClient !== null) {
      this.#toClient = Buffer.concat([this.#toClient, bytes]);
      return;
    }
    this.#toClient = this.#unwritten(this.#dependencies.socket, bytes);
    if (this.#toClient !== null) this.#far?.pause();
  }

  farDrained(): void {
    if (this.#toFar === null) return;
    this.#toFar = this.#unwritten(this.#far, this.#toFar);
    if (this.#toFar === null) this.#dependencies.socket.resume();
  }

  /** The client still gets what was sent to it. */
  farGone(): void {
    this.#isFarDone = true;
    this.#far = null;
    if (!this.#isOver && this.#toClient === null) this.#finish();
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#far?.end();
    this.#dependencies.socket.end();
    this.#dependencies.ended();
  }

  #unwritten(socket: { write(bytes: Uint8Array): number } | null, bytes: Uint8Array): Uint8Array | null {
    const written = Math.max(0, socket?.write(bytes) ?? 0);
    return written >= bytes.length ? null : bytes.subarray(written);
  }
}

const handlers: Bun.SocketHandler<Tunnel> = {
  open: (far) => far.data.farOpened(far),
  data: (far, bytes) => far.data.fromFar(bytes),
  drain: (far) => far.data.farDrained(),
  close: (far) => far.data.farGone(),
  error: (far) => far.data.farGone(),
  connectError: (far) => far.data.farGone(),
};
