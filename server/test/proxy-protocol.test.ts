/**
 * A whole server behind a proxy that forwards bytes and says by the PROXY protocol whose they are: the gateway over
 * TLS, every other endpoint as it is. The proxy calls from 127.0.0.2; what calls from 127.0.0.1 is anybody.
 */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { credentials } from "@grpc/grpc-js";
import { protoFiles } from "@sluice/contract/proto";
import { eventually } from "@sluice/lib/testing";
import { PlainClient } from "../src/net/grpc/testing/grpc-client.ts";
import { certifyAuthority, certifyServer } from "../src/net/tls/certificate.ts";
import { type Network, runSluice, startNetwork } from "./testing/network.ts";

const day = 86_400_000;
const termsOf = (name: string) => ({
  name,
  notBefore: Date.now() - day,
  notAfter: Date.now() + 30 * day,
  serial: crypto.getRandomValues(new Uint8Array(16)),
});
const authority = await certifyAuthority(termsOf("authority"));
const resources = new AsyncDisposableStack();
const client = "192.0.2.7";

let network: Network;
/** A key that may be used from the client's address alone. */
let key = "";
/** Another of an account that may open Yellowstone gRPC. */
let keyOfStreams = "";
/** An address of this machine from which HAProxy is called, and a key for it alone. */
const behindHaproxy = "127.0.0.7";
let keyBehindHaproxy = "";

beforeAll(async () => {
  const directory = mkdtempSync(join(tmpdir(), "sluice-proxied-"));
  resources.defer(() => rmSync(directory, { recursive: true, force: true }));
  const [certificateFile, keyFile] = [join(directory, "a.pem"), join(directory, "a.key")];
  const { certificate, privateKey } = await certifyServer(termsOf("gateway"), ["localhost", "127.0.0.1"], authority);
  writeFileSync(certificateFile, certificate);
  writeFileSync(keyFile, privateKey);
  const env = {
    PROXY_PROTOCOL: "v1v2",
    TRUSTED_PROXIES: "127.0.0.2",
    GATEWAY_TLS_CERT_FILE: certificateFile,
    GATEWAY_TLS_KEY_FILE: keyFile,
  };
  network = resources.use(await startNetwork({ env }));
  const command = async (...args: string[]) => {
    const { code, out, err } = await runSluice([...args, "--json"], { directory: network.directory });
    if (code !== 0) throw new Error(err);
    return JSON.parse(out);
  };
  const account = await command("accounts", "create", "--name", "proxied", "--tier", "business");
  const restricted = (ip: string) => ["--account", account.id, "--name", "k", "--ip", ip, "--environment", "dev"];
  ({ key } = await command("keys", "create", ...restricted(client)));
  const { id } = await command("accounts", "create", "--name", "streams", "--tier", "professional");
  const ofStreams = ["--account", id, "--name", "k", "--ip", client, "--environment", "dev"];
  ({ key: keyOfStreams } = await command("keys", "create", ...ofStreams));
  ({ key: keyBehindHaproxy } = await command("keys", "create", ...restricted(behindHaproxy)));
  const priced = await proxy("oracle", version1(client));
  await eventually("a price", async () => (await statusThrough(priced, asked[1])) === 200);
}, 90_000);
afterAll(async () => await resources.disposeAsync(), 30_000);

const version1 = (address: string): Buffer => Buffer.from(`PROXY TCP4 ${address} 10.0.0.1 40000 443\r\n`);
const version2 = (address: string): Buffer =>
  Buffer.from([
    ...Buffer.from("0d0a0d0a000d0a515549540a2111000c", "hex"),
    ...address.split(".").map(Number),
    ...[10, 0, 0, 1, 156, 64, 1, 187],
  ]);

const portOf = (endpoint: string): number => Number(new URL(network.dev.doors[endpoint] ?? "").port);

/** A proxy before one of the server's ports that begins each connection with these bytes. */
const proxy = (endpoint: string, header: Buffer, localAddress = "127.0.0.2"): Promise<number> =>
  relay(portOf(endpoint), header, localAddress);

/** Forwards bytes to a port of this machine from another of its addresses, after these. */
async function relay(port: number, header: Buffer, localAddress: string): Promise<number> {
  const server = createServer((from) => {
    const to = connect({ port, host: "127.0.0.1", localAddress }, () => {
      to.write(header);
      from.pipe(to);
      to.pipe(from);
    });
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const) {
      one.on("error", () => other.destroy());
      one.on("close", () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  resources.defer(() => void server.close());
  return (server.address() as { port: number }).port;
}

type Asked = readonly [string, string, RequestInit];
const asked: readonly [Asked, Asked, Asked] = [
  ["rpc", "/rpc", { method: "POST", body: '{"jsonrpc":"2.0","id":1,"method":"getSlot"}' }],
  ["oracle", "/api/v1/price/BTC", {}],
  ["engineRest", "/api/v1/encryption-keys", {}],
];

/** The status of a call with a key, the restricted one unless named, through a port of this machine. */
async function statusThrough(port: number, [endpoint, path, init]: Asked, presented = key): Promise<number> {
  const scheme = endpoint === "rpc" ? "https" : "http";
  const answer = await fetch(`${scheme}://localhost:${port}${path}`, {
    ...init,
    headers: { "x-api-key": presented, "content-type": "application/json", connection: "close" },
    tls: { ca: authority.certificate },
  });
  await answer.arrayBuffer();
  // The oracle gives this tier a request a second; who is told to wait was let in.
  return answer.status === 429 ? 200 : answer.status;
}

test("restrictions of a key are about the address of the header, in both versions, also before TLS", async () => {
  for (const call of asked) {
    for (const version of [version1, version2]) {
      const statuses = [];
      for (const address of [client, "192.0.2.8", client]) {
        statuses.push(await statusThrough(await proxy(call[0], version(address)), call));
      }
      expect([call[0], statuses]).toEqual([call[0], [200, 403, 200]]);
    }
  }
}, 30_000);

test("a header of anybody else counts for nothing, and neither does its absence", async () => {
  for (const call of asked) {
    const [endpoint] = call;
    const direct = await proxy(endpoint, Buffer.alloc(0), "127.0.0.1");
    expect([endpoint, await statusThrough(direct, call)]).toEqual([endpoint, 403]);
    const lying = statusThrough(await proxy(endpoint, version1(client), "127.0.0.1"), call).catch(() => "closed");
    expect([400, "closed"]).toContain(await lying);
  }
});

test("a connection of the proxy without a header is closed, and counted", async () => {
  for (const call of asked) {
    const port = await proxy(call[0], Buffer.alloc(0));
    await expect(statusThrough(port, call)).rejects.toThrow();
  }
  const metrics = await (await fetch(network.dev.doors["metrics"] ?? "")).text();
  expect(metrics).toContain('sluice_proxy_headers_refused_total{fault="malformed"} 3');
});

test("gRPC with and without TLS has the address of the header, and the names of who resolves are answered", async () => {
  const ca = credentials.createSsl(readFileSync(join(network.directory, "dev-ca.pem")));
  for (const [endpoint, tls] of [
    ["engineGrpc", null],
    ["engineGrpcTls", ca],
  ] as const) {
    const outcomes: unknown[] = [];
    for (const address of [client, "192.0.2.8"]) {
      const port = await proxy(endpoint, version2(address));
      using caller = new PlainClient(port, { file: protoFiles.searcher, service: "searcher.SearcherService", tls });
      const ended = await caller.call("GetTipAccounts", {}, { "x-api-key": key });
      outcomes.push(ended.status);
    }
    expect([endpoint, outcomes]).toEqual([endpoint, ["OK", "PERMISSION_DENIED"]]);
  }
  const yellowstone: unknown[] = [];
  for (const address of [client, "192.0.2.8"]) {
    const port = await proxy("yellowstone", version2(address));
    using caller = new PlainClient(port, { file: protoFiles.geyser, service: "geyser.Geyser" });
    yellowstone.push((await caller.call("GetVersion", {}, { "x-token": keyOfStreams })).status);
  }
  expect(yellowstone).toEqual(["OK", "PERMISSION_DENIED"]);
  const resolver = await proxy("resolver", version1(client));
  expect((await fetch(`http://127.0.0.1:${resolver}/health`)).status).toBe(200);
}, 30_000);

const haproxy = Bun.which("haproxy") ?? Bun.which("haproxy", { PATH: "/usr/sbin:/sbin" });
if (haproxy === null) console.warn("NOT RUN: HAProxy in front of the server (there is no haproxy on this machine)");

/** What HAProxy says through its own socket of each endpoint: one line for each of its servers. */
async function haproxyServers(socketPath: string): Promise<string[]> {
  const socket = connect(socketPath);
  socket.end("show stat\n");
  let said = "";
  for await (const chunk of socket) said += String(chunk);
  return said.split("\n").filter((line) => line.split(",")[1] === "one");
}

/** HAProxy before the three endpoints of `asked`, once its checks found them up; gives its ports in their order. */
async function startHaproxy(version: "send-proxy" | "send-proxy-v2"): Promise<readonly number[]> {
  const directory = mkdtempSync(join(tmpdir(), "sluice-haproxy-"));
  resources.defer(() => rmSync(directory, { recursive: true, force: true }));
  const ports = await Promise.all(asked.map(freePort));
  const listeners = asked.map(([endpoint], index) => [
    `listen ${endpoint}`,
    `  bind 127.0.0.1:${ports[index]}`,
    `  server one 127.0.0.1:${portOf(endpoint)} source 127.0.0.2 ${version} check inter 200ms check-send-proxy`,
  ]);
  const times = ["connect", "client", "server", "check"].map((name) => `  timeout ${name} 10s`);
  const control = join(directory, "control.sock");
  const text = [
    "global",
    `  stats socket ${control}`,
    "defaults",
    "  mode tcp",
    ...times,
    ...listeners.flat(),
    "",
  ].join("\n");
  writeFileSync(join(directory, "haproxy.cfg"), text);
  const child = Bun.spawn([haproxy ?? "", "-db", "-f", join(directory, "haproxy.cfg")], { stderr: "inherit" });
  resources.defer(async () => {
    child.kill("SIGKILL");
    await child.exited;
  });
  const isUp = (line: string): boolean => line.includes(",UP,") && line.includes(",L4OK,");
  await eventually("HAProxy's checks find all endpoints up", async () => {
    const servers = await haproxyServers(control).catch(() => []);
    return servers.filter(isUp).length === asked.length;
  });
  return ports;
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address() as { port: number };
  await new Promise<void>((resolve) => probe.close(() => resolve()));
  return port;
}

test.skipIf(haproxy === null)(
  "a real HAProxy, in both versions and with checks of its own, has its clients told apart by their address",
  async () => {
    const refusedHeaders = async (): Promise<string[]> => {
      const metrics = await (await fetch(network.dev.doors["metrics"] ?? "")).text();
      return metrics.match(/^sluice_proxy_headers_refused_total.*$/gm) ?? [];
    };
    const before = await refusedHeaders();
    for (const version of ["send-proxy-v2", "send-proxy"] as const) {
      const ports = await startHaproxy(version);
      for (const [index, call] of asked.entries()) {
        const port = ports[index] ?? 0;
        const from = async (address: string) =>
          statusThrough(await relay(port, Buffer.alloc(0), address), call, keyBehindHaproxy);
        const statuses = [await from(behindHaproxy), await from("127.0.0.8"), await from(behindHaproxy)];
        expect([version, call[0], statuses]).toEqual([version, call[0], [200, 403, 200]]);
      }
    }
    expect(await refusedHeaders()).toEqual(before);
  },
  30_000,
);

test("PubSub has the address of the header too", async () => {
  const subscribed = async (address: string): Promise<string> => {
    const port = await proxy("pubsub", version1(address));
    const socket = new WebSocket(`wss://localhost:${port}/?api-key=${key}`, {
      tls: { ca: authority.certificate },
    } as never);
    let outcome = "";
    socket.onopen = () => {
      socket.send('{"jsonrpc":"2.0","id":1,"method":"slotSubscribe"}');
    };
    socket.onmessage = ({ data }) => {
      outcome ||= JSON.parse(String(data)).error?.data?.code ?? "served";
      socket.close();
    };
    socket.onclose = () => {
      outcome ||= "refused";
    };
    return await eventually("an outcome", () => outcome !== "" && outcome);
  };
  expect([await subscribed(client), await subscribed("192.0.2.8")]).toEqual(["served", "IP_NOT_ALLOWED"]);
});

test("a configuration without proxies that may be believed is refused with the key's name", async () => {
  const env = { PROXY_PROTOCOL: "v1v2", MASTER_KEY: "5e".repeat(32) };
  const { code, err, out } = await runSluice(["config", "check"], { directory: network.directory, env });
  expect([code, out + err]).toEqual([1, expect.stringContaining("TRUSTED_PROXIES")]);
});
