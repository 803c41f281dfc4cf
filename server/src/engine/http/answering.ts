import type { SluiceError } from "@sluice/contract/errors";
import type { AddressSet } from "@sluice/lib";
import { type JsonValue, stringifyJsonExact } from "@sluice/wire/json";
import type { Context, Handler, MiddlewareHandler } from "hono";
import { clientAddress, docsBaseOf, type RestEnvironment } from "../../http/index.ts";
import { type RefusalRecords, recordRefusal } from "../model/refusal-records.ts";
import type { Admit, Incoming } from "./admit.ts";
import { engineFailure, failureResponse, shownFailure } from "./failure.ts";
import { rpcFailureResponse } from "./jito-endpoint.ts";
import { jitoPaths } from "./paths.ts";

export interface AnsweringDependencies {
  readonly admit: Pick<Admit, "address">;
  readonly trustedProxies: AddressSet;
  /** Where what is refused is recorded; null where no key is looked at. */
  readonly records: RefusalRecords | null;
  /** A request was answered; `route` is the pattern of its path. */
  readonly answered: (route: string, status: number) => void;
}

export type RestContext = Context<RestEnvironment>;
export type EngineAnswer = (incoming: Incoming, context: RestContext) => Response | Promise<Response>;

/**
 * How every request of the REST endpoint is answered. Its address pays for it first, whatever its path and method: a
 * client that asks for what is not there costs as much as another.
 */
export class Answering {
  readonly #dependencies: AnsweringDependencies;
  readonly #incoming = new WeakMap<Request, Incoming>();

  constructor(dependencies: AnsweringDependencies) {
    this.#dependencies = dependencies;
  }

  /** Before every route, known or not. */
  readonly first: MiddlewareHandler<RestEnvironment> = async (context, next) => {
    const incoming = this.#incomingOf(context);
    const refused = await this.#error(context, incoming, async () => {
      await this.#dependencies.admit.address(incoming);
      return null;
    });
    if (refused !== null) return this.#reported("*", refused);
    this.#incoming.set(context.req.raw, incoming);
    await next();
    if (!this.#incoming.has(context.req.raw)) return undefined;
    // No handler took it: an unknown path, or another method.
    for (const [name, value] of Object.entries(incoming.headers)) context.res.headers.set(name, value);
    this.#reported("*", context.res);
    return undefined;
  };

  /** A handler, and what it refuses. Anything else that it throws is a fault of this engine. */
  handler(answer: EngineAnswer): Handler<RestEnvironment> {
    return async (context) => {
      const incoming = this.#incoming.get(context.req.raw) ?? this.#incomingOf(context);
      this.#incoming.delete(context.req.raw);
      const startedMs = this.#dependencies.records?.clock.monotonic() ?? 0;
      const response = await this.#error(context, incoming, () => answer(incoming, context));
      await this.#record(context, incoming, { response, startedMs });
      return this.#reported(context.req.routePath, response);
    };
  }

  #incomingOf(context: RestContext): Incoming {
    const request = context.req.raw;
    const env = context.env as RestEnvironment["Bindings"] | undefined;
    const forwarded = request.headers.get("x-forwarded-for");
    const address = clientAddress(env?.socketAddress ?? "", forwarded, this.#dependencies.trustedProxies);
    return { request, clientAddress: address, headers: {}, grant: null, isRecorded: false };
  }

  async #error<T>(context: RestContext, { headers }: Incoming, work: () => T | Promise<T>): Promise<T | Response> {
    try {
      return await work();
    } catch (error) {
      const shown = shownFailure(error);
      if (shown === null) throw error;
      const requestId = context.get("requestId");
      if (context.req.method === "POST" && jitoPaths.includes(context.req.path)) {
        return rpcFailureResponse(shown, requestId, { headers });
      }
      return failureResponse(shown, { requestId, docsBase: docsBaseOf(context), headers });
    }
  }

  /** What was refused has a record where its account is known; bundles that were taken have their own. */
  async #record(
    context: RestContext,
    { grant, isRecorded, request }: Incoming,
    { response, startedMs }: { readonly response: Response; readonly startedMs: number },
  ): Promise<void> {
    const code = response.headers.get("x-error-code");
    const { records } = this.#dependencies;
    if (records === null || grant === null || isRecorded || code === null) return;
    const { byteLength } = await response.clone().arrayBuffer();
    recordRefusal(records, {
      caller: grant,
      requestId: context.get("requestId"),
      method: context.req.routePath,
      status: response.status,
      code,
      sinceMs: startedMs,
      bytesIn: Number(request.headers.get("content-length") ?? 0) || 0,
      bytesOut: byteLength,
    });
  }

  #reported(route: string, response: Response): Response {
    this.#dependencies.answered(route, response.status);
    return response;
  }
}

/** What the application refuses by itself. */
export function writeFailure(error: SluiceError, context: RestContext): Response {
  const shown = shownFailure(error) ?? engineFailure("INTERNAL_ERROR");
  const [requestId, docsBase] = [context.get("requestId"), docsBaseOf(context)];
  return failureResponse(shown, { requestId, docsBase, headers: allowOf(error.details) });
}

export function json({ headers }: Incoming, body: JsonValue, status = 200): Response {
  return new Response(stringifyJsonExact(body), {
    status,
    headers: { ...headers, "Content-Type": "application/json" },
  });
}

function allowOf(details: Readonly<Record<string, unknown>>): Record<string, string> {
  const allow = details["allow"];
  return Array.isArray(allow) ? { Allow: allow.join(", ") } : {};
}
