import { type ErrorCode, SluiceError } from "@sluice/contract/errors";
import type { Clock } from "@sluice/lib";
import type { MiddlewareHandler } from "hono";
import { routePath } from "hono/route";
import type { RestEnvironment } from "../http/index.ts";
import type { ServedRequest } from "../observe/index.ts";

export interface AdministrationEvents {
  /**
   * `method` is the HTTP method and the pattern of the path; the method alone for a path that no route answers.
   * `bytesIn` is the length that the request states, `bytesOut` 0 for a stream, whose end is not waited for.
   */
  requestServed(fact: ServedRequest): void;
  /** Reported in place of a fact where no account is known. */
  requestRefused(code: ErrorCode): void;
}

export interface CountDependencies {
  readonly clock: Clock;
  readonly events: AdministrationEvents;
}

/** Every route, as metrics name it. What is none of these is counted under one name by observe. */
export const administrationMethods = [
  "GET /api/v1/usage",
  "GET /api/v1/requests",
  "GET /api/v1/requests/:id",
  "GET /api/v1/sent-transactions",
  "GET /api/v1/admin/accounts",
  "POST /api/v1/admin/accounts",
  "GET /api/v1/admin/accounts/:id",
  "PATCH /api/v1/admin/accounts/:id",
  "GET /api/v1/admin/keys",
  "POST /api/v1/admin/keys",
  "GET /api/v1/admin/keys/:id",
  "PATCH /api/v1/admin/keys/:id",
  "DELETE /api/v1/admin/keys/:id",
  "POST /api/v1/admin/keys/:id/rotate",
  "GET /api/v1/admin/audit",
  "GET /api/v1/admin/ledger/tables",
  "GET /api/v1/admin/upstreams",
  "GET /api/v1/admin/upstreams/live",
  "POST /api/v1/admin/upstreams",
  "POST /api/v1/admin/upstreams/:network/:label/cordon",
  "POST /api/v1/admin/upstreams/:network/:label/drain",
  "POST /api/v1/admin/upstreams/:network/:label/uncordon",
  "DELETE /api/v1/admin/upstreams/:network/:label",
  "GET /api/v1/admin/engine",
  "PUT /api/v1/admin/engine/maintenance",
  "PUT /api/v1/admin/engine/halted",
  "GET /api/v1/admin/searchers",
  "POST /api/v1/admin/searchers",
  "DELETE /api/v1/admin/searchers/:pubkey",
  "GET /api/v1/admin/searchers/limits",
  "PUT /api/v1/admin/searchers/limits/:searcher",
  "DELETE /api/v1/admin/searchers/limits/:searcher",
  "POST /api/v1/admin/reload",
] as const;

/** As at the JSON-RPC endpoint: a request of an unknown or dead key is counted as refused, by its code alone. */
const unknownKeyCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>(["INVALID_API_KEY", "KEY_INACTIVE"]);

/** Counts each request when it is answered, whatever the answer is. */
export function countRequests({ clock, events }: CountDependencies): MiddlewareHandler<RestEnvironment> {
  return async (context, next) => {
    const startedMs = clock.monotonic();
    await next();
    const { error, req, res } = context;
    if (error instanceof SluiceError && unknownKeyCodes.has(error.code)) {
      events.requestRefused(error.code);
      return;
    }
    const isStream = res.headers.get("content-type")?.startsWith("text/event-stream") === true;
    events.requestServed({
      network: "",
      rpcCode: null,
      credits: 0,
      method: `${req.method} ${routePath(context, -1)}`,
      status: res.status,
      latencyMs: clock.monotonic() - startedMs,
      bytesIn: Number(req.header("content-length") ?? 0),
      bytesOut: isStream ? 0 : (await res.clone().arrayBuffer()).byteLength,
    });
  };
}
