import type { ServerWebSocket } from "bun";

/** A call as the stub node received it. */
export interface StubCall {
  readonly id: string;
  readonly method: string;
  readonly params: readonly unknown[];
  readonly text: string;
}

export type StubAnswer = string | Uint8Array<ArrayBuffer> | Response;

/** A node that answers what a test instructs it to, byte for byte, and speaks enough PubSub to announce slots. */
export class StubNode implements Disposable {
  readonly calls: StubCall[] = [];
  /** The node's side of each PubSub connection that is open. */
  readonly sockets = new Set<ServerWebSocket<undefined>>();
  readonly pubsubReceived: string[] = [];
  /** What passed-through clients said is answered by this; slot subscriptions of the gateway are handled here. */
  onPubSub: (socket: ServerWebSocket<undefined>, text: string) => void = () => {};
  answer: (call: StubCall) => StubAnswer | Promise<StubAnswer>;
  slot = 100;
  /** What getGenesisHash answers to the gateway itself; null for an error. */
  genesis: string | null = "4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY";
  /** The blockhash at each slot that getBlock knows; the first is the first available one. */
  readonly blocks = new Map<number, string>();
  readonly #server;
  readonly #scheme: "http" | "https";
  readonly #subscribers = new Map<string, Set<ServerWebSocket<undefined>>>();

  /** With a certificate and its key it speaks TLS, under the name that the certificate is for. */
  constructor(
    answer: (call: StubCall) => StubAnswer | Promise<StubAnswer>,
    tls: { readonly cert: string; readonly key: string } | null = null,
  ) {
    this.answer = answer;
    this.#scheme = tls === null ? "http" : "https";
    this.#server = Bun.serve<undefined>({
      port: 0,
      hostname: "127.0.0.1",
      ...(tls === null ? {} : { tls }),
      fetch: async (request, server) => {
        if (server.upgrade(request, { data: undefined })) return undefined;
        const text = await request.text();
        const parsed = JSON.parse(text) as { id: unknown; method: string; params?: readonly unknown[] };
        if (parsed.id === "sluice") return new Response(this.#ownAnswer(parsed.method, parsed.params?.[0]));
        const call = { id: JSON.stringify(parsed.id), method: parsed.method, params: parsed.params ?? [], text };
        this.calls.push(call);
        const answer = await this.answer(call);
        return answer instanceof Response ? answer : new Response(answer);
      },
      websocket: {
        open: (socket) => {
          this.sockets.add(socket);
        },
        close: (socket) => {
          this.sockets.delete(socket);
          for (const subscribers of this.#subscribers.values()) subscribers.delete(socket);
        },
        message: (socket, data) => this.#received(socket, String(data)),
      },
    });
  }

  get #host(): string {
    return this.#scheme === "http" ? "127.0.0.1" : "localhost";
  }

  get url(): string {
    return `${this.#scheme}://${this.#host}:${this.#server.port}`;
  }

  get ws(): string {
    return this.url.replace("http", "ws");
  }

  /** Announces a slot to all three of the gateway's subscriptions, as a node whose commitments move together. */
  announce(slot: number): void {
    this.slot = slot;
    const notices: Record<string, string> = {
      slotSubscribe: `{"parent":${slot - 1},"root":${slot},"slot":${slot}}`,
      slotsUpdatesSubscribe: `{"slot":${slot},"timestamp":1,"type":"optimisticConfirmation"}`,
      rootSubscribe: String(slot),
    };
    for (const [method, result] of Object.entries(notices)) {
      const subscription = Object.keys(notices).indexOf(method);
      for (const socket of this.#subscribers.get(method) ?? []) {
        socket.send(
          `{"jsonrpc":"2.0","method":"${method}Notification","params":{"result":${result},"subscription":${subscription}}}`,
        );
      }
    }
  }

  /** The answer to a call that the gateway makes for itself. */
  #ownAnswer(method: string, param: unknown): string {
    const result = ((): string | null => {
      switch (method) {
        case "getGenesisHash":
          return this.genesis === null ? null : `"${this.genesis}"`;
        case "getFirstAvailableBlock":
          return String([...this.blocks.keys()][0] ?? 0);
        case "getBlocksWithLimit":
          return JSON.stringify([...this.blocks.keys()].slice(0, 1));
        case "getBlock": {
          const blockhash = this.blocks.get(Number(param));
          return blockhash === undefined ? null : `{"blockhash":"${blockhash}"}`;
        }
        default:
          return String(this.slot);
      }
    })();
    const member = result === null ? '"error":{"code":-32601,"message":"no"}' : `"result":${result}`;
    return `{"jsonrpc":"2.0",${member},"id":"sluice"}`;
  }

  #received(socket: ServerWebSocket<undefined>, text: string): void {
    const call = JSON.parse(text) as { id?: number; method: string };
    const index = ["slotSubscribe", "slotsUpdatesSubscribe", "rootSubscribe"].indexOf(call.method);
    if (index < 0) {
      this.pubsubReceived.push(text);
      this.onPubSub(socket, text);
      return;
    }
    const subscribers = this.#subscribers.get(call.method) ?? new Set();
    this.#subscribers.set(call.method, subscribers.add(socket));
    socket.send(`{"jsonrpc":"2.0","result":${index},"id":${call.id}}`);
  }

  [Symbol.dispose](): void {
    void this.#server.stop(true);
  }
}
