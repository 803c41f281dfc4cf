import type { SocketMount, SocketPeer, SocketSession } from "../net/index.ts";
import type { StreamMount } from "../streams/index.ts";
import { type ConsoleSessionDependencies, ConsoleSessions } from "./console-session.ts";

interface ConsoleStreamDependencies extends ConsoleSessionDependencies {
  readonly streams: Pick<StreamMount, "begin">;
}

/** `/ws` for the console's pages, which have a session in the place of a key. */
export class ConsoleStream implements SocketMount {
  readonly #sessions: ConsoleSessions;
  readonly #streams: ConsoleStreamDependencies["streams"];

  constructor(options: { readonly publicUrl: string | null }, dependencies: ConsoleStreamDependencies) {
    this.#sessions = new ConsoleSessions(options, dependencies);
    this.#streams = dependencies.streams;
  }

  serves(path: string): boolean {
    return path === "/api/v1/console/ws";
  }

  begin(request: Request, peer: SocketPeer): SocketSession | Promise<SocketSession> {
    const caller = { request, socketAddress: peer.requestIP(request)?.address ?? "" };
    return this.#streams.begin(request, peer, () => this.#sessions.identify(caller));
  }
}
