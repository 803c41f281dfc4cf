import type { SluiceError } from "@sluice/contract/errors";
import type { AddressSet } from "@sluice/lib";
import { type JsonValue, stringifyJsonExact } from "@sluice/wire/json";
import type { Context, Handler, MiddlewareHandler } from "hono";
import { clientAddress, docsBaseOf, type RestEnvironment } from "../../http/index.ts";
import { type RefusalRecords, recordRefusal } from "../model/refusal-records.ts";
import type { Admit, Incoming } from "./admit.ts";
import { engineFailure, failureResponse, type ShownFailure, shownFailure } from "./failure.ts";
import { rpcFailureResponse } from "./jito-endpoint.ts";
import { jitoPaths } from "./paths.ts";

export interface AnsweringDependencies {
  readonly admit: Pick<Admit, "address" | "callerOf">;
  readonly trustedProxies: AddressSet;
  /** Where what is refused is recorded; null where no key is looked at. */
  readonly records: RefusalRecords | null;
  /** A request was answered; `route` is the pattern of its path. */
  readonly answered: (route: string, status: number) => void;
}

/** A call that was refused, as its record shows it. */
interface EndedCall {
  readonly startedMs: number;
  readonly method: string;
  readonly status: number;
  readonly code: string;
  readonly bytesOut: number;
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
    const startedMs = this.#nowMs();
    const refused = await this.#error(context, incoming, async () => {
      await this.#dependencies.admit.address(incoming);
      return null;
    });
    if (refused !== null) {
      // Whether its path is a route is not known yet, and what a caller wrote is not recorded.
      await this.#recordAnswer(context, incoming, { response: refused, startedMs, method: "*" });
      return this.#reported("*", refused);
    }
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
      const startedMs = this.#nowMs();
      const method = context.req.routePath;
      let response: Response;
      try {
        response = await this.#error(context, incoming, () => answer(incoming, context));
      } catch (error) {
        this.#record(context, incoming, { startedMs, method, status: 500, code: "INTERNAL_ERROR", bytesOut: 0 });
        throw error;
      }
      await this.#recordAnswer(context, incoming, { response, startedMs, method });
      return this.#reported(method, response);
    };
  }

  #nowMs(): number {
    return this.#dependencies.records?.clock.monotonic() ?? 0;
  }

  #incomingOf(context: RestContext): Incoming {
    const request = context.req.raw;
    const env = context.env as RestEnvironment["Bindings"] | undefined;
    const forwarded = request.headers.get("x-forwarded-for");
    const address = clientAddress(env?.socketAddress ?? "", forwarded, this.#dependencies.trustedProxies);
    return { request, clientAddress: address, headers: {}, grant: undefined, isRecorded: false };
  }

  async #error<T>(context: RestContext, { headers }: Incoming, work: () => T | Promise<T>): Promise<T | Response> {
    try {
      return await work();
    } catch (error) {
      const shown = shownFailure(error);
      if (shown === null) throw error;
      return writeShown(shown, context, headers);
    }
  }

  async #recordAnswer(
    context: RestContext,
    incoming: Incoming,
    { response, ...call }: Pick<EndedCall, "startedMs" | "method"> & { readonly response: Response },
  ): Promise<void> {
    const code = response.headers.get("x-error-code");
    if (code === null || this.#dependencies.records === null) return;
    const { byteLength } = await response.clone().arrayBuffer();
    this.#record(context, incoming, { ...call, status: response.status, code, bytesOut: byteLength });
  }

  /** What was refused has a record where its account is known; bundles that were taken have their own. */
  #record(context: RestContext, incoming: Incoming, { startedMs, ...call }: EndedCall): void {
    const { records, admit } = this.#dependencies;
    const caller = records === null || incoming.isRecorded ? null : admit.callerOf(incoming);
    if (records === null || caller === null) return;
    recordRefusal(records, {
      ...call,
      caller,
      requestId: context.get("requestId"),
      sinceMs: startedMs,
      bytesIn: Number(incoming.request.headers.get("content-length") ?? 0) || 0,
    });
  }

  #reported(route: string, response: Response): Response {
    this.#dependencies.answered(route, response.status);
    return response;
  }
}

/** What the application refuses by itself, and its own faults. */
export function writeFailure(error: SluiceError, context: RestContext): Response {
  const shown = shownFailure(error) ?? engineFailure("INTERNAL_ERROR");
  return writeShown(shown, context, allowOf(error.details));
}

/** A failure in the form that the clients of the path read. */
function writeShown(shown: ShownFailure, context: RestContext, headers: Record<string, string>): Response {
  const requestId = context.get("requestId");
  if (context.req.method === "POST" && jitoPaths.includes(context.req.path)) {
    return rpcFailureResponse(shown, requestId, { headers });
  }
  return failureResponse(shown, { requestId, docsBase: docsBaseOf(context), headers });
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
