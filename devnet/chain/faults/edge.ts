import { type Dispatch, RpcError } from "../rpc/index.ts";
import { type Corruption, corrupted } from "./corrupt.ts";
import { Gate } from "./gate.ts";
import type { SeededRandom } from "./random.ts";

export const ADMIN_PREFIX = "devnet_";

interface Drawn {
  readonly share: number;
  readonly random: SeededRandom;
}

export interface Slowness extends Drawn {
  readonly ms: number;
  /** Null slows every method. */
  readonly methods: readonly string[] | null;
}

/** The methods that a body calls, well formed or not. */
export function methodsOf(body: string): readonly string[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return [];
  }
  const calls: readonly unknown[] = Array.isArray(parsed) ? parsed : [parsed];
  return calls.flatMap((call) => {
    const method = typeof call === "object" && call !== null && "method" in call ? call.method : null;
    return typeof method === "string" ? [method] : [];
  });
}

/** What goes wrong between a client and the methods. Calls of devnet_* themselves pass whatever is on. */
export class EdgeFaults {
  readonly frozen = new Gate();
  slow: Slowness | null = null;
  corrupt: (Drawn & { readonly kind: Corruption }) | null = null;
  error: (Drawn & { readonly code: number }) | null = null;
  /** Every HTTP request is answered 503. */
  unavailable = false;

  clear(): void {
    this.frozen.open();
    this.slow = null;
    this.corrupt = null;
    this.error = null;
    this.unavailable = false;
  }

  get isQuiet(): boolean {
    return (
      !this.frozen.isShut && this.slow === null && this.corrupt === null && this.error === null && !this.unavailable
    );
  }

  /** Waits as long as the faults make a call of these methods wait. */
  async delay(methods: readonly string[]): Promise<void> {
    const { slow } = this;
    if (slow !== null && (slow.methods === null || methods.some((method) => slow.methods?.includes(method)))) {
      if (slow.random.falls(slow.share)) await Bun.sleep(slow.ms);
    }
    await this.frozen.pass();
  }

  /** The same methods, of which some calls fail. */
  failing(dispatch: Dispatch): Dispatch {
    return (method, params) => {
      const { error } = this;
      if (error !== null && !method.startsWith(ADMIN_PREFIX) && error.random.falls(error.share)) {
        throw new RpcError(error.code, "Fault on demand");
      }
      return dispatch(method, params);
    };
  }

  /** Answers an HTTP request by `next`, with what goes wrong on the way. */
  async answer(request: Request, next: (request: Request) => Promise<Response>): Promise<Response> {
    if (this.isQuiet) return next(request);
    const methods = request.method === "POST" ? methodsOf(await request.clone().text()) : [];
    if (methods.some((method) => method.startsWith(ADMIN_PREFIX))) return next(request);
    await this.delay(methods);
    if (this.unavailable) return new Response("Service Unavailable\n", { status: 503 });
    const response = await next(request);
    const { corrupt } = this;
    if (corrupt === null || request.method !== "POST" || !corrupt.random.falls(corrupt.share)) return response;
    const body = corrupted(await response.bytes(), corrupt.kind, corrupt.random);
    return new Response(body, { status: response.status, headers: response.headers });
  }
}
