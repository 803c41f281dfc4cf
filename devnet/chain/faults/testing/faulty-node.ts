import { systemClock, wallMs } from "@sluice/lib";
import { LiteSvmMachine } from "@sluice/svm/testing/litesvm-machine";
import { processLog } from "../../../log.ts";
import { type ChainNode, startNode } from "../../node.ts";
import { defaultOptions, type NodeOptions } from "../../options.ts";
import { call } from "../../testing/boot.ts";

const clockStartMs = 1_800_000_000_000;

/** A node under admin whose slots close when the test says so, at a clock that stands still. */
export interface FaultyNode extends AsyncDisposable {
  readonly node: ChainNode;
  /** Calls a devnet_* method at the admin endpoint and gives its result; throws its error. */
  admin(method: string, ...params: readonly unknown[]): Promise<unknown>;
  closeSlots(count: number): Promise<void>;
}

export async function bootFaultyNode(options: Partial<NodeOptions> = {}): Promise<FaultyNode> {
  const still = { rpcPort: 0, pubsubPort: 0, slotMs: 0, admin: true, votes: false };
  const quick = { ...defaultOptions, ...still, seed: "faults", ...options };
  const node = await startNode(quick, {
    clock: { ...systemClock, now: () => wallMs(clockStartMs) },
    log: processLog("test chain"),
    svm: new LiteSvmMachine(),
  });
  return {
    node,
    async admin(method, ...params) {
      const { result, error } = await call(node.adminUrl ?? "", method, params);
      if (error !== undefined) throw new Error(`${error.code}: ${error.message}`);
      return result;
    },
    async closeSlots(count) {
      for (let closed = 0; closed < count; closed += 1) {
        await node.chain.settled();
        await node.closeSlot();
      }
    },
    [Symbol.asyncDispose]: () => node[Symbol.asyncDispose](),
  };
}

interface Message {
  readonly id?: number;
  readonly result?: unknown;
  readonly params?: { readonly subscription: number; readonly result: unknown };
}

/** A PubSub client by hand, which keeps every message that it gets. */
export class RawSubscriber implements Disposable {
  readonly closed: Promise<number>;
  readonly #messages: Message[] = [];
  readonly #socket: WebSocket;
  #nextId = 1;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => this.#messages.push(JSON.parse(String(data)) as Message));
    this.closed = new Promise((resolve) => socket.addEventListener("close", ({ code }) => resolve(code)));
  }

  static async open(url: string): Promise<RawSubscriber> {
    const socket = new WebSocket(url);
    await new Promise((resolve, reject) => {
      socket.addEventListener("open", resolve, { once: true });
      socket.addEventListener("error", reject, { once: true });
    });
    return new RawSubscriber(socket);
  }

  async ask(method: string, ...params: readonly unknown[]): Promise<unknown> {
    const id = this.#nextId;
    this.#nextId += 1;
    this.#socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    for (;;) {
      const answer = this.#messages.find((message) => message.id === id);
      if (answer !== undefined) return answer.result;
      await new Promise((resolve) => this.#socket.addEventListener("message", resolve, { once: true }));
    }
  }

  /** What a subscription has said so far: a call that is answered proves that everything before it has arrived. */
  async notifications(subscription: unknown): Promise<unknown[]> {
    await this.ask("getVersion");
    const params = this.#messages.flatMap((message) => message.params ?? []);
    return params
      .filter((notifications) => notifications.subscription === subscription)
      .map((notifications) => notifications.result);
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }
}
