/** A TCP proxy whose connections a test can cut or silence, and which takes no others until it is healed. */
import { connect, createServer, type Socket } from "node:net";

export interface CutProxy extends AsyncDisposable {
  readonly port: number;
  /** Connections end, and others are refused. */
  cut(): void;
  /** Nothing passes, not even the end of a connection; others are taken and hear nothing. */
  silence(): void;
  /** What waited in a silence passes now. */
  heal(): void;
}

interface Target {
  readonly host: string;
  readonly port: number;
  /** Changes what the server says, piece by piece. */
  readonly rewrite?: (piece: Buffer) => Buffer;
}

type State = "open" | "cut" | "silent";

export async function startCutProxy(target: Target): Promise<CutProxy> {
  const sockets = new Set<Socket>();
  /** What a silence holds back, in its order; senders are paused, so each has few pieces in it. */
  const held: (() => void)[] = [];
  let state: State = "open";
  const pass = (act: () => void): void => void (state === "silent" ? held.push(act) : act());
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
  };
  const forward = (from: Socket, to: Socket, rewrite: (piece: Buffer) => Buffer): void => {
    from.on("data", (piece: Buffer) => {
      if (state === "silent") from.pause();
      pass(() => {
        if (to.write(rewrite(piece)) || to.destroyed) return;
        from.pause();
        to.once("drain", () => from.resume());
      });
    });
    from.on("close", () => pass(() => to.destroy()));
  };
  const unchanged = (piece: Buffer): Buffer => piece;
  const join = (client: Socket): void => {
    if (client.destroyed) return;
    const upstream = connect({ host: target.host, port: target.port });
    keep(upstream);
    forward(client, upstream, unchanged);
    forward(upstream, client, target.rewrite ?? unchanged);
    client.resume();
  };
  const server = createServer({ pauseOnConnect: true }, (client) => {
    keep(client);
    if (state === "cut") client.destroy();
    else pass(() => join(client));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the proxy has no port");
  const cut = (): void => {
    state = "cut";
    held.length = 0;
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: address.port,
    cut,
    silence: () => {
      state = "silent";
    },
    heal: () => {
      const isSilent = state === "silent";
      state = "open";
      for (const act of held.splice(0)) act();
      if (isSilent) for (const socket of sockets) socket.resume();
    },
    async [Symbol.asyncDispose]() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
