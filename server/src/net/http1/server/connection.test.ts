import { describe, expect, test } from "bun:test";
import { Connection, type Handled } from "./connection.ts";
import type { HttpRequest } from "./request.ts";
import { EchoOwner, receive } from "./testing/echo-owner.ts";
import { WireSocket } from "./testing/wire-socket.ts";

const times = { idleMs: 60_000, headMs: 10_000, lingerMs: 2_000, partingMs: 500 };
const post = (body: string, lines = "", start = "POST /rpc HTTP/1.1"): string =>
  `${start}\r\nHost: a\r\n${lines}Content-Length: ${body.length}\r\n\r\n${body}`;

function open(): {
  socket: WireSocket;
  owner: EchoOwner;
  connection: Connection;
  say: (text: string) => Promise<void>;
} {
  const socket = new WireSocket();
  const owner = new EchoOwner();
  const connection = new Connection(socket, owner);
  const say = async (text: string): Promise<void> => {
    connection.received(Buffer.from(text, "latin1"));
    for (let turn = 0; turn < 8; turn += 1) await Promise.resolve();
  };
  return { socket, owner, connection, say };
}

test("requests that come together are answered one after the other, those that wait for their body too", async () => {
  const chunked = "POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\ntwo\r\n0\r\n\r\n";
  const { reported, statuses, owner } = await receive([Buffer.from(post("one") + chunked + post("three"))]);
  expect(reported).toEqual(["POST /rpc - one", "POST /c - two", "POST /rpc - three"]);
  expect(statuses).toEqual([200, 200, 200]);
  expect(owner.pending).toBe(0);
});

test("a head that is sent again is understood as before, and one that differs in a byte as what it is", async () => {
  const { reported } = await receive(
    [post("1", "X-A: a\r\n"), post("2", "X-A: a\r\n"), post("3", "X-A: b\r\n")].map((text) => Buffer.from(text)),
  );
  expect(reported).toEqual(["POST /rpc a 1", "POST /rpc a 2", "POST /rpc b 3"]);
});

test("a body that is not read is thrown away before the next request, or ends the connection when it is large", async () => {
  const { reported, statuses } = await receive([
    Buffer.from(post("x".repeat(500), "", "POST /unread HTTP/1.1") + post("next")),
  ]);
  expect([reported, statuses]).toEqual([
    ["POST /unread - unread", "POST /rpc - next"],
    [200, 200],
  ]);
  const { socket, say, connection, owner } = open();
  await say("POST /unread HTTP/1.1\r\nHost: a\r\nContent-Length: 300000\r\n\r\n");
  expect(socket.written).toContain("Connection: close\r\n");
  expect([socket.closedBy, owner.pending]).toEqual(["shutdown", 0]);
  await say("x".repeat(1_000));
  owner.nowMs = times.lingerMs;
  connection.check(owner.nowMs, times);
  expect([socket.closedBy, owner.isEnded]).toEqual(["terminate", true]);
});

test("a chunked body that is not read and that does not end is not followed for ever", async () => {
  const { socket, say } = open();
  await say("POST /unread HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (let count = 0; count < 5; count += 1) await say(`ffff\r\n${"x".repeat(0xffff)}\r\n`);
  expect(socket.closedBy).toBe("terminate");
});

test("a body that is broken is reported to its reader, and is the last that is read", async () => {
  const bad = "POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n";
  const { reported, statuses, socket } = await receive([Buffer.from(bad + post("smuggled"))]);
  expect([reported, statuses, socket.closedBy]).toEqual([["POST /c - broken"], [200], "shutdown"]);
});

test("what is no request is refused with a status, once, and nothing after it is read", async () => {
  for (const [text, status] of [
    ["garbage\r\n\r\n", 400],
    ["POST / HTTP/1.1\nHost: a\n\n", 400],
    [`GET / HTTP/1.1\r\nX: ${"y".repeat(20_000)}`, 431],
    ["GET / HTTP/3.0\r\n\r\n", 505],
    ["\r\n\r\n\r\n\r\n\r\n\r\n", 400],
  ] as const) {
    const { statuses, socket } = await receive([Buffer.from(text), Buffer.from(post("after"))]);
    expect([text.slice(0, 20), statuses, socket.closedBy]).toEqual([text.slice(0, 20), [status], "shutdown"]);
  }
});

test("a client that waits for leave to send its body is given it when the body is requested, and not before", async () => {
  const { socket, say, owner } = open();
  await say("POST /rpc HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
  expect(socket.written).toBe("HTTP/1.1 100 Continue\r\n\r\n");
  await say("body");
  expect(owner.reported).toEqual(["POST /rpc - body"]);
  const other = open();
  await other.say("POST /unread HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
  expect(other.socket.written).toStartWith("HTTP/1.1 200 OK\r\nConnection: close");
});

test("HEAD is answered by a head alone, and HTTP/1.0 by an answer after which the connection ends", async () => {
  const head = await receive([Buffer.from("HEAD /rpc HTTP/1.1\r\nHost: a\r\n\r\n")]);
  expect(head.socket.written).toBe("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n");
  const old = await receive([Buffer.from(post("a", "", "POST /rpc HTTP/1.0"))]);
  expect(old.socket.written).toContain("Connection: close\r\n");
  expect(old.socket.closedBy).toBe("end");
});

test("an answer that a client does not take is kept until it does, and holds up the next request", async () => {
  const { socket, say, connection, owner } = open();
  socket.takes = 10;
  await say(post("first") + post("second"));
  expect([socket.written.length, owner.reported.length, owner.pending]).toEqual([10, 1, 1]);
  for (let count = 0; count < 40 && owner.pending > 0; count += 1) {
    connection.drained();
    for (let turn = 0; turn < 8; turn += 1) await Promise.resolve();
  }
  expect(owner.reported).toEqual(["POST /rpc - first", "POST /rpc - second"]);
  expect(socket.written).toEndWith("\r\n\r\nPOST /rpc - second");
  socket.takes = 0;
  await say(post("third"));
  owner.nowMs = times.idleMs;
  connection.check(owner.nowMs, times);
  expect([socket.closedBy, owner.isEnded, owner.pending]).toEqual(["terminate", true, 0]);
});

test("an upload stands still while its reader has enough of it, and goes on when that asks for more", async () => {
  const parts: string[] = [];
  const { socket, say, owner } = open();
  let request: HttpRequest | null = null;
  const ended = Promise.withResolvers<Handled>();
  owner.handle = (received) => {
    request = received;
    received.streamBody({
      part: (bytes, from, to) => {
        parts.push(Buffer.from(bytes.subarray(from, to)).toString());
        received.pauseBody();
      },
      end: () => ended.resolve({ status: 200, fields: "", body: "" }),
      fail: () => ended.resolve({ status: 400, fields: "", body: "" }),
    });
    return ended.promise;
  };
  await say("POST /rpc HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\none");
  expect([parts, socket.isPaused]).toEqual([["one"], true]);
  (request as HttpRequest | null)?.resumeBody();
  expect(socket.isPaused).toBe(false);
  await say("two");
  expect([parts, socket.isPaused]).toEqual([["one", "two"], false]);
  expect(socket.written).toStartWith("HTTP/1.1 200 OK\r\n");
});

test("a client whose upload stood still is listened to again when it is answered before its end", async () => {
  const { socket, say, owner } = open();
  const ended = Promise.withResolvers<Handled>();
  owner.handle = (received) => {
    received.streamBody({ part: () => received.pauseBody(), end: () => undefined, fail: () => undefined });
    return ended.promise;
  };
  await say("POST /rpc HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\none");
  expect(socket.isPaused).toBe(true);
  owner.handle = () => ({ status: 204, fields: "", body: "" });
  ended.resolve({ status: 413, fields: "", body: "" });
  await say("");
  expect(socket.isPaused).toBe(false);
  await say(`two${post("")}`);
  expect(socket.written.match(/HTTP\/1.1 \d+/g)).toEqual(["HTTP/1.1 413", "HTTP/1.1 204"]);
});

test("a client that sends far ahead of its turn is paused", async () => {
  const { socket, say, connection } = open();
  socket.takes = 0;
  await say(post("first"));
  await say(post("x".repeat(50_000)) + post("x".repeat(50_000)));
  expect(socket.isPaused).toBe(true);
  socket.takes = Number.POSITIVE_INFINITY;
  connection.drained();
  for (let turn = 0; turn < 8; turn += 1) await Promise.resolve();
  expect([socket.isPaused, socket.written.match(/200 OK/g)?.length]).toEqual([false, 3]);
});

test("a connection that says nothing is closed in time, and one whose head is slow sooner, however it trickles", async () => {
  const quiet = open();
  await quiet.say(post("a"));
  quiet.connection.check(times.idleMs - 1, times);
  expect(quiet.socket.closedBy).toBeNull();
  quiet.owner.nowMs = times.idleMs;
  quiet.connection.check(times.idleMs, times);
  // Not a reset, which could take the last answer from the client.
  expect([quiet.socket.closedBy, quiet.owner.isEnded]).toEqual(["end", true]);
  const slow = open();
  for (const byte of "GET / HTTP") {
    await slow.say(byte);
    slow.owner.nowMs += 1_000;
    slow.connection.check(slow.owner.nowMs, times);
  }
  expect(slow.socket.written).toStartWith("HTTP/1.1 408 Request Timeout\r\n");
  expect(slow.socket.written).toContain("Connection: close\r\n");
  expect([slow.socket.closedBy, slow.owner.pending]).toEqual(["shutdown", 0]);
  slow.owner.nowMs += times.lingerMs;
  slow.connection.check(slow.owner.nowMs, times);
  expect([slow.socket.closedBy, slow.owner.isEnded]).toEqual(["terminate", true]);
});

test("a body that stops coming is answered 408 while nothing else was, and its reader learns that it is broken", async () => {
  const { socket, say, owner, connection } = open();
  await say("POST /rpc HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbo");
  owner.nowMs = times.idleMs;
  connection.check(owner.nowMs, times);
  for (let turn = 0; turn < 8; turn += 1) await Promise.resolve();
  expect(socket.written).toStartWith("HTTP/1.1 408 ");
  expect(socket.written.match(/HTTP\/1\.1/g)?.length).toBe(1);
  expect([owner.reported, owner.pending, socket.closedBy]).toEqual([
    ["POST /rpc - broken", "refused 408"],
    0,
    "shutdown",
  ]);
});

test("a client that closes its sending half gets the answers to all that it asked, and then the end", async () => {
  const late = Promise.withResolvers<void>();
  const owner = new EchoOwner();
  const socket = new WireSocket();
  const handle = owner.handle.bind(owner);
  owner.handle = async (request) => {
    await late.promise;
    return await handle(request);
  };
  const connection = new Connection(socket, owner);
  connection.received(Buffer.from(post("first") + post("second")));
  connection.halfClosed();
  expect([socket.written, socket.closedBy]).toEqual(["", null]);
  late.resolve();
  for (let turn = 0; turn < 30; turn += 1) await Promise.resolve();
  expect(owner.reported).toEqual(["POST /rpc - first", "POST /rpc - second"]);
  expect(socket.written.match(/200 OK/g)?.length).toBe(2);
  expect(socket.written.match(/Connection: close/g)?.length).toBe(1);
  expect([socket.closedBy, owner.isEnded, owner.pending]).toEqual(["end", true, 0]);
});

test("what a client cut by closing its sending half is answered as what it is: no head, or a broken body", async () => {
  const idle = open();
  idle.connection.halfClosed();
  expect([idle.socket.written, idle.socket.closedBy]).toEqual(["", "end"]);
  const head = open();
  await head.say("GET / HTTP/1.1\r\nHo");
  head.connection.halfClosed();
  expect(head.socket.written).toStartWith("HTTP/1.1 400 ");
  expect([head.socket.closedBy, head.owner.isEnded]).toEqual(["end", true]);
  const body = open();
  await body.say("POST /rpc HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbo");
  body.connection.halfClosed();
  await body.say("");
  expect(body.owner.reported).toEqual(["POST /rpc - broken"]);
  expect([body.socket.closedBy, body.owner.pending]).toEqual(["end", 0]);
});

test("a client that has closed its sending half is waited for no longer than an idle one", async () => {
  const owner = new EchoOwner();
  const socket = new WireSocket();
  owner.handle = () => new Promise(() => undefined);
  const connection = new Connection(socket, owner);
  connection.received(Buffer.from(post("never")));
  connection.check(times.idleMs * 2, times);
  expect(socket.closedBy).toBeNull();
  connection.halfClosed();
  connection.check(times.idleMs, times);
  expect([socket.closedBy, owner.pending]).toEqual(["terminate", 0]);
});

test("an endless answer ends with its client's sending half, one with an end is sent whole", async () => {
  for (const isEndless of [true, false]) {
    const pieces = [Buffer.from("one"), Buffer.from("two")];
    const next = Promise.withResolvers<void>();
    let isCancelled = false;
    const source = {
      next: async () => {
        if (pieces.length === 1) await next.promise;
        return pieces.shift() ?? null;
      },
      cancel: () => {
        isCancelled = true;
      },
    };
    const owner = new EchoOwner();
    owner.handle = () => ({ status: 200, fields: "", body: { source, isEndless, ended: () => undefined } });
    const socket = new WireSocket();
    const connection = new Connection(socket, owner);
    connection.received(Buffer.from(post("")));
    for (let turn = 0; turn < 8; turn += 1) await Promise.resolve();
    connection.halfClosed();
    expect([isEndless, isCancelled, socket.closedBy]).toEqual([isEndless, isEndless, isEndless ? "end" : null]);
    next.resolve();
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    expect([socket.written.includes("two"), socket.closedBy]).toEqual([!isEndless, "end"]);
  }
});

test("another protocol's connection ends with its client's sending half", async () => {
  const owner = new EchoOwner();
  const socket = new WireSocket();
  let gone = 0;
  owner.handle = () => ({
    head: "HTTP/1.1 101 Switching Protocols\r\n\r\n",
    begin: () => ({
      fromClient: () => undefined,
      clientDrained: () => undefined,
      clientGone: () => {
        gone += 1;
      },
    }),
    abandoned: () => undefined,
  });
  const connection = new Connection(socket, owner);
  connection.received(Buffer.from("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
  connection.halfClosed();
  expect([gone, socket.closedBy, owner.isEnded]).toEqual([1, "end", true]);
});

test("a switch to another protocol is abandoned when its client closed the sending half before", async () => {
  const settled = Promise.withResolvers<Handled>();
  const owner = new EchoOwner();
  const socket = new WireSocket();
  owner.handle = () => settled.promise;
  const connection = new Connection(socket, owner);
  connection.received(Buffer.from("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
  connection.halfClosed();
  let abandoned = 0;
  const begin = (): never => {
    throw new Error("the client has gone");
  };
  settled.resolve({
    head: "HTTP/1.1 101 Switching Protocols\r\n\r\n",
    begin,
    abandoned: () => {
      abandoned += 1;
    },
  });
  for (let turn = 0; turn < 8; turn += 1) await Promise.resolve();
  expect([abandoned, socket.closedBy, owner.isEnded, owner.pending]).toEqual([1, "end", true, 0]);
});

describe("a server that is going away", () => {
  test("closes what has waited for a request for long at once, and what waits since a moment ago in a moment", async () => {
    const [resting, recent] = [open(), open()];
    for (const { say } of [resting, recent]) await say(post("a"));
    resting.owner.nowMs += 2_000;
    resting.connection.drain();
    expect(resting.socket.closedBy).toBe("end");
    const { owner, connection, socket } = recent;
    owner.nowMs += 1_999;
    owner.isDraining = true;
    connection.drain();
    owner.nowMs += times.partingMs - 1;
    connection.check(owner.nowMs, times);
    expect(socket.closedBy).toBeNull();
    owner.nowMs += 1;
    connection.check(owner.nowMs, times);
    expect(socket.closedBy).toBe("end");
  });

  test("answers a request that was on its way, whole or in part, and says that it is the last", async () => {
    for (const begun of [
      "",
      "POST /rpc HTTP/1.1\r\nHo",
      "POST /rpc HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbo",
    ]) {
      const { say, connection, owner, socket } = open();
      await say(post("a"));
      await say(begun);
      owner.isDraining = true;
      connection.drain();
      expect(socket.closedBy).toBeNull();
      await say("POST /rpc HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody".slice(begun.length));
      expect(socket.written.match(/HTTP\/1.1 200/g)?.length).toBe(2);
      expect(socket.written).toContain("Connection: close\r\n");
      expect(socket.closedBy).toBe("end");
    }
  });

  test("reads one more request behind an answer that did not say that it is the last", async () => {
    const { say, connection, owner, socket } = open();
    socket.takes = 10;
    await say(post("first"));
    owner.isDraining = true;
    connection.drain();
    socket.takes = Number.POSITIVE_INFINITY;
    connection.drained();
    await say("");
    expect(socket.closedBy).toBeNull();
    await say(post("next"));
    expect(socket.written.match(/HTTP\/1.1 200/g)?.length).toBe(2);
    expect(socket.closedBy).toBe("end");
  });
});

test("a client that goes away in the middle of its body is reported to its reader, and its request is over", async () => {
  const { say, connection, owner, socket } = open();
  await say("POST /rpc HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbo");
  expect(owner.pending).toBe(1);
  connection.closed();
  for (let turn = 0; turn < 8; turn += 1) await Promise.resolve();
  expect([owner.pending, owner.reported, socket.written]).toEqual([0, ["POST /rpc - broken"], ""]);
});
