import { afterEach, beforeEach, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect as connectPlain } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ConnectionOptions, connect, type TLSSocket } from "node:tls";
import { credentials } from "@grpc/grpc-js";
import { protoFiles } from "@sluice/contract/proto";
import { ManualClock, systemClock } from "@sluice/lib";
import { until } from "@sluice/lib/testing";
import { FrontedPeers } from "../fronted-peers.ts";
import { GrpcServer } from "../grpc/grpc.ts";
import { loadService } from "../grpc/service.ts";
import { PlainClient } from "../grpc/testing/grpc-client.ts";
import { HttpServer } from "../http1/server/server.ts";
import { AppListener } from "../listener/app-listener.ts";
import { ListenError } from "../listener/listen-error.ts";
import { type Certified, certifyAuthority, certifyServer } from "./certificate.ts";
import { CertificateFault, CertificateFiles } from "./certificate-files.ts";
import { TlsFront } from "./tls-front.ts";

const day = 86_400_000;
const termsOf = (name: string) => ({
  name,
  notBefore: Date.now() - day,
  notAfter: Date.now() + 30 * day,
  serial: crypto.getRandomValues(new Uint8Array(16)),
});
const authority = await certifyAuthority(termsOf("authority"));
const certified = (name: string): Promise<Certified> =>
  certifyServer(termsOf(name), ["localhost", "127.0.0.1"], authority);
const [first, second] = await Promise.all([certified("first"), certified("second")]);

let directory: string;
let told: string[];
let clock: ManualClock;
let open: AsyncDisposableStack;
const events = {
  certificateTaken: (_file: string, endsAt: number) => void told.push(`taken until ${endsAt > Date.now()}`),
  certificateRefused: (_file: string, cause: string) => void told.push(cause),
};
const paths = () => ({ certificate: join(directory, "a.pem"), key: join(directory, "a.key") });
function place({ certificate, privateKey }: Certified): void {
  writeFileSync(paths().certificate, certificate);
  writeFileSync(paths().key, privateKey);
}

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "sluice-front-"));
  told = [];
  clock = new ManualClock(Date.now());
  open = new AsyncDisposableStack();
  place(first);
});
afterEach(async () => {
  await open.disposeAsync();
  rmSync(directory, { recursive: true, force: true });
});

const filesOf = (): CertificateFiles => open.use(new CertificateFiles(paths(), { clock, events }));

/** A server whose answers name the client's address, and TLS before it. */
async function serve(
  options: { readonly connectionsMax?: number; readonly handshakeMs?: number; readonly body?: string } = {},
) {
  const certificate = filesOf();
  const peers = new FrontedPeers();
  const server = open.use(
    new HttpServer(
      { hostname: "127.0.0.1", port: 0 },
      {
        clock: systemClock,
        events: { internalError: (_where, error) => void told.push(String(error)) },
        answer: ({ socketAddress }) => ({ status: 200, fields: "", body: options.body ?? socketAddress }),
        refusal: () => ({ status: 400, fields: "", body: "" }),
        peers,
      },
    ),
  );
  const bounds = { connectionsMax: 100, ...options };
  const front = open.use(
    await TlsFront.open(
      { endpoint: "gateway", hostname: "127.0.0.1", port: 0, innerPort: server.port, ...bounds },
      { clock, certificate, peers },
    ),
  );
  return { front, server, certificate };
}

/** A client's connection, once its handshake is over; null when the handshake failed. */
function handshake(
  port: number,
  options: ConnectionOptions & { localAddress?: string } = {},
): Promise<TLSSocket | null> {
  const terms = { port, host: "127.0.0.1", ca: authority.certificate, ...options };
  return new Promise((resolve) => {
    const socket = connect(terms, () => resolve(socket));
    open.defer(() => void socket.destroy());
    socket.on("error", () => resolve(null));
  });
}

const subject = (socket: TLSSocket | null): unknown => socket?.getPeerCertificate().subject.CN;

async function ask(socket: TLSSocket | null): Promise<string> {
  if (socket === null) return "no connection";
  let received = "";
  socket.on("data", (bytes) => {
    received += bytes;
  });
  socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await until(() => received.includes("\r\n\r\n") && !received.endsWith("\r\n\r\n"));
  socket.removeAllListeners("data");
  return received.split("\r\n\r\n")[1] ?? "";
}

test("a new certificate is used from the next handshake on, and connections that are open go on", async () => {
  const { front, certificate } = await serve();
  const before = await handshake(front.port);
  expect([subject(before), await ask(before)]).toEqual(["first", "127.0.0.1"]);
  place(second);
  certificate.look();
  const after = await handshake(front.port);
  expect([subject(after), await ask(after)]).toEqual(["second", "127.0.0.1"]);
  expect([subject(before), await ask(before)]).toEqual(["first", "127.0.0.1"]);
  expect(told).toEqual(["taken until true", "taken until true"]);
});

test("files are read again every ten seconds, and a link that is replaced is seen", async () => {
  const { front } = await serve();
  const elsewhere = join(directory, "elsewhere");
  writeFileSync(elsewhere, second.certificate);
  copyFileSync(elsewhere, paths().certificate);
  writeFileSync(paths().key, second.privateKey);
  clock.advance(10_000);
  expect(subject(await handshake(front.port))).toBe("second");
});

test("what cannot be used changes nothing and is reported once, when it is still there at the second look", async () => {
  const { front, certificate } = await serve();
  told = [];
  const broken: readonly (readonly [() => void, string])[] = [
    [() => writeFileSync(paths().certificate, second.certificate), "the key belongs to another certificate"],
    [() => writeFileSync(paths().certificate, "no PEM"), "it is no certificate in PEM form"],
    [() => rmSync(paths().certificate), "the file of the certificate cannot be read, or is empty"],
    [() => writeFileSync(paths().key, ""), "the file of the certificate cannot be read, or is empty"],
  ];
  for (const [damage, cause] of broken) {
    damage();
    certificate.look();
    expect(told).toEqual([]);
    certificate.look();
    certificate.look();
    expect(told).toEqual([cause]);
    told = [];
    expect(subject(await handshake(front.port))).toBe("first");
  }
  place(second);
  certificate.look();
  expect(told).toEqual(["taken until true"]);
  expect(subject(await handshake(front.port))).toBe("second");
});

test("a start with files that cannot be used ends with their name and the cause, and shows nothing of the key", () => {
  writeFileSync(paths().key, "-----BEGIN PRIVATE KEY-----\nsecret\n-----END PRIVATE KEY-----\n");
  const fault = (() => {
    try {
      return filesOf();
    } catch (error) {
      return error;
    }
  })();
  expect(fault).toBeInstanceOf(CertificateFault);
  expect(String(fault)).toContain(`${paths().certificate} cannot be used: its key is no private key in PEM form`);
  expect(String(fault)).not.toContain("secret");
});

test("only TLS 1.2 and later are spoken, also after a new certificate, and only HTTP/1.1 over them", async () => {
  const { front, certificate } = await serve();
  for (const now of [first, second]) {
    place(now);
    certificate.look();
    const old = { minVersion: "TLSv1", maxVersion: "TLSv1.1" } as const;
    expect(await handshake(front.port, old)).toBeNull();
    const older = await handshake(front.port, { maxVersion: "TLSv1.2", ALPNProtocols: ["http/1.1"] });
    expect([older?.getProtocol(), older?.alpnProtocol]).toEqual(["TLSv1.2", "http/1.1"]);
    expect(await handshake(front.port, { ALPNProtocols: ["h2"] })).toBeNull();
  }
});

test("an answer of megabytes arrives whole, at a client that reads slowly too", async () => {
  const body = "x".repeat(8 * 1024 * 1024);
  const { front } = await serve({ body });
  const socket = await handshake(front.port);
  let received = 0;
  socket?.on("data", (bytes: Buffer) => {
    received += bytes.length;
    socket.pause();
    setImmediate(() => socket.resume());
  });
  socket?.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  await until(() => received >= body.length, 30_000);
  expect(received).toBeGreaterThan(body.length);
});

test("who makes no handshake is closed in time, and so is one more than may be open", async () => {
  const { front } = await serve({ connectionsMax: 2, handshakeMs: 1_000 });
  const silent = connectPlain({ port: front.port, host: "127.0.0.1" });
  open.defer(() => void silent.destroy());
  let isClosed = false;
  silent.once("close", () => {
    isClosed = true;
  });
  const one = await handshake(front.port);
  expect(await ask(one)).toBe("127.0.0.1");
  expect(await handshake(front.port)).toBeNull();
  expect(isClosed).toBe(false);
  clock.advance(1_000);
  await until(() => isClosed);
  expect(await ask(one)).toBe("127.0.0.1");
  expect(await ask(await handshake(front.port))).toBe("127.0.0.1");
});

test("while it closes no new connection is taken, and one that is open has its answer", async () => {
  const { front } = await serve();
  const socket = await handshake(front.port);
  front.close();
  expect(await handshake(front.port)).toBeNull();
  expect(await ask(socket)).toBe("127.0.0.1");
});

test("the client's own address is known behind TLS, in requests and in WebSockets", async () => {
  const certificate = filesOf();
  const peers = new FrontedPeers();
  const seen: string[] = [];
  const listener = open.use(
    new AppListener(
      { hostname: "127.0.0.1", port: 0 },
      {
        clock: systemClock,
        fetch: (_request, { socketAddress }) => new Response(socketAddress),
        sockets: [
          {
            serves: (path) => path === "/socket",
            begin: (request, peer) => {
              seen.push(peer.requestIP(request)?.address ?? "");
              throw new Error("enough");
            },
          },
        ],
        requestId: () => "r",
        events: { internalError: () => {} },
        peers,
      },
    ),
  );
  const front = open.use(
    await TlsFront.open(
      { endpoint: "oracle", hostname: "127.0.0.1", port: 0, innerPort: listener.port, connectionsMax: 9 },
      { clock, certificate, peers },
    ),
  );
  const client = await handshake(front.port, { localAddress: "127.0.0.9" });
  expect(await ask(client)).toBe("127.0.0.9");
  client?.write(
    "GET /socket HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
  );
  await until(() => seen.length > 0);
  expect(seen).toEqual(["127.0.0.9"]);
  // Who comes to the inner port by itself is who it is.
  expect(await (await fetch(`http://127.0.0.1:${listener.port}/`)).text()).toBe("127.0.0.1");
});

test("a port that is taken is named with its endpoint", async () => {
  const { front, certificate } = await serve();
  const again = TlsFront.open(
    { endpoint: "oracle", hostname: "127.0.0.1", port: front.port, innerPort: 1, connectionsMax: 1 },
    { clock, certificate, peers: new FrontedPeers() },
  );
  await expect(again).rejects.toBeInstanceOf(ListenError);
});

test("gRPC takes a new certificate too, while calls of before go on", async () => {
  const certificate = filesOf();
  const answered = (_call: unknown, answer: (fault: null, message: object) => void): void =>
    answer(null, { tip_floor: "7" });
  const service = {
    definition: loadService(protoFiles.blockEngine, "blockengine.v1.BlockEngine"),
    implementation: {
      SubmitBundle: answered,
      SubmitBundleStream: () => {},
      GetTipFloor: answered,
      GetReputation: answered,
    },
  };
  const server = open.use(
    await GrpcServer.open(
      { endpoint: "engine", hostname: "127.0.0.1", port: 0, tls: certificate },
      { clock: systemClock, services: [service], isServing: () => true },
    ),
  );
  const ours = { file: protoFiles.blockEngine, service: "blockengine.v1.BlockEngine" };
  const tls = credentials.createSsl(Buffer.from(authority.certificate));
  using client = new PlainClient(server.port, { ...ours, tls });
  expect(await client.call("GetTipFloor")).toMatchObject({ status: "OK", message: { tip_floor: "7" } });
  const h2 = { ALPNProtocols: ["h2"] };
  expect(subject(await handshake(server.port, h2))).toBe("first");
  place(second);
  certificate.look();
  const after = await handshake(server.port, h2);
  expect([subject(after), after?.alpnProtocol]).toEqual(["second", "h2"]);
  expect(await client.call("GetTipFloor")).toMatchObject({ status: "OK", message: { tip_floor: "7" } });
  const old = { minVersion: "TLSv1", maxVersion: "TLSv1.1", ...h2 } as const;
  expect(await handshake(server.port, old)).toBeNull();
});
