import type { Server, ServerWebSocket } from "bun";

/** One event of the played chain: its `type`, and the members of its message as JSON text. */
export interface PlayedEvent {
  readonly type: string;
  readonly members: string;
}

interface Connection {
  readonly host: number;
  /** By subscription id: how many events of the chain it has been told. */
  readonly told: Map<string, number>;
  /** Messages after which the connection is lost; null for never. */
  left: number | null;
}

type Socket = ServerWebSocket<Connection>;

/** What a client said. */
interface Said {
  readonly action: string;
  readonly ref?: number;
  readonly cursor?: string;
  readonly cursors?: boolean;
  readonly from_slot?: string;
  readonly channel?: string;
  readonly subscriptionId?: string;
  readonly filters?: { readonly commitment?: string; readonly accounts?: readonly string[] };
}

/** The id of a subscription at processed, which is told what the test says alone. */
export const processedId = "processed-x";

/** Hosts of `/ws` that tell one played chain to every subscription, and fail as a test says. */
export class PlayedStreams implements AsyncDisposable {
  readonly said: Said[] = [];
  readonly addresses: string[] = [];
  /** The hosts to which connections were made, in order. */
  readonly connected: number[] = [];
  /** Closes each new connection, after an error when one is named. */
  refusal: { readonly closeCode: number; readonly code?: string } | null = null;
  /** The host that takes connections and messages, and answers none. */
  silentHost: number | null = null;
  /** Answers each question of a subscription with this error. */
  subscriptionRefusal: { readonly code: string; readonly members?: string } | null = null;
  /** Messages that a new connection brings before it is lost, and how. */
  breaks: (() => { readonly after: number; readonly closeCode: number }) | null = null;
  readonly #chain: PlayedEvent[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #servers: Server<Connection>[];
  #closeCode = 1001;

  constructor(hosts = 1) {
    this.#servers = Array.from({ length: hosts }, (_, host) => this.#serve(host));
  }

  get urls(): string[] {
    return this.#servers.map(({ port }) => `http://127.0.0.1:${port}`);
  }

  get open(): number {
    return this.#sockets.size;
  }

  /** Adds events to the chain and tells them. */
  tell(...events: readonly PlayedEvent[]): void {
    this.#chain.push(...events);
    for (const socket of [...this.#sockets]) this.#catchUp(socket);
  }

  /** Adds events to the chain that are beyond what present subscriptions may get. */
  drop(...events: readonly PlayedEvent[]): void {
    this.#chain.push(...events);
    for (const socket of this.#sockets) {
      for (const id of socket.data.told.keys()) {
        socket.data.told.set(id, this.#chain.length);
        socket.send(
          `{"type":"lagged","subscriptionId":"${id}","dropped":${events.length},"from_slot":9007199254740993}`,
        );
      }
    }
  }

  /** Sends a text to all connections. */
  say(text: string): void {
    for (const socket of this.#sockets) socket.send(text);
  }

  /** Closes all connections; 1006 without a closing frame. */
  close(closeCode: number): void {
    for (const socket of [...this.#sockets]) this.#end(socket, closeCode);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.stop(true)));
  }

  #serve(host: number): Server<Connection> {
    return Bun.serve<Connection>({
      hostname: "127.0.0.1",
      port: 0,
      fetch: (request, server) => {
        this.addresses.push(request.url);
        const connection: Connection = { host, told: new Map(), left: null };
        return server.upgrade(request, { data: connection }) ? undefined : new Response(null, { status: 400 });
      },
      websocket: {
        open: (socket) => this.#opened(socket),
        message: (socket, text) => this.#heard(socket, JSON.parse(String(text)) as Said),
        close: (socket) => void this.#sockets.delete(socket),
      },
    });
  }

  #opened(socket: Socket): void {
    const { host } = socket.data;
    this.connected.push(host);
    if (this.silentHost === host) return;
    if (this.refusal !== null) {
      const { code, closeCode } = this.refusal;
      if (code !== undefined) socket.send(`{"type":"error","code":"${code}","message":"because","ref":null}`);
      this.#end(socket, closeCode);
      return;
    }
    const broken = this.breaks?.();
    if (broken !== undefined) {
      socket.data.left = broken.after;
      this.#closeCode = broken.closeCode;
    }
    this.#sockets.add(socket);
    socket.send('{"type":"connected"}');
  }

  #heard(socket: Socket, said: Said): void {
    this.said.push(said);
    if (this.silentHost === socket.data.host) return;
    if (said.action === "ping") socket.send('{"type":"pong"}');
    if (said.action === "unsubscribe") {
      socket.data.told.delete(said.subscriptionId ?? "");
      socket.send(`{"type":"unsubscribed","subscriptionId":"${said.subscriptionId}"}`);
    }
    if (said.action !== "subscribe") return;
    if (this.subscriptionRefusal !== null) {
      const { code, members = "" } = this.subscriptionRefusal;
      socket.send(`{"type":"error","code":"${code}","message":"because","ref":${said.ref}${members}}`);
      return;
    }
    if (said.filters?.commitment === "processed") {
      socket.send(
        `{"type":"subscribed","channel":"slots","subscriptionId":"${processedId}","cursor":null,"ref":${said.ref}}`,
      );
      return;
    }
    const { told } = socket.data;
    let id = `${said.channel}-x`;
    for (let number = 2; told.has(id); number += 1) id = `${said.channel}-x-${number}`;
    const from = said.cursor === undefined ? this.#chain.length : Number(said.cursor.slice(1));
    told.set(id, said.from_slot === undefined ? from : 0);
    const begins = `"cursor":"c${told.get(id)}","ref":${said.ref}`;
    socket.send(`{"type":"subscribed","channel":"${said.channel}","subscriptionId":"${id}",${begins}}`);
    this.#catchUp(socket);
  }

  #catchUp(socket: Socket): void {
    for (const [id, from] of socket.data.told) {
      for (let at = from; at < this.#chain.length; at += 1) {
        if (!this.#sockets.has(socket)) return;
        const { type, members } = this.#chain[at] ?? { type: "", members: "" };
        socket.data.told.set(id, at + 1);
        socket.send(`{"type":"${type}","subscriptionId":"${id}","cursor":"c${at + 1}"${members}}`);
        if (socket.data.left === null) continue;
        socket.data.left -= 1;
        if (socket.data.left <= 0) this.#end(socket, this.#closeCode);
      }
    }
  }

  #end(socket: Socket, closeCode: number): void {
    this.#sockets.delete(socket);
    if (closeCode === 1006) socket.terminate();
    else socket.close(closeCode);
  }
}
