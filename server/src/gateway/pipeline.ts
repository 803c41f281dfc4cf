import { failureOf } from "../http/index.ts";
import type { ReadableBody } from "../net/index.ts";
import { type Answer, failureAnswer } from "./answer.ts";
import { type ContextOptions, RequestContext, type RequestHead } from "./request-context.ts";
import * as stages from "./stages.ts";

/**
 * A JSON-RPC request's way. Each stage ends the request or hands it on; the order is the specification's (node platform,
 * Authentication 3), with what the gateway can see before it: no body is read before its key is known.
 *
 *   shed        beyond what can be answered in time              overload.ts
 *   admit       one Host, POST, JSON, declared length
 *   identify    key exists, key active                          access
 *   place       which network                                   request-context.ts
 *   restrict    network, domain, address                        access
 *   read        the body, in time and within its bound          body-reads.ts
 *   open        envelope: one call or a batch                   rpc
 *   meter       rate limit; a malformed body pays it too        access
 *   meterSend   rate limit of sendTransaction                   access
 *   charge      credits                                         access
 *   answer      defaults, validation, cache, node               calls.ts, batch.ts
 *   finish      id in its place, headers, the fact              answer.ts, batch.ts
 */
const order: readonly stages.Stage[] = Object.freeze([
  stages.shed,
  stages.admit,
  stages.identify,
  stages.place,
  stages.restrict,
  stages.read,
  stages.open,
  stages.meter,
  stages.meterSend,
  stages.charge,
  stages.answer,
  stages.finish,
]);

/**
 * Runs requests through the stages. While everything that is asked for is in memory and the body has come with its head,
 * nothing here waits, and the answer is written in the turn in which the request was read.
 */
export class Pipeline {
  readonly #options: ContextOptions;
  readonly #dependencies: stages.StageDependencies;

  constructor(options: ContextOptions, dependencies: stages.StageDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** Answers one request; never throws and never rejects. */
  handle(request: RequestHead & ReadableBody): Answer | Promise<Answer> {
    return this.#run(new RequestContext(request, this.#options, this.#dependencies), 0);
  }

  #run(context: stages.Context, from: number): Answer | Promise<Answer> {
    const dependencies = this.#dependencies;
    try {
      for (let index = from; ; index += 1) {
        const stage = order[index];
        if (stage === undefined) break;
        const outcome = stage.ask(dependencies, context);
        if (outcome instanceof Promise) return this.#wait(outcome, context, index);
        const answer = stage.settle(dependencies, context, outcome);
        if (answer !== undefined) return answer;
      }
    } catch (error) {
      return this.#fail(context, error);
    }
    return this.#fail(context, new Error("the last stage answers every request"));
  }

  /** Goes on from a stage that waits. */
  #wait(pending: Promise<unknown>, context: stages.Context, index: number): Promise<Answer> {
    return pending.then(
      (outcome) => {
        try {
          const answer = order[index]?.settle(this.#dependencies, context, outcome);
          return answer ?? this.#run(context, index + 1);
        } catch (error) {
          return this.#fail(context, error);
        }
      },
      (error) => this.#fail(context, error),
    );
  }

  /** An error with a code of contract's table is answered by it; any other is an internal error of this system. */
  #fail(context: stages.Context, error: unknown): Answer {
    const { events } = this.#dependencies;
    context.id = "null";
    const { code, message } = failureOf(error);
    if (code === "INTERNAL_ERROR") {
      events.internalError("rpc", error, { requestId: context.requestId });
      return failureAnswer(context, { code });
    }
    events.requestRefused("rpc", code);
    return failureAnswer(context, { code, message });
  }
}
