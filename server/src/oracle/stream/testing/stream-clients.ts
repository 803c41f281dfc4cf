import { afterEach } from "bun:test";
import { bootOracle } from "../../testing/booted-oracle.ts";
import type { StreamSession } from "../session.ts";

/** A client whose reading is played: while `isFull` nothing leaves, as with a peer that does not read. */
export class PlayedSocket {
  // biome-ignore lint/suspicious/noExplicitAny: messages are asserted on, member by member.
  readonly got: any[] = [];
  readonly texts: string[] = [];
  closed: number | null = null;
  terminated = false;
  pings = 0;
  isFull = false;
  readonly #gone = Promise.withResolvers<number>();
  readonly gone = this.#gone.promise;

  send(data: string): number {
    this.texts.push(data);
    this.got.push(JSON.parse(data));
    return data.length;
  }
  close(code = 1000): void {
    this.closed ??= code;
    this.#gone.resolve(code);
  }
  terminate(): void {
    this.terminated = true;
  }
  ping(): number {
    this.pings += 1;
    return 1;
  }
  getBufferedAmount(): number {
    return this.isFull ? 1_000_000 : 0;
  }
  types(): string[] {
    return this.got.map((message) => message.type);
  }
  prices(): [string, number][] {
    return this.got.filter(({ type }) => type === "price_update").map(({ symbol, price }) => [symbol, price]);
  }
}

type Booted = Awaited<ReturnType<typeof bootOracle>>;

/** Boots an oracle for a test, which is disposed of behind it. Called once in a file. */
export function streamBoots(): (options?: Parameters<typeof bootOracle>[0]) => Promise<Booted> {
  let booted: Booted | null = null;
  afterEach(async () => {
    await booted?.dispose();
    booted = null;
  });
  return async (options = {}) => {
    booted = await bootOracle(options);
    return booted;
  };
}

/** All that the present turn of the event loop leads to has been done. */
export const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

export function connect({ oracle }: Booted): {
  session: StreamSession;
  socket: PlayedSocket;
  say: (message: unknown) => void;
} {
  const request = new Request("http://oracle.test/api/v1/ws");
  const session = oracle.stream.begin(request, { requestIP: () => ({ address: "127.0.0.1" }) });
  const socket = new PlayedSocket();
  session.opened(socket);
  return { session, socket, say: (message) => session.received(JSON.stringify(message)) };
}

export async function enter(server: Booted, key: string): Promise<ReturnType<typeof connect>> {
  const client = connect(server);
  client.say({ type: "auth", api_key: key });
  await settled();
  return client;
}
