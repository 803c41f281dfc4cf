import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { eventually } from "@sluice/lib/testing";
import { type Certified, certifyAuthority, certifyServer } from "../src/net/tls/certificate.ts";
import { type Network, runSluice, startNetwork } from "./testing/network.ts";

/** A whole server whose endpoints speak TLS by a certificate that is replaced while it serves. */

const day = 86_400_000;
const termsOf = (name: string) => ({
  name,
  notBefore: Date.now() - day,
  notAfter: Date.now() + 30 * day,
  serial: crypto.getRandomValues(new Uint8Array(16)),
});

let directory: string;
let authority: Certified;
let network: Network;

const paths = () => ({ TLS_CERT_FILE: join(directory, "a.pem"), TLS_KEY_FILE: join(directory, "a.key") });

async function place(name: string): Promise<void> {
  const { certificate, privateKey } = await certifyServer(termsOf(name), ["localhost", "127.0.0.1"], authority);
  for (const [path, text] of [
    [paths().TLS_CERT_FILE, certificate],
    [paths().TLS_KEY_FILE, privateKey],
  ] as const) {
    writeFileSync(`${path}.new`, text);
    renameSync(`${path}.new`, path);
  }
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "sluice-tls-files-"));
  authority = await certifyAuthority(termsOf("authority"));
  await place("first");
  network = await startNetwork({ env: paths() });
}, 60_000);

afterAll(async () => {
  await network[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});

const door = (name: string): string => network.dev.doors[name] ?? "";
const trusting = () => ({ tls: { ca: authority.certificate } });
const headers = () => ({ "X-API-Key": network.dev.key, "Content-Type": "application/json" });
const getSlot = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "getSlot" });

/** The name that the certificate of a port is for. */
function nameAt(address: string): Promise<string> {
  const { hostname, port } = new URL(address);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), ca: authority.certificate }, () => {
      const { CN } = socket.getPeerCertificate().subject;
      socket.destroy();
      resolve(String(CN));
    });
    socket.once("error", reject);
  });
}

test("every endpoint of customers is called over TLS, and none without", async () => {
  const asked: readonly (readonly [string, string])[] = [
    ["rpc", "/ready"],
    ["oracle", "/health"],
    ["resolver", "/health"],
    ["engineRest", "/api/v1/status"],
  ];
  for (const [name, path] of asked) {
    const { origin } = new URL(door(name));
    expect([name, origin.startsWith("https://")]).toEqual([name, true]);
    expect([name, (await fetch(`${origin}${path}`, trusting())).status]).toEqual([name, 200]);
    const plain = fetch(`${origin.replace("https://", "http://")}${path}`);
    await expect(plain).rejects.toThrow();
  }
  expect(door("engineGrpcTls")).toStartWith("https://");
  expect(await nameAt(door("engineGrpcTls"))).toBe("first");
  const answer = await fetch(door("rpc"), { method: "POST", headers: headers(), body: getSlot, ...trusting() });
  expect(await answer.json()).toMatchObject({ result: expect.any(Number) });
}, 60_000);

test("subscriptions run over TLS on both ports, and go on while the certificate is replaced", async () => {
  const counts = [0, 0];
  const sockets = [door("pubsub"), door("rpc").replace("https://", "wss://")].map((address, index) => {
    expect(address).toStartWith("wss://");
    // The runtime's own WebSocket takes terms of TLS, which the type of the platform's lacks.
    const socket = Reflect.construct(WebSocket, [`${address}?api-key=${network.dev.key}`, trusting()]) as WebSocket;
    socket.onopen = () => socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "slotSubscribe" }));
    socket.onmessage = () => {
      counts[index] = (counts[index] ?? 0) + 1;
    };
    return socket;
  });
  await eventually("notices of slots", () => counts.every((count) => count > 2));
  await place("second");
  await eventually(
    "the second certificate",
    async () =>
      (await Promise.all([door("rpc"), door("engineGrpcTls")].map(nameAt))).every((name) => name === "second"),
    40_000,
  );
  const before = [...counts];
  await eventually("more notices", () => counts.every((count, index) => count > (before[index] ?? 0) + 2));
  expect(sockets.map(({ readyState }) => readyState)).toEqual([WebSocket.OPEN, WebSocket.OPEN]);
  for (const socket of sockets) socket.close();
}, 90_000);

test("a cookie of the console is for TLS alone", async () => {
  const { origin } = new URL(door("rpc"));
  const answer = await fetch(`${origin}/api/v1/console/session`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Origin: origin },
    body: JSON.stringify({ key: network.dev.key }),
    ...trusting(),
  });
  expect(answer.headers.get("set-cookie")).toContain("Secure");
}, 30_000);

test("a start with files that cannot be used says which and why", async () => {
  const elsewhere = mkdtempSync(join(tmpdir(), "sluice-tls-start-"));
  const env = { ...paths(), TLS_KEY_FILE: join(directory, "missing.key"), MASTER_KEY: "ab".repeat(32), ORACLE: "off" };
  const { code, err } = await runSluice(["serve", "--port-offset", "21000"], { directory: elsewhere, env });
  expect(code).toBe(1);
  expect(err).toContain("the file of its key cannot be read");
  expect(err).not.toContain("    at ");
  rmSync(elsewhere, { recursive: true, force: true });
}, 60_000);
