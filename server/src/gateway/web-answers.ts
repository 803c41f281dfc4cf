import type { ErrorCode } from "@sluice/contract/errors";
import { failureOf, type ProblemOptions, problemResponse } from "../http/index.ts";
import { fieldLines, type Handled, type HeadFault, type HttpAnswer, problemAnswer, webAnswer } from "../net/index.ts";
import type { GatewayEvents } from "./events.ts";

/** The methods of all paths together. */
const serverMethods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

interface Dependencies {
  readonly requestId: () => string;
  readonly events: Pick<GatewayEvents, "internalError">;
}

/**
 * The gateway's answers beside JSON-RPC, in the web's terms: the applications' responses, and problems (RFC 9457).
 * Pages and files know nothing of request ids, and every answer carries one.
 */
export class WebAnswers {
  readonly #dependencies: Dependencies;
  /** Put before the path of a code's page in problems; null leaves their `type` relative. */
  readonly docsBase: string | null;

  constructor({ docsBase }: { readonly docsBase: string | null }, dependencies: Dependencies) {
    this.#dependencies = dependencies;
    this.docsBase = docsBase;
  }

  /** A problem as an application answers it. */
  response(code: ErrorCode, options: ProblemOptions): Response {
    return problemResponse(code, { ...options, docsBase: this.docsBase });
  }

  /** A problem as the connection writes it. */
  problem(code: ErrorCode, options: ProblemOptions): HttpAnswer {
    return problemAnswer(code, { ...options, docsBase: this.docsBase });
  }

  /** Runs what gives a Response and takes its failures for answers; never rejects. */
  async from(respond: (requestId: string) => Response | Promise<Response>): Promise<HttpAnswer> {
    const requestId = this.#dependencies.requestId();
    try {
      const response = await respond(requestId);
      if (!response.headers.has("x-request-id")) response.headers.set("X-Request-Id", requestId);
      return await webAnswer(response);
    } catch (error) {
      const { code, message } = failureOf(error);
      if (code === "INTERNAL_ERROR") this.#dependencies.events.internalError("gateway", error, { requestId });
      return this.problem(code, { requestId, message });
    }
  }

  /** Runs what handles a request and takes its failures for answers; never throws and never rejects. */
  handle(work: () => Handled | Promise<Handled>): Handled | Promise<Handled> {
    const failed = (error: unknown): Promise<HttpAnswer> =>
      this.from(() => {
        throw error;
      });
    try {
      const handled = work();
      return handled instanceof Promise ? handled.catch(failed) : handled;
    } catch (error) {
      return failed(error);
    }
  }

  /** The answer to `OPTIONS *`, which asks what the server as a whole can do (RFC 9110, 9.3.7). */
  ofServer(): HttpAnswer {
    const headers = { Allow: serverMethods.join(", "), "X-Request-Id": this.#dependencies.requestId() };
    return { status: 204, fields: fieldLines(headers), body: "" };
  }

  /** The answer to bytes that are not a request; "fault" for a request that met an error of this server. */
  malformed(failure: HeadFault | "fault"): HttpAnswer {
    const requestId = this.#dependencies.requestId();
    if (failure === "fault") return this.problem("INTERNAL_ERROR", { requestId });
    if (failure.status === 503) return this.problem("OVERLOADED", { requestId, message: failure.message });
    return this.problem("INVALID_REQUEST", { requestId, ...failure });
  }
}
