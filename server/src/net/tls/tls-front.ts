import { connect, type Server as NetServer, type Socket } from "node:net";
import { createServer, type Server, type TLSSocket } from "node:tls";
import type { Clock, Timer } from "@sluice/lib";
import type { CertificateSource, TlsCertificate } from "../certificate-source.ts";
import { type FrontedPeers, frontHost } from "../fronted-peers.ts";
import { ListenError } from "../listener/listen-error.ts";

export interface TlsFrontOptions {
  /** Named in the ListenError when the port cannot be had. */
  readonly endpoint: string;
  readonly hostname: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Whether other processes of this user may listen on the port as well. */
  readonly sharesPort?: boolean;
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
      (socket) => forward(socket, options, dependencies.peers),
    );
    guard(server, sockets, { options, clock: dependencies.clock });
    certificate.onReplaced((replaced) => server.setSecureContext({ ...contextOf(replaced), minVersion: "TLSv1.2" }));
    const port = await listen(server, options);
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

function listen(server: NetServer, { endpoint, hostname, port, sharesPort = false }: TlsFrontOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => reject(new ListenError(endpoint, port, error)));
    server.listen({ port, host: hostname, exclusive: true, reusePort: sharesPort }, () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}

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

/** Joins a client with what listens behind the front; each side's end ends the other. */
function forward(client: TLSSocket, { innerPort }: TlsFrontOptions, peers: FrontedPeers): void {
  const address = client.remoteAddress ?? "";
  const inner = connect({ host: frontHost, port: innerPort, allowHalfOpen: true, noDelay: true });
  client.setNoDelay(true);
  const end = (): void => {
    client.destroy();
    inner.destroy();
  };
  client.once("error", end);
  inner.once("error", end);
  client.once("close", end);
  inner.once("close", end);
  inner.once("connect", () => {
    // Before the first byte goes over, so that whoever reads it knows whose it is.
    peers.add(inner.localPort ?? 0, address);
    client.pipe(inner);
    inner.pipe(client);
  });
}
