import type { JsonObject, JsonValue } from "@sluice/encode";
import { sleep, type Timer, type Timers } from "@sluice/lib";
import { parseJsonExact, stringifyJsonExact } from "@sluice/wire/json";
import type { TextRandom } from "../../random.ts";
import { type Dispatch, RpcError } from "../rpc/index.ts";

/** Lets all callers through, or makes them wait until a time has passed or it is opened. */
export class Gate {
  #waiting: { readonly opened: Promise<void>; readonly open: () => void } | null = null;
  readonly #clock: Pick<Timers, "after">;
  #timer: Timer | null = null;

  constructor(dependencies: { readonly clock: Pick<Timers, "after"> }) {
    this.#clock = dependencies.clock;
  }

  get isShut(): boolean {
    return this.#waiting !== null;
  }

  /** Shuts it for this long from now, whatever was said before. */
  shut(ms: number): void {
    this.#timer?.cancel();
    if (this.#waiting === null) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting = { opened: promise, open: resolve };
    }
    this.#timer = this.#clock.after(ms, () => this.open());
  }

  open(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#waiting?.open();
    this.#waiting = null;
  }

  /** Resolves when the gate is open. */
  async pass(): Promise<void> {
    while (this.#waiting !== null) await this.#waiting.opened;
  }
}

interface Closable {
  close(code: number, reason: string): void;
}

/** The faults of PubSub connections. */
export class SocketFaults {
  drop: { readonly share: number; readonly random: TextRandom } | null = null;
  readonly #open = new Set<Closable>();
  #dropped = 0n;

  opened(socket: Closable): void {
    this.#open.add(socket);
  }

  closed(socket: Closable): void {
    this.#open.delete(socket);
  }

  /** Whether the notification that is about to be sent is lost. */
  loses(): boolean {
    if (this.drop === null || !this.drop.random.falls(this.drop.share)) return false;
    this.#dropped += 1n;
    return true;
  }

  get dropped(): bigint {
    return this.#dropped;
  }

  /** Closes every connection, as a node does that is restarted, and says how many they were. */
  closeAll(): number {
    const open = [...this.#open];
    for (const socket of open) socket.close(1001, "going away");
    return open.length;
  }
}

export const corruptions = ["truncate", "bitflip", "garbage", "wrong-id"] as const;
type Corruption = (typeof corruptions)[number];

function otherId(id: JsonValue | undefined): JsonValue {
  if (typeof id === "string") return `${id}x`;
  return typeof id === "number" || typeof id === "bigint" ? BigInt(id) + 1n : 0;
}

function withOtherId(answer: JsonValue): JsonValue {
  if (typeof answer !== "object" || answer === null || Array.isArray(answer)) return answer;
  const object = answer as JsonObject;
  return { ...object, id: otherId(object["id"]) };
}

/**
 * What a broken node, disk or wire makes of an answer. `truncate` ends it early (it is no JSON any more), `bitflip`
 * turns one bit over (it may still be JSON, and wrong), `garbage` is as many random bytes, `wrong-id` answers another
 * call.
 */
export function corrupted(answer: Uint8Array, kind: Corruption, random: TextRandom): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(answer);
  if (bytes.length < 3) return bytes;
  if (kind === "truncate") return bytes.slice(0, random.below(bytes.length - 2));
  if (kind === "garbage") return bytes.map(() => random.below(256));
  if (kind === "bitflip") {
    const position = random.below(bytes.length);
    bytes[position] = (bytes[position] ?? 0) ^ (1 << random.below(8));
    return bytes;
  }
  const parsed = parseJsonExact(new TextDecoder().decode(bytes));
  if (!parsed.ok) return bytes;
  const { value } = parsed;
  const wrong = Array.isArray(value) ? value.map((one: JsonValue) => withOtherId(one)) : withOtherId(value);
  return new Uint8Array(new TextEncoder().encode(`${stringifyJsonExact(wrong)}\n`));
}

const adminPrefix = "devnet_";

interface Drawn {
  readonly share: number;
  readonly random: TextRandom;
}

interface Slowness extends Drawn {
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

/** The faults between a client and the methods. They do not affect calls of devnet_*. */
export class EdgeFaults {
  readonly frozen: Gate;
  slow: Slowness | null = null;
  corrupt: (Drawn & { readonly kind: Corruption }) | null = null;
  error: (Drawn & { readonly code: number }) | null = null;
  /** Every HTTP request is answered 503. */
  unavailable = false;
  readonly #clock: Pick<Timers, "after">;

  constructor(dependencies: { readonly clock: Pick<Timers, "after"> }) {
    this.#clock = dependencies.clock;
    this.frozen = new Gate(dependencies);
  }

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
      if (slow.random.falls(slow.share)) await sleep(this.#clock, slow.ms);
    }
    await this.frozen.pass();
  }

  /** The same methods, of which some calls fail. */
  failing(dispatch: Dispatch): Dispatch {
    return (method, params) => {
      const { error } = this;
      if (error !== null && !method.startsWith(adminPrefix) && error.random.falls(error.share)) {
        throw new RpcError(error.code, "Fault on demand");
      }
      return dispatch(method, params);
    };
  }

  /** Answers an HTTP request by `next`, with what goes wrong on the way. */
  async answer(request: Request, next: (request: Request) => Promise<Response>): Promise<Response> {
    if (this.isQuiet) return next(request);
    const methods = request.method === "POST" ? methodsOf(await request.clone().text()) : [];
    if (methods.some((method) => method.startsWith(adminPrefix))) return next(request);
    await this.delay(methods);
    if (this.unavailable) return new Response("Service Unavailable\n", { status: 503 });
    const response = await next(request);
    const { corrupt } = this;
    if (corrupt === null || request.method !== "POST" || !corrupt.random.falls(corrupt.share)) return response;
    const body = corrupted(await response.bytes(), corrupt.kind, corrupt.random);
    return new Response(body, { status: response.status, headers: response.headers });
  }
}
