/** What the proxy does to what comes through it. */
export type ProxyFault =
  | "none"
  /** Bytes of the node come late. */
  | "delay"
  /** The node's bytes are lost; the connection stays. */
  | "drop"
  /** Connections are taken and nothing ever comes. */
  | "half-open"
  /** The connection is reset in the middle of the answer. */
  | "reset"
  /** The answer's bytes are changed. */
  | "garbage"
  /** The answer comes a byte at a time. */
  | "drip";

interface Pair {
  client: Bun.Socket<Pair>;
  node: Bun.Socket<Pair> | null;
  early: Buffer[];
}

const delayMs = 120;
const dripMs = 15;

/** A TCP proxy before one node, which goes wrong as a test instructs it to. */
export class FaultProxy implements Disposable {
  fault: ProxyFault = "none";
  readonly #listener: Bun.TCPSocketListener<Pair>;
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();
  readonly #open = new Set<Pair>();

  constructor(nodePort: number) {
    this.#listener = Bun.listen<Pair>({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        open: (client) => {
          const pair: Pair = { client, node: null, early: [] };
          client.data = pair;
          this.#open.add(pair);
          void this.#connect(pair, nodePort);
        },
        data: (client, bytes) => {
          const { node, early } = client.data;
          if (this.fault === "half-open") return;
          if (node === null) early.push(Buffer.from(bytes));
          else node.write(bytes);
        },
        close: (client) => this.#ended(client.data),
        error: () => undefined,
      },
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#listener.port}/`;
  }

  async #connect(pair: Pair, port: number): Promise<void> {
    try {
      await Bun.connect<Pair>({
        hostname: "127.0.0.1",
        port,
        data: pair,
        socket: {
          open: (node) => {
            pair.node = node;
            for (const bytes of pair.early.splice(0)) node.write(bytes);
          },
          data: (_node, bytes) => this.#answer(pair.client, Buffer.from(bytes)),
          close: () => this.#ended(pair),
          error: () => undefined,
        },
      });
    } catch {
      this.#ended(pair);
    }
  }

  #answer(client: Bun.Socket<Pair>, bytes: Buffer): void {
    switch (this.fault) {
      case "none":
        client.write(bytes);
        break;
      case "delay":
        this.#later(delayMs, () => client.write(bytes));
        break;
      case "drop":
      case "half-open":
        break;
      case "reset":
        client.write(bytes.subarray(0, bytes.length >> 1));
        this.#later(1, () => client.terminate());
        break;
      case "garbage":
        client.write(bytes.map((byte, index) => (index % 7 === 3 ? byte ^ 0x15 : byte)));
        break;
      case "drip":
        for (const [index, byte] of bytes.entries()) this.#later(index * dripMs, () => client.write(Buffer.of(byte)));
    }
  }

  #later(ms: number, act: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      act();
    }, ms);
    this.#timers.add(timer);
  }

  #ended(pair: Pair): void {
    if (!this.#open.delete(pair)) return;
    pair.client.end();
    pair.node?.end();
  }

  [Symbol.dispose](): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#listener.stop(true);
    for (const pair of [...this.#open]) this.#ended(pair);
  }
}
