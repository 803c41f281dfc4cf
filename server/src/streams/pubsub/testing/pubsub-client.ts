/** A client whose frames and end can be waited for. */
export class PubSubClient {
  readonly socket: WebSocket;
  readonly received: (string | ArrayBuffer)[] = [];
  readonly closed: Promise<number>;
  readonly opened: Promise<void>;
  #arrived = Promise.withResolvers<void>();

  constructor(url: string, headers: Record<string, string> = {}) {
    this.socket = new WebSocket(url, { headers } as unknown as string[]);
    this.socket.binaryType = "arraybuffer";
    const opened = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<number>();
    this.opened = opened.promise;
    this.closed = closed.promise;
    this.socket.onopen = () => opened.resolve();
    this.socket.onclose = (event) => closed.resolve(event.code);
    this.socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => {
      this.received.push(event.data);
      this.#arrived.resolve();
      this.#arrived = Promise.withResolvers<void>();
    };
  }

  async until(count: number): Promise<void> {
    while (this.received.length < count) await this.#arrived.promise;
  }
}
