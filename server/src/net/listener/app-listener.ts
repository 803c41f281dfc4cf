import type { Clock } from "@sluice/lib";
import { docsRedirect, isUpgrade, pathOf, problemResponse, targetOf } from "../../http/index.ts";
import type { NetEvents } from "../events.ts";
import type { AppMount } from "../http1/server/web.ts";
import type { SocketMount, SocketSession } from "../websocket/session.ts";
import { Listener, type RuntimeServer, runtimeBodyBytesMax } from "./listener.ts";

export interface AppListenerDependencies {
  readonly clock: Pick<Clock, "after" | "every">;
  readonly fetch: AppMount["fetch"];
  /** WebSocket endpoints of the port; the application answers an upgrade of any other path. */
  readonly sockets: readonly SocketMount[];
  readonly requestId: () => string;
  readonly events: NetEvents;
}

export interface AppListenerOptions {
  readonly hostname: string;
  readonly port: number;
  /** Where the gateway of this process listens: it has the page of codes. */
  readonly gatewayPort?: number;
}

/** A port of one application that also takes WebSockets. Listens at once; throws when it cannot. */
export class AppListener implements AsyncDisposable {
  readonly #dependencies: AppListenerDependencies;
  readonly #gatewayPort: number | null;
  readonly #listener: Listener;
  #draining = false;

  constructor({ hostname, port, gatewayPort }: AppListenerOptions, dependencies: AppListenerDependencies) {
    this.#dependencies = dependencies;
    this.#gatewayPort = gatewayPort ?? null;
    this.#listener = new Listener(
      { hostname, port, bodyBytesMax: runtimeBodyBytesMax },
      { ...dependencies, answer: (request, server) => this.#answer(request, server) },
    );
  }

  get port(): number {
    return this.#listener.port;
  }

  /** What happens to every socket each 30 seconds; tests do not wait for it. */
  tick(): void {
    this.#listener.tick();
  }

  #answer(
    request: Request,
    server: RuntimeServer,
  ): ReturnType<AppMount["fetch"]> | undefined | Promise<Response | undefined> {
    const requestId = this.#dependencies.requestId();
    if (request.method === "GET" && isUpgrade(request.headers)) {
      const path = pathOf(targetOf(request.url));
      const mount = this.#dependencies.sockets.find((candidate) => candidate.serves(path));
      if (mount !== undefined) return this.#begin(request, server, { mount, requestId });
    }
    const page = this.#gatewayPort === null ? null : docsRedirect(request, this.#gatewayPort);
    if (page !== null) return page;
    return this.#dependencies.fetch(request, {
      requestId,
      socketAddress: server.requestIP(request)?.address ?? "",
    });
  }

  #begin(
    request: Request,
    server: RuntimeServer,
    { mount, requestId }: { readonly mount: SocketMount; readonly requestId: string },
  ): Response | undefined | Promise<Response | undefined> {
    if (this.#draining) return problemResponse("OVERLOADED", { requestId });
    const session = mount.begin(request, server);
    const upgrade = (ready: SocketSession): Response | undefined => {
      const headers = { "X-Request-Id": ready.requestId };
      if (server.upgrade(request, { data: { session: ready }, headers })) return undefined;
      ready.closed(1006);
      return problemResponse("INVALID_REQUEST", { requestId: ready.requestId });
    };
    return session instanceof Promise ? session.then(upgrade) : upgrade(session);
  }

  /** Takes no more connections, closes sockets with 1001, and ends what is left after `deadlineMs`. */
  async stop(deadlineMs: number): Promise<void> {
    this.#draining = true;
    await this.#listener.stop(deadlineMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop(1_000);
  }
}
