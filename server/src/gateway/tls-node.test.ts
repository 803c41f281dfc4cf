import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { authority, certificate, privateKey } from "../net/http1/client/testing/certificates.ts";
import { StubNode } from "../upstreams/testing/stub-node.ts";
import { testKey } from "./testing/booted-gateway.ts";

/** Asks a gateway in a process of its own, whose environment says whom it trusts. */
async function askThrough(node: StubNode, environment: Record<string, string>): Promise<Response> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "testing", "gateway-process.ts"), node.url], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
    env: { ...process.env, ...environment },
  });
  try {
    const { value } = await child.stdout.getReader().read();
    const { port } = JSON.parse(new TextDecoder().decode(value)) as { port: number };
    return await fetch(`http://127.0.0.1:${port}/rpc`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": testKey },
      body: '{"jsonrpc":"2.0","id":7,"method":"getBlockHeight"}',
    });
  } finally {
    child.kill();
    await child.exited;
  }
}

test("a node over TLS answers and reports its slots to a client that trusts its authority, and receives nothing otherwise", async () => {
  const directory = mkdtempSync(join(tmpdir(), "sluice-tls-"));
  try {
    const file = join(directory, "authority.pem");
    writeFileSync(file, authority);
    const node = new StubNode(
      async ({ id }) => {
        // The call is answered once the gateway also listens for slots.
        for (let turn = 0; turn < 5_000 && node.sockets.size === 0; turn += 1) await Bun.sleep(1);
        return `{"jsonrpc":"2.0","result":${node.sockets.size},"id":${id}}`;
      },
      { cert: certificate, key: privateKey },
    );
    using _ = node;
    const trusted = await askThrough(node, { NODE_EXTRA_CA_CERTS: file });
    expect(await trusted.text()).toBe('{"jsonrpc":"2.0","result":1,"id":7}');
    expect(node.calls.length).toBe(1);
    const untrusted = await askThrough(node, {});
    expect(untrusted.headers.get("x-error-code")).toBe("NETWORK_UNAVAILABLE");
    expect(node.calls.length).toBe(1);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}, 30_000);
