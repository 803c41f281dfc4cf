import { StubNode } from "../../../upstreams/testing/stub-node.ts";

/** A stub node that takes every subscription, numbers it in its own way and tells what was asked. */
export class SubscribedNode {
  readonly stub: StubNode;
  /** Method and JSON text of the parameters, in the order in which they came. */
  readonly asked: [string, string][] = [];
  /** Numbers that it was asked to end. */
  readonly ended: number[] = [];
  readonly #sockets = new Map<number, { readonly method: string; readonly send: (text: string) => void }>();
  readonly #refusals = new Map<string, string>();
  #next: number;

  constructor(firstNumber: number) {
    this.#next = firstNumber;
    this.stub = new StubNode((call) => `{"jsonrpc":"2.0","result":5,"id":${call.id}}`);
    this.stub.onPubSub = (socket, text) => {
      const { id, method, params } = JSON.parse(text) as { id: number; method: string; params: unknown[] };
      socket.send(`{"jsonrpc":"2.0",${this.#answer(method, params, (said) => void socket.send(said))},"id":${id}}`);
    };
  }

  /** `error` is JSON text. */
  refuse(method: string, error: string): void {
    this.#refusals.set(method, error);
  }

  /** The numbers of the subscriptions that a method has. */
  numbers(method: string): number[] {
    return [...this.#sockets].flatMap(([number, each]) => (each.method === method ? [number] : []));
  }

  /** Notifies every subscription of a method; `result` is JSON text. */
  notify(method: string, result: string): void {
    for (const number of this.numbers(method)) {
      const params = `{"result":${result},"subscription":${number}}`;
      const notification = method.replace("Subscribe", "Notification");
      this.#sockets.get(number)?.send(`{"jsonrpc":"2.0","method":"${notification}","params":${params}}`);
    }
  }

  #answer(method: string, params: readonly unknown[], send: (text: string) => void): string {
    if (method.endsWith("Unsubscribe")) {
      const number = Number(params[0]);
      this.ended.push(number);
      return `"result":${this.#sockets.delete(number)}`;
    }
    this.asked.push([method, JSON.stringify(params)]);
    const refusal = this.#refusals.get(method);
    if (refusal !== undefined) return `"error":${refusal}`;
    this.#sockets.set(this.#next, { method, send });
    this.#next += 1;
    return `"result":${this.#next - 1}`;
  }
}
