/** The ways of one process to the stores that processes share, each of which can be lost for it alone. */
import { type CutProxy, startCutProxy } from "./cut-proxy.ts";
import type { PostgresPair } from "./postgres-pair.ts";
import type { RedisPair } from "./redis-pair.ts";

const host = "127.0.0.1";

/** What cuts, silences and heals several connections' ways as one. */
export interface Way {
  cut(): void;
  silence(): void;
  heal(): void;
}

export interface ReplicaWays extends AsyncDisposable {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly postgres: Way;
  readonly redis: Way;
}

export async function openWays(postgres: PostgresPair, redis: RedisPair): Promise<ReplicaWays> {
  const resources = new AsyncDisposableStack();
  const open = async (port: number, rewrite?: (piece: Buffer) => Buffer): Promise<CutProxy> =>
    resources.use(await startCutProxy({ host, port, ...(rewrite === undefined ? {} : { rewrite }) }));
  const ofDatabase = await Promise.all(postgres.ports.map((port) => open(port)));
  const servers = await Promise.all(redis.ports.map(async (port) => ({ port, proxy: await open(port) })));
  // A sentinel tells where the server is, which is on the way of this process.
  const toWay = (piece: Buffer): Buffer =>
    Buffer.from(
      servers.reduce(
        (text, { port, proxy }) => text.replaceAll(bulk(port), bulk(proxy.port)),
        piece.toString("latin1"),
      ),
      "latin1",
    );
  const sentinel = await open(redis.sentinelPort, toWay);
  return {
    databaseUrl: postgres.urlThrough(ofDatabase.map(({ port }) => port)),
    redisUrl: redis.urlThrough(sentinel.port),
    postgres: asOne(ofDatabase),
    redis: asOne([...servers.map(({ proxy }) => proxy), sentinel]),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** As the protocol of Redis writes a text. */
const bulk = (value: number): string => `$${String(value).length}\r\n${value}\r\n`;

const asOne = (proxies: readonly CutProxy[]): Way => ({
  cut: () => {
    for (const proxy of proxies) proxy.cut();
  },
  silence: () => {
    for (const proxy of proxies) proxy.silence();
  },
  heal: () => {
    for (const proxy of proxies) proxy.heal();
  },
});
