import { type ErrorCode, SluiceError } from "@sluice/contract/errors";
import type { Log } from "@sluice/lib";
import { type Context, Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { TrieRouter } from "hono/router/trie-router";
import { failureOf } from "./failure.ts";
import { preflightResponse, type RateLimitState, writeOpenCorsHeaders, writeRateLimitHeaders } from "./headers.ts";
import { problemResponse } from "./problem.ts";
import { redactQuery } from "./redact.ts";
import { isJsonContentType } from "./request-head.ts";

/**
 * The variables that every REST handler finds: `c.get("requestId")`. Where a limit applied, the handler sets
 * `rateLimit`, and the answer states it, whatever it is.
 */
export interface RestEnvironment {
  /**
   * The second argument of `fetch`, from a server in front: the id that the request has already, the socket's address,
   * and what stands before the path of a code's page in `type`.
   */
  Bindings: { requestId?: string; socketAddress?: string; docsBase?: string | null };
  Variables: { requestId: string; rateLimit?: RateLimitState };
}

export interface RestAppOptions {
  /** "open": any origin, OPTIONS answered without a key; "none": same origin only, no CORS header at all. */
  readonly cors: "open" | "none";
  /**
   * Writes a failure in another form than RFC 9457, where a specification has its own error body. Null leaves it to
   * the standard form.
   */
  readonly failure?: (error: SluiceError, context: Context<RestEnvironment>) => Response | null;
}

export interface RestAppDependencies {
  readonly requestId: () => string;
  /** Reported for faults of this system only. */
  readonly log: Pick<Log, "error">;
}

/** Hono's own exceptions (validators, body parsers) by their status; any other one is an internal error. */
const codesByStatus: Readonly<Record<number, ErrorCode>> = {
  400: "INVALID_INPUT",
  404: "NOT_FOUND",
  413: "BODY_TOO_LARGE",
  415: "UNSUPPORTED_MEDIA_TYPE",
};

/**
 * The Hono application that every REST endpoint starts from: a request id on each answer, CORS by kind of path, a
 * SluiceError answered by the table, an unexpected error logged and answered with its request id alone, unknown paths
 * 404, known paths under another method 405 with Allow. Routes are added by the caller; nothing listens here. It is
 * reached by `app.fetch(request, { requestId })`: mounted inside another Hono application, that one's 404 would answer
 * instead.
 */
export function createRestApp(options: RestAppOptions, dependencies: RestAppDependencies): Hono<RestEnvironment> {
  const app = new Hono<RestEnvironment>();
  const allowedMethods = methodsByPath(app);

  app.use("*", async (context, next) => {
    // Without a second argument to fetch there is no env at all, whatever its type says.
    const requestId = (context.env as { requestId?: string } | undefined)?.requestId ?? dependencies.requestId();
    context.set("requestId", requestId);
    if (options.cors === "open" && context.req.method === "OPTIONS") {
      const methods = allowedMethods(context.req.path);
      const requested = context.req.header("access-control-request-headers") ?? null;
      return preflightResponse(requested, methods.length > 0 ? [...methods, "OPTIONS"] : ["OPTIONS"], requestId);
    }
    await next();
    const headers: Record<string, string> = { "X-Request-Id": requestId };
    const rate = context.get("rateLimit");
    if (rate !== undefined) writeRateLimitHeaders(headers, rate);
    if (options.cors === "open") writeOpenCorsHeaders(headers);
    for (const [name, value] of Object.entries(headers)) context.res.headers.set(name, value);
    // A HEAD is told the length of what a GET is answered; of anything but JSON it is not known without its end.
    if (context.req.method === "HEAD" && isJsonContentType(context.res.headers.get("content-type"))) {
      const { byteLength } = await context.res.clone().arrayBuffer();
      context.res.headers.set("Content-Length", String(byteLength));
    }
    return undefined;
  });

  const answer = (error: SluiceError, context: Context<RestEnvironment>): Response =>
    options.failure?.(error, context) ??
    problemResponse(error.code, {
      requestId: context.get("requestId"),
      // What was said of an internal error was said for the log.
      ...(error.code === "INTERNAL_ERROR" ? {} : { message: error.message, details: error.details }),
      docsBase: docsBaseOf(context),
    });

  app.notFound((context) => {
    const methods = allowedMethods(context.req.path);
    const known = methods.length > 0 && !methods.includes(context.req.method);
    return answer(
      known ? new SluiceError("METHOD_NOT_ALLOWED", { details: { allow: methods } }) : new SluiceError("NOT_FOUND"),
      context,
    );
  });

  app.onError((thrown, context) => {
    const code = thrown instanceof HTTPException ? codesByStatus[thrown.status] : undefined;
    const error = code === undefined ? failureOf(thrown) : new SluiceError(code, { cause: thrown });
    if (error.code === "INTERNAL_ERROR") {
      const { pathname, search } = new URL(context.req.url);
      dependencies.log.error(
        {
          requestId: context.get("requestId"),
          method: context.req.method,
          path: redactQuery(pathname + search),
          error: thrown,
        },
        "request failed",
      );
    }
    return answer(error, context);
  });
  return app;
}

/** What stands before the path of a code's page; null where `type` is a relative reference. */
export function docsBaseOf(context: Context<RestEnvironment>): string | null {
  // Without a second argument to fetch there is no env at all, whatever its type says.
  return (context.env as RestEnvironment["Bindings"] | undefined)?.docsBase ?? null;
}

/** Methods under which a path is known, for Allow; compiled when they are first asked for, as Hono's own routes are. */
function methodsByPath(app: Hono<RestEnvironment>): (path: string) => string[] {
  let router: TrieRouter<string> | null = null;
  return (path) => {
    if (router === null) {
      router = new TrieRouter<string>();
      for (const route of app.routes) {
        if (route.method !== "ALL") router.add("ALL", route.path, route.method);
      }
    }
    const methods = new Set<string>();
    for (const [method] of router.match("ALL", path)[0]) {
      methods.add(method);
      if (method === "GET") methods.add("HEAD");
    }
    return [...methods];
  };
}
