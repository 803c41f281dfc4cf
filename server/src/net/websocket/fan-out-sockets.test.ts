import { expect, test } from "bun:test";
import { connect as connectPlain, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { ManualClock, systemClock } from "@sluice/lib";
import { until } from "@sluice/lib/testing";
import { FrontedPeers, fixedCertificate, HttpServer, TlsFront } from "../index.ts";
import { certifyAuthority, certifyServer } from "../tls/certificate.ts";
import { FanOut } from "./fan-out.ts";
import { WebSocketServer } from "./server.ts";
import { GroupSession, textsOf } from "./testing/fan-out-clients.ts";

const handshake =
  "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
const day = 86_400_000;
const termsOf = (name: string) => ({
  name,
  notBefore: Date.now() - day,
  notAfter: Date.now() + day,
  serial: crypto.getRandomValues(new Uint8Array(16)),
});

/** Messages that a client has read, by the numbers with which they begin. */
function reader(socket: Socket): { readonly read: () => { readonly numbers: number[]; readonly code: number | null } } {
  const pieces: Buffer[] = [];
  socket.on("data", (bytes) => pieces.push(Buffer.from(bytes)));
  socket.on("error", () => undefined);
  socket.write(handshake);
  return {
    read: () => {
      const all = Buffer.concat(pieces).toString("latin1");
      const { texts, code } = textsOf(all.slice(all.indexOf("\r\n\r\n") + 4));
      return { numbers: texts.map((text) => Number.parseInt(text, 10)), code };
    },
  };
}

test("clients that do not read, behind the TLS front too, delay no other, and get all in order when they read again", async () => {
  await using open = new AsyncDisposableStack();
  const errors: unknown[] = [];
  const events = { internalError: (_where: string, error: unknown) => void errors.push(error) };
  const fanOut = new FanOut({ failed: (error) => errors.push(error) });
  const group = fanOut.group("all");
  const sessions: GroupSession[] = [];
  const webSockets = open.use(new WebSocketServer({ clock: new ManualClock(), events }));
  const refused = { status: 400, fields: "", body: "" };
  const peers = new FrontedPeers();
  const server = open.use(
    new HttpServer(
      { hostname: "127.0.0.1", port: 0 },
      {
        clock: systemClock,
        events,
        peers,
        refusal: () => refused,
        answer: (request) => {
          const session = new GroupSession();
          sessions.push(session);
          return webSockets.upgrade(request, session) ?? refused;
        },
      },
    ),
  );
  const authority = await certifyAuthority(termsOf("authority"));
  const { certificate, privateKey } = await certifyServer(termsOf("server"), ["127.0.0.1"], authority);
  const front = open.use(
    await TlsFront.open(
      { endpoint: "test", hostname: "127.0.0.1", port: 0, innerPort: server.port, connectionsMax: 10 },
      { clock: systemClock, certificate: fixedCertificate({ certificateChain: certificate, privateKey }), peers },
    ),
  );
  const sockets: Socket[] = [
    connectTls({ port: front.port, host: "127.0.0.1", rejectUnauthorized: false }),
    connectPlain({ port: server.port, host: "127.0.0.1" }),
    connectPlain({ port: server.port, host: "127.0.0.1" }),
  ];
  open.defer(() => sockets.forEach((socket) => void socket.destroy()));
  const readers = sockets.map(reader);
  await until(() => webSockets.size === 3);
  for (const session of sessions) session.join(group);
  const [secure, plain] = sockets;
  secure?.pause();
  plain?.pause();
  const filler = "x".repeat(100_000);
  let published = 0;
  // Until what the network holds is full for both that do not read.
  await until(() => {
    for (let count = 0; count < 5; count += 1) group.publish(`${published++} ${filler}`);
    return sessions.filter(({ unsentBytes }) => unsentBytes > 1_000_000).length >= 2;
  });
  fanOut.endTurn();
  const all = Array.from({ length: published }, (_, number) => number);
  await until(() => readers[2]?.read().numbers.length === published);
  expect(readers[2]?.read().numbers).toEqual(all);
  expect(sessions.filter(({ unsentBytes }) => unsentBytes > 0)).toHaveLength(2);
  // The end comes behind what waits.
  webSockets.drain();
  secure?.resume();
  plain?.resume();
  await until(() => readers.every(({ read }) => read().code !== null));
  expect(readers.map(({ read }) => read())).toEqual(sockets.map(() => ({ numbers: all, code: 1001 })));
  expect([errors, group.size]).toEqual([[], 0]);
}, 30_000);
