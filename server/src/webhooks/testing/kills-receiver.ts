import { createHmac } from "node:crypto";
import type { Random } from "@sluice/lib";

/** What signs and checks in the campaign. */
export const killsSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/** What the receiver has got of one event for one webhook. */
export interface Got {
  readonly deliveryId: string;
  readonly body: string;
  /** How often it was answered with a success. */
  accepted: number;
}

/** Of which webhook, by its place, what is refused. */
export interface Refusals {
  /** Seldom, as the rest waits for it. */
  isInOrder(webhook: number): boolean;
  /** All of an event. */
  refuses(webhook: number, event: string): boolean;
}

/** A receiver that keeps what it gets, refuses some attempts and is slow with others, until it is well. */
export class KillsReceiver implements Disposable {
  /** By the path of the webhook and the id of the event. */
  readonly got = new Map<string, Got>();
  readonly faults: string[] = [];
  /** Deliveries that came again after a success. */
  readonly again: string[] = [];
  attempts = 0;
  /** Whether it refuses nothing but all of an event. */
  isCalm = false;
  isWell = false;
  /** Deliveries that were answered with a success, or are being answered, and whose outcome no process has told. */
  readonly #open = new Map<string, number>();
  readonly #done = new Set<string>();
  readonly #random: Random;
  readonly #refusals: Refusals;
  readonly #server: Bun.Server<undefined>;

  constructor(random: Random, refusals: Refusals) {
    this.#random = random;
    this.#refusals = refusals;
    this.#server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      idleTimeout: 60,
      fetch: (request) => this.#take(request),
    });
  }

  get port(): number {
    return this.#server.port ?? 0;
  }

  /** Deliveries that were accepted. */
  get accepted(): number {
    let count = 0;
    for (const { accepted } of this.got.values()) if (accepted > 0) count += 1;
    return count;
  }

  /** A process has written that it was delivered. */
  done(deliveryId: string): void {
    this.#done.add(deliveryId);
    this.#open.delete(deliveryId);
  }

  /** What a kill now leaves without an outcome. */
  inFlight(): ReadonlySet<string> {
    return new Set(this.#open.keys());
  }

  async #take(request: Request): Promise<Response> {
    this.attempts += 1;
    const body = await request.text();
    const { headers } = request;
    const signature = `sha256=${createHmac("sha256", killsSecret).update(body).digest("hex")}`;
    if (headers.get("x-service-signature") !== signature) this.faults.push("a signature that is not valid");
    const path = new URL(request.url).pathname;
    const key = `${path} ${headers.get("x-service-event-id")}`;
    const deliveryId = headers.get("x-service-delivery-id") ?? "";
    const known = this.got.get(key) ?? { deliveryId, body, accepted: 0 };
    this.got.set(key, known);
    if (known.deliveryId !== deliveryId) this.faults.push(`${key} has two deliveries`);
    if (known.body !== body) this.faults.push(`${key} has two bodies`);
    const event = headers.get("x-service-event") ?? "";
    if (!(await this.#accepts({ webhook: Number(path.slice(1)), event, deliveryId })))
      return new Response("no", { status: 500 });
    if (known.accepted > 0) this.again.push(deliveryId);
    known.accepted += 1;
    return new Response(null, { status: 204 });
  }

  /**
   * One attempt in ten is refused, another is slow, and one in a hundred slower; what is delivered in order waits 5 s
   * for each refusal.
   */
  async #accepts({ webhook, event, deliveryId }: { webhook: number; event: string; deliveryId: string }) {
    const drawn = this.isWell || this.isCalm ? 1 : this.#random.next();
    if (!this.isWell && this.#refusals.refuses(webhook, event)) return false;
    if (drawn < (this.#refusals.isInOrder(webhook) ? 0.002 : 0.1)) return false;
    if (!this.#done.has(deliveryId)) this.#open.set(deliveryId, (this.#open.get(deliveryId) ?? 0) + 1);
    if (drawn < 0.2) await Bun.sleep(30);
    else if (drawn < 0.21) await Bun.sleep(1_200);
    return true;
  }

  [Symbol.dispose](): void {
    this.#server.stop(true);
  }
}
