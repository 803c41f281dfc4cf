import { ManualClock, systemClock } from "@sluice/lib";
import { HttpServer } from "../../http1/server/server.ts";
import { WebSocketServer } from "../server.ts";
import { ClientSession } from "../session.ts";

/** Sends back what it gets. */
class EchoSession extends ClientSession {
  constructor() {
    super("req_1", null);
  }
  override received(data: string | Uint8Array): void {
    this.send(data);
  }
  protected onOpened(): void {}
  protected onClosed(): void {}
}

/** A server of WebSockets on a port, which sends each message back. */
export class EchoServer implements AsyncDisposable {
  /** Errors of the server. */
  readonly errors: unknown[] = [];
  readonly #webSockets: WebSocketServer;
  readonly #server: HttpServer;

  constructor() {
    const events = { internalError: (_where: string, error: unknown) => void this.errors.push(error) };
    // No client is pinged: what it gets is all an answer to what it sent.
    this.#webSockets = new WebSocketServer({ clock: new ManualClock(), events });
    const refused = { status: 400, fields: "", body: "" };
    this.#server = new HttpServer(
      { hostname: "127.0.0.1", port: 0 },
      {
        clock: systemClock,
        events,
        refusal: () => refused,
        answer: (request) => this.#webSockets.upgrade(request, new EchoSession()) ?? refused,
      },
    );
  }

  get port(): number {
    return this.#server.port;
  }

  /** Connections that have not ended, and WebSockets among them. */
  get open(): readonly [connections: number, webSockets: number] {
    return [this.#server.connections, this.#webSockets.size];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(0);
    this.#webSockets[Symbol.dispose]();
  }
}
