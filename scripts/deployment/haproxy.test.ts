import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { findTool, scratch } from "./tools.ts";

/** The balancer of the block engine, with processes that answer as engines do. */

const haproxy = findTool("haproxy", "that requests reach the block engine that is active");

async function freePort(): Promise<number> {
  const probe = createServer();
  return await new Promise((resolve) =>
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    }),
  );
}

/** Two hosts of one port, of which one is active. */
function startEngines(port: number): Disposable & { activate: (host: string | null) => void } {
  let active: string | null = null;
  const servers = ["127.0.0.1", "127.0.0.2"].map((hostname) =>
    Bun.serve({
      hostname,
      port,
      fetch: ({ url, headers }) => {
        const status = active === hostname ? 200 : 503;
        if (new URL(url).pathname === "/ready") return Response.json({ status }, { status });
        return Response.json({ hostname, forwarded: headers.get("x-forwarded-for") });
      },
    }),
  );
  return {
    activate: (host) => {
      active = host;
    },
    [Symbol.dispose]: () => {
      for (const server of servers) void server.stop(true);
    },
  };
}

test.skipIf(haproxy === null)("requests reach the engine that is active, and none when both stand by", async () => {
  const [engine, rest, grpc] = await Promise.all([freePort(), freePort(), freePort()]);
  const text = readFileSync(join(import.meta.dir, "../../deploy/proxies/haproxy.cfg"), "utf8")
    .replace("maxconn 20000", "maxconn 100")
    .replace(/frontend grpc_tls[\s\S]*?\n\n/, "")
    .replaceAll("10.0.0.15:7435", `127.0.0.1:${engine}`)
    .replaceAll("10.0.0.16:7435", `127.0.0.2:${engine}`)
    .replaceAll("check port 7435", `check port ${engine}`)
    .replaceAll("bind :7435", `bind 127.0.0.1:${rest}`)
    .replaceAll("bind :7440", `bind 127.0.0.1:${grpc}`);
  using engines = startEngines(engine);
  using files = scratch({ "haproxy.cfg": text });
  const child = Bun.spawn([haproxy ?? "", "-db", "-f", files.path("haproxy.cfg")], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
  });
  try {
    const ask = async (): Promise<unknown> => {
      const answer = await fetch(`http://127.0.0.1:${rest}/api/v1/bundles`).catch(() => null);
      return answer?.ok === true ? await answer.json() : (answer?.status ?? null);
    };
    const until = async (expected: unknown): Promise<void> => {
      let found = await ask();
      for (let tries = 0; tries < 400 && !Bun.deepEquals(found, expected); tries += 1) {
        await Bun.sleep(25);
        found = await ask();
      }
      expect(found).toEqual(expected);
    };
    for (const hostname of ["127.0.0.1", "127.0.0.2", "127.0.0.1"]) {
      engines.activate(hostname);
      await until({ hostname, forwarded: "127.0.0.1" });
    }
    engines.activate(null);
    await until(503);
  } finally {
    child.kill("SIGKILL");
    await child.exited;
  }
});
