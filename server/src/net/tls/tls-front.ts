import type { Socket } from "node:net";
import { createServer, type Server, type TLSSocket } from "node:tls";
import type { Clock, Timer } from "@sluice/lib";
import type { CertificateSource, TlsCertificate } from "../certificate-source.ts";
import { type FrontPlace, joinInner, listenFront } from "../front-connection.ts";
import type { FrontedPeers } from "../fronted-peers.ts";

export interface TlsFrontOptions extends FrontPlace {
  /** Where what listens behind the front listens on loopback. */
  readonly innerPort: number;
  /** Connections at a time; one more is closed. */
  readonly connectionsMax: number;
  readonly handshakeMs?: number;
}

export interface TlsFrontDependencies {
  readonly clock: Pick<Clock, "after">;
  readonly certificate: CertificateSource;
  readonly peers: FrontedPeers;
  /** Of the front that this one is behind, if it is. */
  readonly outerPeers?: FrontedPeers;
}

/** A client that needs longer for its handshake is closed. */
const handshakeMsDefault = 10_000;

/**
 * TLS in front of a listener of this process: what clients send arrives there decrypted, over loopback. The runtime's
 * own listeners keep the certificate that they began with (Bun 1.4.4), and a second one on the same port would reset
 * connections that wait for the first; here a new certificate is used from the next handshake on, and connections that
 * are open stay as they are.
 */
export class TlsFront implements AsyncDisposable {
  readonly port: number;
  readonly #server: Server;
  readonly #sockets: Set<Socket>;

  /** Listens. Throws a ListenError when it cannot. */
  static async open(options: TlsFrontOptions, dependencies: TlsFrontDependencies): Promise<TlsFront> {
    const { certificate } = dependencies;
    const sockets = new Set<Socket>();
    const server = createServer(
      { ...contextOf(certificate.present), minVersion: "TLSv1.2", ALPNProtocols: ["http/1.1"], allowHalfOpen: true },
      (socket) => {
        const { remoteAddress = "", remotePort = 0 } = socket;
        const address = dependencies.outerPeers?.addressOf(remoteAddress, remotePort) ?? remoteAddress;
        joinInner(socket, { address, innerPort: options.innerPort }, dependencies.peers);
      },
    );
    guard(server, sockets, { options, clock: dependencies.clock });
    certificate.onReplaced((replaced) => server.setSecureContext({ ...contextOf(replaced), minVersion: "TLSv1.2" }));
    const port = await listenFront(server, options);
    return new TlsFront({ port, server, sockets });
  }

  private constructor(parts: { readonly port: number; readonly server: Server; readonly sockets: Set<Socket> }) {
    this.port = parts.port;
    this.#server = parts.server;
    this.#sockets = parts.sockets;
  }

  /** Takes no more connections; those that are open go on until what is behind the front ends them. */
  close(): void {
    this.#server.close();
  }

  /** Ends what is left. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}

const contextOf = ({ certificateChain, privateKey }: TlsCertificate) => ({ cert: certificateChain, key: privateKey });

/** Bounds connections, and the time of their handshakes. */
function guard(
  server: Server,
  sockets: Set<Socket>,
  terms: { readonly options: TlsFrontOptions; readonly clock: Pick<Clock, "after"> },
): void {
  const { connectionsMax, handshakeMs = handshakeMsDefault } = terms.options;
  const handshakes = new Map<string, Timer>();
  const keyOf = (socket: Socket): string => `${socket.remoteAddress} ${socket.remotePort}`;
  const settle = (key: string): void => {
    handshakes.get(key)?.cancel();
    handshakes.delete(key);
  };
  server.on("connection", (socket: Socket) => {
    socket.on("error", () => socket.destroy());
    if (sockets.size >= connectionsMax) {
      socket.destroy();
      return;
    }
    const key = keyOf(socket);
    sockets.add(socket);
    handshakes.set(
      key,
      terms.clock.after(handshakeMs, () => socket.destroy()),
    );
    socket.once("close", () => {
      sockets.delete(socket);
      settle(key);
    });
  });
  server.on("secureConnection", (socket: TLSSocket) => settle(keyOf(socket)));
  // A handshake that fails is the client's affair, and ends its connection.
  server.on("tlsClientError", () => {});
}
