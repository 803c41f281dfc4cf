import { mkdirSync } from "node:fs";
import type { ReadyRecord } from "@sluice/contract/schemas";
import { type Clock, sleep } from "@sluice/lib";
import { Conversation, type Topic } from "./conversation.ts";
import { openLine, readOrders, type WorkerOrders } from "./orders.ts";
import { ParentPlaces } from "./places.ts";

/** What a parent asks a running worker for. */
export interface SeatedServer {
  readonly metrics: () => Promise<string>;
  readonly ready: () => ReadyRecord;
  readonly reload: () => Promise<unknown>;
}

/** How often a worker that does not serve yet looks whether it does. */
const lookMs = 50;
/** A reload of all workers waits for the slowest. */
const reloadMsMax = 30_000;

/** The place of a process as a worker of its parent. */
export class Seat {
  readonly orders: WorkerOrders;
  readonly places: ParentPlaces;
  readonly #parent: Conversation;
  readonly #clock: Clock;
  readonly #print: (line: string) => void;
  #server: SeatedServer | null = null;

  constructor(
    orders: WorkerOrders,
    dependencies: {
      readonly clock: Clock;
      readonly send: (message: unknown) => boolean;
      readonly print: Seat["print"];
    },
  ) {
    this.orders = orders;
    this.#clock = dependencies.clock;
    this.#print = dependencies.print;
    this.#parent = new Conversation(
      { send: dependencies.send, answer: (topic) => this.#answer(topic), told: () => undefined },
      dependencies,
    );
    this.places = new ParentPlaces(this.#parent);
  }

  received(message: unknown): void {
    this.#parent.received(message);
  }

  print(line: string): void {
    this.#print(line);
  }

  /** The server listens: it answers its parent from now on, and says when its roles serve. */
  opened(server: SeatedServer): void {
    this.#server = server;
    this.print(openLine);
    void this.#sayWhenServing(server);
  }

  /** Has all workers of the host read their configuration again. */
  async reloadAll(): Promise<unknown> {
    return await this.#parent.ask({ what: "reload" }, reloadMsMax);
  }

  /** Why the server did not start, in the words for an operator. */
  failed(message: string): void {
    this.#parent.tell({ what: "failed", message });
  }

  /** What was counted until the end. */
  ended(metrics: string): void {
    this.#parent.tell({ what: "metrics", text: metrics });
  }

  async #sayWhenServing({ ready }: SeatedServer): Promise<void> {
    while (ready().status === "down") await sleep(this.#clock, lookMs);
    this.#parent.tell({ what: "serving" });
  }

  async #answer({ what }: Topic): Promise<unknown> {
    const server = this.#server;
    if (server === null) throw new Error("the server is not open");
    if (what === "metrics") return await server.metrics();
    if (what === "ready") return server.ready();
    if (what === "reload") return await server.reload();
    throw new TypeError(`a parent asks nothing such as ${what}`);
  }
}

/**
 * Takes this process's place as a worker: reads its orders from its standard input. It ends at once when that ends,
 * which it does with its parent, however that ends.
 */
export async function takeSeat(dependencies: { readonly clock: Clock }): Promise<Seat> {
  const orders = await ordersFrom(process.stdin);
  process.stdin.on("end", () => process.exit(1));
  process.stdin.on("close", () => process.exit(1));
  process.stdin.on("error", () => process.exit(1));
  process.stdin.resume();
  mkdirSync(orders.directory, { recursive: true, mode: 0o700 });
  const seat = new Seat(orders, {
    ...dependencies,
    send: (message) => process.send?.(message) ?? false,
    print: (line) => void process.stdout.write(`${line}\n`),
  });
  process.on("message", (message) => seat.received(message));
  return seat;
}

const ordersBytesMax = 64 * 1024;

function ordersFrom(stream: NodeJS.ReadStream): Promise<WorkerOrders> {
  return new Promise((resolve, reject) => {
    let text = "";
    const take = (piece: Buffer): void => {
      text += piece.toString("utf8");
      const end = text.indexOf("\n");
      if (end < 0 && text.length < ordersBytesMax) return;
      stream.off("data", take);
      try {
        resolve(readOrders(text.slice(0, Math.max(end, 0))));
      } catch (error) {
        reject(error);
      }
    };
    stream.on("data", take);
    stream.once("end", () => reject(new Error("a worker is started by its parent alone")));
  });
}
