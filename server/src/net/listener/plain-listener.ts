import { chmodSync, rmSync } from "node:fs";
import { type Clock, within } from "@sluice/lib";
import type { NetEvents } from "../events.ts";
import { withHost } from "./with-host.ts";

export type ListenAddress =
  | { readonly hostname: string; readonly port: number }
  /** A Unix socket that only its owner may open; a file that a killed server left there is replaced. */
  | { readonly unixPath: string };

export interface PlainListenerDependencies {
  readonly clock: Pick<Clock, "after">;
  /** `requestId` names the request in an answer that has no id of its own. */
  readonly fetch: (request: Request, bindings: { readonly requestId: string }) => Response | Promise<Response>;
  readonly requestId: () => string;
  readonly events: NetEvents;
}

/** Every answer carries X-Request-Id. */
function named(response: Response, requestId: string): Response {
  if (!response.headers.has("x-request-id")) response.headers.set("X-Request-Id", requestId);
  return response;
}

const bodyBytesMax = 1024 * 1024;
const idleSeconds = 60;

/** One HTTP application on a port or a Unix socket, without WebSockets. Listens at once; throws when it cannot. */
export class PlainListener implements AsyncDisposable {
  readonly #server: Bun.Server<undefined>;
  readonly #clock: Pick<Clock, "after">;
  readonly #unixPath: string | null;

  constructor(address: ListenAddress, dependencies: PlainListenerDependencies) {
    this.#clock = dependencies.clock;
    const shared = {
      maxRequestBodySize: bodyBytesMax,
      development: false,
      error: (error: unknown) => {
        const requestId = dependencies.requestId();
        dependencies.events.internalError("listener", error, { requestId });
        return named(new Response(null, { status: 500 }), requestId);
      },
      fetch: async (received: Request) => {
        const request = withHost(received);
        const requestId = dependencies.requestId();
        if (request === null) return named(Response.json({ error: "invalid host" }, { status: 400 }), requestId);
        return named(await dependencies.fetch(request, { requestId }), requestId);
      },
    };
    if ("unixPath" in address) {
      this.#unixPath = address.unixPath;
      rmSync(address.unixPath, { force: true });
      // The file is never open to others, not even between its making and the change of its mode.
      const before = process.umask(0o177);
      try {
        this.#server = Bun.serve({ ...shared, unix: address.unixPath });
      } finally {
        process.umask(before);
      }
      chmodSync(address.unixPath, 0o600);
    } else {
      this.#unixPath = null;
      this.#server = Bun.serve({
        ...shared,
        idleTimeout: idleSeconds,
        // With `development: false` Bun shares the port with a second server that asks for it: both would split the
        // calls.
        reusePort: false,
        hostname: address.hostname,
        port: address.port,
      });
    }
  }

  get port(): number | null {
    return this.#server.port ?? null;
  }

  /** Takes no more connections and lets requests in flight finish, those that are left after `deadlineMs` not. */
  async stop(deadlineMs: number): Promise<void> {
    const stopped = this.#server.stop(false);
    const inTime = await within(this.#clock, deadlineMs, stopped);
    if (!inTime.ok) await this.#server.stop(true);
    if (this.#unixPath !== null) rmSync(this.#unixPath, { force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop(1_000);
  }
}
