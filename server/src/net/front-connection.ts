import { connect, type Server, type Socket } from "node:net";
import { type FrontedPeers, frontHost } from "./fronted-peers.ts";
import { ListenError } from "./listener/listen-error.ts";

interface FrontConnection {
  readonly address: string;
  /** Where what listens behind the front listens on loopback. */
  readonly innerPort: number;
  /** What the client sent and the front has read already, but does not keep. */
  readonly unread?: Buffer;
  /** How many connections to the listener this one makes it. */
  readonly claims?: number;
}

/** Connections to the listener that are tried until one has a port that no other client's connection has. */
const claimsMax = 16;

/** Joins a client with what listens behind a front; each side's end ends the other. */
export function joinInner(client: Socket, terms: FrontConnection, peers: FrontedPeers): void {
  const { claims = 1 } = terms;
  const inner = connect({ host: frontHost, port: terms.innerPort, allowHalfOpen: true, noDelay: true });
  const end = (): void => {
    client.destroy();
    inner.destroy();
  };
  client.once("error", end);
  inner.once("error", end);
  client.once("close", end);
  inner.once("close", end);
  inner.once("connect", () => {
    const port = inner.localPort ?? 0;
    // Before the first byte goes over, so that whoever reads it knows whose it is.
    if (!peers.claim(port, terms.address)) {
      for (const event of ["error", "close"]) client.off(event, end);
      inner.off("close", end);
      if (claims < claimsMax) joinInner(client, { ...terms, claims: claims + 1 }, peers);
      else client.destroy();
      // Closed after the next one has its port, so that it does not get the same.
      setImmediate(() => inner.destroy());
      return;
    }
    inner.once("close", () => peers.release(port));
    client.setNoDelay(true);
    if (terms.unread !== undefined && terms.unread.length > 0) inner.write(terms.unread);
    client.pipe(inner);
    inner.pipe(client);
  });
}

/** Where a front listens. */
export interface FrontPlace {
  /** Named in the ListenError when the port cannot be had. */
  readonly endpoint: string;
  readonly hostname: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Whether other processes of this user may listen on the port as well. */
  readonly sharesPort?: boolean;
}

/** Listens for a front. Rejects with a ListenError. */
export function listenFront(
  server: Server,
  { endpoint, hostname, port, sharesPort = false }: FrontPlace,
): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => reject(new ListenError(endpoint, port, error)));
    server.listen({ port, host: hostname, exclusive: true, reusePort: sharesPort }, () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}
