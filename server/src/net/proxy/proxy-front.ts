import { createServer, type Server, type Socket } from "node:net";
import type { AddressSet, Clock } from "@sluice/lib";
import type { ProxyEvents, ProxyFault } from "../events.ts";
import { type FrontPlace, joinInner, listenFront } from "../front-connection.ts";
import type { FrontedPeers } from "../fronted-peers.ts";
import { readProxyHeader } from "./proxy-header.ts";

export interface ProxyFrontOptions extends FrontPlace {
  /** Where what listens behind the front listens on loopback. */
  readonly innerPort: number;
  /** Connections at a time; one more is closed. */
  readonly connectionsMax: number;
  /** For the whole header. */
  readonly headerMs?: number;
}

export interface ProxyFrontDependencies {
  readonly clock: Pick<Clock, "after">;
  /** Who must send a header; the bytes of anybody else go on as they are. */
  readonly trusted: AddressSet;
  readonly peers: FrontedPeers;
  readonly events: ProxyEvents;
}

/** The specification asks for at least 3 seconds, which is a retransmission (section 2). */
const headerMsDefault = 5_000;

/**
 * Reads the PROXY protocol in front of a listener of this process, which then knows its client by the address of the
 * header. It stands before TLS, since the header comes before the first byte of it.
 */
export class ProxyFront implements AsyncDisposable {
  readonly port: number;
  readonly #server: Server;
  readonly #sockets: Set<Socket>;

  /** Listens. Throws a ListenError when it cannot. */
  static async open(options: ProxyFrontOptions, dependencies: ProxyFrontDependencies): Promise<ProxyFront> {
    const sockets = new Set<Socket>();
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
      client.on("error", () => client.destroy());
      if (sockets.size >= options.connectionsMax) {
        client.destroy();
        return;
      }
      sockets.add(client);
      client.once("close", () => sockets.delete(client));
      accept(client, options, dependencies);
    });
    const port = await listenFront(server, options);
    return new ProxyFront({ port, server, sockets });
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

function accept(
  client: Socket,
  { innerPort, headerMs = headerMsDefault }: ProxyFrontOptions,
  { clock, trusted, peers, events }: ProxyFrontDependencies,
): void {
  const proxy = client.remoteAddress ?? "";
  if (!trusted.contains(proxy)) {
    joinInner(client, { address: proxy, innerPort }, peers);
    return;
  }
  let received: Buffer = Buffer.alloc(0);
  const refuse = (fault: ProxyFault): void => {
    settle();
    events.proxyHeaderRefused(fault);
    client.destroy();
  };
  const cut = (): void => refuse("cut");
  const take = (bytes: Buffer): void => {
    received = received.length === 0 ? bytes : Buffer.concat([received, bytes]);
    const header = readProxyHeader(received);
    if (header.kind === "incomplete") return;
    if (header.kind === "fault") {
      refuse(header.fault);
      return;
    }
    settle();
    client.pause();
    const unread = received.subarray(header.bytes);
    joinInner(client, { address: header.address ?? proxy, innerPort, unread }, peers);
  };
  const timer = clock.after(headerMs, () => refuse("late"));
  const settle = (): void => {
    timer.cancel();
    client.off("data", take);
    client.off("end", cut);
    client.off("close", cut);
  };
  client.on("data", take);
  client.on("end", cut);
  client.on("close", cut);
}
