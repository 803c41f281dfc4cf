/** As much of a sentinel as a client asks for, whose answers a test can hold back and whose announcements it makes. */

export interface FakeSentinel extends AsyncDisposable {
  readonly port: number;
  /** Whether questions for the server wait; once it is false again those that wait are answered. */
  isHolding: boolean;
  /** Questions that wait. */
  waiting(): number;
  /** Connections that listen for announcements. */
  listeners(): number;
  /** Says that another server took over. */
  announce(): void;
}

type Connection = Bun.Socket<undefined>;

const bulk = (...words: string[]): string =>
  `*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join("")}`;

/** Names the server at `serverPort` of this machine to whoever asks. */
export function startFakeSentinel(serverPort: number): FakeSentinel {
  const listening = new Set<Connection>();
  const held: Connection[] = [];
  let isHolding = false;
  const tellServer = (connection: Connection): void => void connection.write(bulk("127.0.0.1", String(serverPort)));
  const answer = (connection: Connection, command: string): void => {
    if (/get-master-addr-by-name/i.test(command)) {
      if (isHolding) held.push(connection);
      else tellServer(connection);
    } else if (/^subscribe/i.test(command)) {
      listening.add(connection);
      connection.write("*3\r\n$9\r\nsubscribe\r\n$14\r\n+switch-master\r\n:1\r\n");
    } else connection.write(/^sentinel/i.test(command) ? "*0\r\n" : "+OK\r\n");
  };
  const server = Bun.listen<undefined>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      // A client sends each command as a whole, several of them in one piece.
      data: (connection, data) => {
        const commands = data
          .toString()
          .split(/\*\d+\r\n/)
          .slice(1);
        for (const command of commands)
          answer(connection, command.replaceAll(/\$\d+\r\n/g, "").replaceAll("\r\n", " "));
      },
      close: (connection) => void listening.delete(connection),
      error: () => undefined,
    },
  });
  return {
    port: server.port,
    get isHolding() {
      return isHolding;
    },
    set isHolding(wish: boolean) {
      isHolding = wish;
      if (!wish) for (const connection of held.splice(0)) tellServer(connection);
    },
    waiting: () => held.length,
    listeners: () => listening.size,
    announce: () => {
      for (const connection of listening) connection.write(bulk("message", "+switch-master", "main"));
    },
    [Symbol.asyncDispose]: async () => server.stop(true),
  };
}
