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
  readonly fetch: (request: Request) => Response | Promise<Response>;
  readonly events: NetEvents;
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
        dependencies.events.internalError("listener", error, {});
        return new Response(null, { status: 500 });
      },
      fetch: (received: Request) => {
        const request = withHost(received);
        return request === null
          ? Response.json({ error: "invalid host" }, { status: 400 })
          : dependencies.fetch(request);
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
