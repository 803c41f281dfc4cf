import { afterEach, expect, test } from "bun:test";
import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { gzipSync } from "node:zlib";
import { systemClock } from "@sluice/lib";
import { createGuardedFetch } from "./guarded-fetch.ts";
import type { EgressOptions, EgressOutcome, ResolvedAddress } from "./outcome.ts";

const opened: (() => void)[] = [];
afterEach(() => {
  for (const close of opened.splice(0)) close();
});

/** A certificate for hooks.example.com that signs itself, with its key; made for these tests and of no other use. */
const certificate = `-----BEGIN CERTIFICATE-----
MIIBrTCCAVOgAwIBAgIULF5Fmo3rIvHHImLs9duoca9HN2QwCgYIKoZIzj0EAwIw
HDEaMBgGA1UEAwwRaG9va3MuZXhhbXBsZS5jb20wIBcNMjYxMTIwMTIyOTI4WhgP
MjEyNjEwMjcxMjI5MjhaMBwxGjAYBgNVBAMMEWhvb2tzLmV4YW1wbGUuY29tMFkw
EwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEgj403lOEjwf2n1svrSkiPhKEmEWSRIQc
+frpMOtqiV1VYVMC/aYqcaETK+6TpEZWWZQXVVlmnnJwh7sPwh2tD6NxMG8wHQYD
VR0OBBYEFOGnFcelAFtvX9MOfRLU23gWD9NiMB8GA1UdIwQYMBaAFOGnFcelAFtv
X9MOfRLU23gWD9NiMA8GA1UdEwEB/wQFMAMBAf8wHAYDVR0RBBUwE4IRaG9va3Mu
ZXhhbXBsZS5jb20wCgYIKoZIzj0EAwIDSAAwRQIgaObsUaxBdDCWtrxW7sF36exN
S0KrAa3ZenAbwwBbCAgCIQDbhxTgJVH+H8TynX3OGPjefHIVmvtdvBM1qrt6VXbj
Aw==
-----END CERTIFICATE-----`;
const certificateKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgzn/LjB9yna316snf
QoqepnB33AQSNH4VxaHdGiZaMVOhRANCAASCPjTeU4SPB/afWy+tKSI+EoSYRZJE
hBz5+ukw62qJXVVhUwL9pipxoRMr7pOkRlZZlBdVWWaecnCHuw/CHa0P
-----END PRIVATE KEY-----`;

interface Target {
  readonly port: number;
  readonly received: string[];
  readonly localAddresses: (string | undefined)[];
}

/** A raw TCP (or TLS) server on loopback, so that an answer can break every rule. */
async function bootTarget(answer: (socket: Socket) => void, tls = false): Promise<Target> {
  const received: string[] = [];
  const localAddresses: (string | undefined)[] = [];
  const sockets = new Set<Socket>();
  const onConnection = (socket: Socket): void => {
    sockets.add(socket);
    localAddresses.push(socket.localAddress);
    socket.on("error", () => undefined);
    let answered = false;
    socket.on("data", (bytes) => {
      received.push(bytes.toString());
      if (!answered) answer(socket);
      answered = true;
    });
  };
  const server: Server = tls
    ? createTlsServer({ cert: certificate, key: certificateKey }, onConnection)
    : createServer(onConnection);
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  opened.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return { port: address.port, received, localAddresses };
}

type Options = Partial<EgressOptions> & { resolve?: (hostname: string) => Promise<ResolvedAddress[]> };

const loopback = async (): Promise<ResolvedAddress[]> => [{ address: "127.0.0.1", family: 4 }];
const guarded = ({ resolve = loopback, ...options }: Options = {}) =>
  createGuardedFetch(
    { allowHttp: true, allowedPrivateRanges: ["127.0.0.0/8"], ...options },
    { clock: systemClock, resolve },
  );

const post = { method: "POST", body: "{}", timeoutMs: 2_000, headers: { "Content-Type": "application/json" } } as const;
const failureOf = (outcome: EgressOutcome): string => (outcome.ok ? `answered ${outcome.status}` : outcome.failure);
const endWith = (text: string) => (socket: Socket) => socket.end(text);

test("an answer comes back with status, headers and body, and the request names the host and not its address", async () => {
  const target = await bootTarget(endWith("HTTP/1.1 202 Accepted\r\nX-A: 1\r\nContent-Length: 2\r\n\r\nok"));
  const outcome = await guarded()(`http://hooks.example.com:${target.port}/in?x=1`, post);
  expect(outcome).toMatchObject({ ok: true, status: 202, truncated: false });
  if (!outcome.ok) throw new Error("refused");
  expect(new TextDecoder().decode(outcome.body)).toBe("ok");
  expect(outcome.headers["x-a"]).toBe("1");
  const request = target.received.join("");
  expect(request).toStartWith("POST /in?x=1 HTTP/1.1\r\n");
  expect(request.toLowerCase()).toContain(`host: hooks.example.com:${target.port}\r\n`);
  expect(request.toLowerCase()).toContain("content-length: 2\r\n");
  expect(request).toEndWith("{}");
});

test("the caller's headers cannot name another host or length", async () => {
  const target = await bootTarget(endWith("HTTP/1.1 204 No Content\r\n\r\n"));
  const headers = { Host: "internal", "Content-Length": "999", "Transfer-Encoding": "chunked", "X-Ours": "1" };
  expect(failureOf(await guarded()(`http://a.example:${target.port}/`, { ...post, headers }))).toBe("answered 204");
  const request = target.received.join("").toLowerCase();
  expect(request).not.toContain("internal");
  expect(request).not.toContain("999");
  expect(request).not.toContain("chunked");
  expect(request).toContain("x-ours: 1");
});

test("a redirect is an answer and is not followed", async () => {
  const second = await bootTarget(endWith("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
  const location = `http://127.0.0.1:${second.port}/`;
  const target = await bootTarget(endWith(`HTTP/1.1 307 Moved\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`));
  const outcome = await guarded()(`http://a.example:${target.port}/`, post);
  expect(failureOf(outcome)).toBe("answered 307");
  expect(second.received).toEqual([]);
});

test("a name that leads to a private address is refused before a byte is sent", async () => {
  const target = await bootTarget(endWith("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
  const url = `http://localtest.example:${target.port}/`;
  expect(failureOf(await guarded({ allowedPrivateRanges: [] })(url, post))).toBe("address_not_allowed");
  const mixed = async (): Promise<ResolvedAddress[]> => [
    { address: "127.0.0.1", family: 4 },
    { address: "10.0.0.1", family: 4 },
  ];
  expect(failureOf(await guarded({ resolve: mixed })(url, post))).toBe("address_not_allowed");
  const metadata = async (): Promise<ResolvedAddress[]> => [{ address: "169.254.169.254", family: 4 }];
  expect(failureOf(await guarded({ resolve: metadata, allowedPrivateRanges: ["0.0.0.0/0"] })(url, post))).toBe(
    "address_not_allowed",
  );
  expect(target.received).toEqual([]);
});

test("a name that changes its address after the first answer is judged by the answer that is connected to", async () => {
  const target = await bootTarget(endWith("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
  let asked = 0;
  const rebinding = async (): Promise<ResolvedAddress[]> => {
    asked += 1;
    return [{ address: asked === 1 ? "127.0.0.2" : "127.0.0.1", family: 4 }];
  };
  // Only the first answer is within the policy; if anything resolved again, it would meet the second.
  const fetch = guarded({ resolve: rebinding, allowedPrivateRanges: ["127.0.0.2/32"] });
  const outcome = await fetch(`http://rebind.example:${target.port}/`, post);
  expect(outcome.ok).toBe(false);
  expect(asked).toBe(1);
  expect(target.localAddresses).toEqual([]);
  expect(failureOf(await fetch(`http://rebind.example:${target.port}/`, post))).toBe("address_not_allowed");
  expect(target.received).toEqual([]);
});

test("an answer that drips is given up at the deadline, in its headers and in its body", async () => {
  const drip = (start: string) => (socket: Socket) => {
    socket.write(start);
    const timer = setInterval(() => socket.write("a"), 5);
    socket.on("close", () => clearInterval(timer));
  };
  for (const start of ["HTTP/1.1 200 OK\r\nX: ", "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"]) {
    const target = await bootTarget(drip(start));
    const outcome = await guarded()(`http://a.example:${target.port}/`, { ...post, timeoutMs: 60 });
    expect(failureOf(outcome)).toBe("timeout");
    expect(outcome.elapsedMs).toBeLessThan(1_000);
  }
});

test("a look-up that never answers is given up at the deadline", async () => {
  const silent = (): Promise<ResolvedAddress[]> => new Promise(() => undefined);
  expect(failureOf(await guarded({ resolve: silent })("http://a.example/", { ...post, timeoutMs: 30 }))).toBe(
    "timeout",
  );
});

test("an endless body is cut at its bound and the connection closed", async () => {
  let closed = (): void => undefined;
  const isClosed = new Promise<void>((resolve) => {
    closed = resolve;
  });
  const target = await bootTarget((socket) => {
    socket.write("HTTP/1.1 200 OK\r\n\r\n");
    const timer = setInterval(() => socket.write("x".repeat(8_192)), 1);
    socket.on("close", () => {
      clearInterval(timer);
      closed();
    });
  });
  const outcome = await guarded()(`http://a.example:${target.port}/`, post);
  if (!outcome.ok) throw new Error(outcome.failure);
  expect(outcome.truncated).toBe(true);
  expect(outcome.body.byteLength).toBe(16 * 1024);
  await isClosed;
});

test("a compressed answer is not inflated", async () => {
  const bomb = gzipSync(new Uint8Array(4 * 1024 * 1024));
  const target = await bootTarget((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${bomb.byteLength}\r\n\r\n`);
    socket.end(bomb);
  });
  const outcome = await guarded()(`http://a.example:${target.port}/`, { ...post, bodyBytesMax: 64 * 1024 });
  if (!outcome.ok) throw new Error(outcome.failure);
  expect(outcome.body.byteLength).toBe(bomb.byteLength);
});

test("headers over their bound, an answer that is no HTTP, and one that ends early are told apart", async () => {
  const outcomeOf = async (answer: string): Promise<string> => {
    const target = await bootTarget(endWith(answer));
    return failureOf(await guarded()(`http://a.example:${target.port}/`, post));
  };
  expect(await outcomeOf(`HTTP/1.1 200 OK\r\nX-Long: ${"a".repeat(40_000)}\r\n\r\n`)).toBe("headers_too_large");
  expect(await outcomeOf("SSH-2.0-OpenSSH_9.2\r\n")).toBe("malformed_answer");
  expect(await outcomeOf("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")).toBe("connection_lost");
});

test("a name without address and a port without listener are told apart", async () => {
  const unknown = async (): Promise<ResolvedAddress[]> => {
    throw Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" });
  };
  expect(failureOf(await guarded({ resolve: unknown })("http://a.example/", post))).toBe("dns_failed");
  expect(failureOf(await guarded({ resolve: async () => [] })("http://a.example/", post))).toBe("dns_failed");
  expect(failureOf(await guarded()("http://a.example:1/", post))).toBe("connect_failed");
});

test("a header with a line break is refused as the request's own fault", async () => {
  const target = await bootTarget(endWith("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
  const headers = { "X-A": "1\r\nX-Injected: 1" };
  expect(failureOf(await guarded()(`http://a.example:${target.port}/`, { ...post, headers }))).toBe("invalid_request");
  expect(target.received).toEqual([]);
});

test("TLS is checked against the host of the URL while the connection goes to the judged address", async () => {
  const target = await bootTarget(endWith("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), true);
  const trusting = guarded({ allowHttp: false, certificateAuthorities: [certificate] });
  expect(failureOf(await trusting(`https://hooks.example.com:${target.port}/`, post))).toBe("answered 200");
  expect(failureOf(await trusting(`https://other.example.com:${target.port}/`, post))).toBe("tls_failed");
  expect(failureOf(await guarded()(`https://hooks.example.com:${target.port}/`, post))).toBe("tls_failed");
});
