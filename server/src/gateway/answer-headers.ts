import { anyOrigin, openCorsHeaders } from "../http/index.ts";
import type { LimitDecision } from "../limits/index.ts";
import { fieldLines } from "../net/index.ts";
import type { Exchange } from "./exchange.ts";

/** The header lines of one kind of answer: what is the same as in the last one is not written anew. */
class Template {
  readonly #fixed: string;
  #limit = -1;
  #burst = -1;
  #resetAt = -1;
  #rate = "";
  #hit: boolean | null = null;
  #endpoint = "";
  #latencyMs = -1;
  #source = "";

  constructor(fixed: Readonly<Record<string, string>>) {
    this.#fixed = `${fieldLines({ "Content-Type": "application/json", ...fixed })}X-Request-Id: `;
  }

  fill(exchange: Exchange, hit: boolean, endpoint: string, latencyMs: number): string {
    const { decision } = exchange;
    if (hit !== this.#hit || endpoint !== this.#endpoint || latencyMs !== this.#latencyMs) {
      this.#hit = hit;
      this.#endpoint = endpoint;
      this.#latencyMs = latencyMs;
      const said = { "X-Cache-Status": hit ? "HIT" : "MISS", "X-RPC-Endpoint": endpoint };
      this.#source = `\r\n${fieldLines(said)}X-RPC-Latency-Ms: ${latencyMs}\r\n`;
    }
    const lines = this.#fixed + exchange.requestId + this.#source;
    return decision === null ? lines : `${lines}${this.#rateOf(decision)}${decision.remaining}\r\n`;
  }

  #rateOf(decision: LimitDecision): string {
    const { limit, burst, resetAt } = decision;
    if (limit !== this.#limit || burst !== this.#burst || resetAt !== this.#resetAt) {
      this.#limit = limit;
      this.#burst = burst;
      this.#resetAt = resetAt;
      this.#rate = `X-RateLimit-Limit: ${limit}\r\nX-RateLimit-Burst: ${burst}\r\nX-RateLimit-Reset: ${resetAt}\r\nX-RateLimit-Remaining: `;
    }
    return this.#rate;
  }
}

/** The header lines of answered calls. */
export class AnswerHeaders {
  readonly #plain = new Template(anyOrigin);
  readonly #open = new Template(openCorsHeaders);

  /** Every exchange here has passed the rate limit. */
  fill(exchange: Exchange, hit: boolean, endpoint: string, latencyMs: number): string {
    const template = exchange.origin === null ? this.#plain : this.#open;
    return template.fill(exchange, hit, endpoint, latencyMs < 0.5 ? 0 : Math.round(latencyMs));
  }
}
