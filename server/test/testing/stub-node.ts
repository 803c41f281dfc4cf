/**
 * A node that answers a sent transaction with a signature, every other call with a number that rises, and takes every
 * WebSocket. Given a genesis hash it tells that as its chain's.
 */
export function startStubNode({ genesis }: { readonly genesis?: string } = {}): Bun.Server<undefined> {
  let slot = 1_000;
  return Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    websocket: { message: () => undefined },
    async fetch(request, server) {
      if (server.upgrade(request)) return undefined;
      const asked = await request.json();
      slot += 1;
      const results = {
        ...{ sendTransaction: "5".repeat(88), getVersion: { "solana-core": "2.0.0" } },
        ...(genesis === undefined ? {} : { getGenesisHash: genesis }),
      };
      const result = asked.method in results ? Reflect.get(results, asked.method) : slot;
      return Response.json({ jsonrpc: "2.0", result, id: asked.id });
    },
  });
}
