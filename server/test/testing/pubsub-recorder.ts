/** A client of Solana PubSub that keeps the results of what it is told as they were sent. */
export class PubSubRecorder implements Disposable {
  readonly #socket: WebSocket;
  readonly #results = new Map<number, string[]>();
  readonly #answers = new Map<number, (answer: { result?: number; error?: { code: number } }) => void>();
  #nextId = 1;

  private constructor(url: string) {
    this.#socket = new WebSocket(url);
    this.#socket.onmessage = ({ data }) => this.#received(String(data));
  }

  static async open(url: string): Promise<PubSubRecorder> {
    const recorder = new PubSubRecorder(url);
    await new Promise<void>((resolve, reject) => {
      recorder.#socket.onopen = () => resolve();
      recorder.#socket.onerror = () => reject(new Error(`no PubSub at ${url}`));
    });
    return recorder;
  }

  /** The results of the subscription's notifications, which grow. */
  async subscribe(method: string, params: readonly unknown[]): Promise<string[]> {
    return this.#resultsOf(await this.number(method, params));
  }

  /** The result of a call: the number of a subscription. Rejects where it is refused. */
  async number(method: string, params: readonly unknown[]): Promise<number> {
    const id = this.#nextId;
    this.#nextId += 1;
    const answer = await new Promise<{ result?: number; error?: { code: number } }>((resolve) => {
      this.#answers.set(id, resolve);
      this.#socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    });
    if (answer.result === undefined) throw new Error(`${method} was refused: ${JSON.stringify(answer)}`);
    return answer.result;
  }

  /** Takes nothing more of what it is told. */
  stall(): void {
    if ("pause" in this.#socket && typeof this.#socket.pause === "function") this.#socket.pause();
    this.#socket.onmessage = null;
  }

  #resultsOf(subscription: number): string[] {
    const known = this.#results.get(subscription) ?? [];
    this.#results.set(subscription, known);
    return known;
  }

  #received(text: string): void {
    const notification = /^\{"jsonrpc":"2\.0","method":"\w+","params":\{"result":(.*),"subscription":(\d+)\}\}$/s.exec(
      text,
    );
    if (notification?.[1] !== undefined) {
      this.#resultsOf(Number(notification[2])).push(notification[1]);
      return;
    }
    const answer = JSON.parse(text) as { id: number; result?: number; error?: { code: number } };
    this.#answers.get(answer.id)?.(answer);
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }
}
