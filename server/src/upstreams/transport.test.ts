import { describe, expect, test } from "bun:test";
import { brotliCompressSync, gzipSync, zstdCompressSync } from "node:zlib";
import { seededRandom, systemClock } from "@sluice/lib";
import fc from "fast-check";
import { authority } from "../net/http1/client/testing/certificates.ts";
import { answerOf, type RawAnswer, RawNode } from "../net/http1/client/testing/raw-node.ts";
import { type ExchangeOptions, type ExchangeOutcome, Transport, type TransportOptions } from "./transport.ts";

const usual: ExchangeOptions = { deadlineMs: 5_000, answerBytesMax: 1_000_000, ownConnection: false };
const send: ExchangeOptions = { ...usual, ownConnection: true };

function transportTo(url: string, options: Partial<TransportOptions> = {}): Transport {
  return new Transport({ url, headers: {}, inFlightMax: 8, waitingMax: 8, ...options }, { clock: systemClock });
}

const textOf = (outcome: ExchangeOutcome): string =>
  outcome.kind === "answered" ? `${outcome.status} ${Buffer.from(outcome.bytes).toString()}` : outcome.kind;

const echo: RawAnswer = ({ socket }, body) => void socket.write(answerOf(body));

/** Runs `body` with a node that answers so and a transport to it. */
async function withNode(
  answer: RawAnswer,
  body: (transport: Transport, node: RawNode) => Promise<void>,
  options: Partial<TransportOptions> = {},
): Promise<void> {
  using node = new RawNode(answer);
  using transport = transportTo(node.url, options);
  await body(transport, node);
}

describe("connections", () => {
  test("are kept for the next call", () =>
    withNode(echo, async (transport, node) => {
      for (const body of ["a", "b", "c"]) expect(textOf(await transport.exchange(body, usual))).toBe(`200 ${body}`);
      expect(node.connections.map(({ requests }) => requests)).toEqual([3]);
      expect(transport.inFlight).toBe(0);
    }));

  test("are bounded: more calls wait in order, too many are refused, and each gets its own answer", async () => {
    const held: (() => void)[] = [];
    const hold: RawAnswer = ({ socket }, body) => void held.push(() => socket.write(answerOf(body)));
    await withNode(
      hold,
      async (transport, node) => {
        const calls = ["a", "b", "c", "d"].map((body) => transport.exchange(body, usual).then(textOf));
        expect(textOf(await transport.exchange("e", usual))).toBe("overloaded");
        expect(transport.inFlight).toBe(4);
        for (let answered = 0; answered < 4; answered += 1) {
          while (held.length === 0) await Bun.sleep(1);
          held.shift()?.();
        }
        expect(await Promise.all(calls)).toEqual(["200 a", "200 b", "200 c", "200 d"]);
        expect(node.connections.length).toBe(2);
        expect(node.bodies.slice(2)).toEqual(["c", "d"]);
      },
      { inFlightMax: 2, waitingMax: 2 },
    );
  });

  test("that the node has closed are replaced for a read, which is asked once more", async () => {
    const once: RawAnswer = ({ socket, requests }, body) => {
      if (requests === 1) socket.write(answerOf(body));
      else socket.terminate();
    };
    await withNode(once, async (transport, node) => {
      expect(textOf(await transport.exchange("a", usual))).toBe("200 a");
      expect(textOf(await transport.exchange("b", usual))).toBe("200 b");
      expect(node.bodies).toEqual(["a", "b", "b"]);
    });
  });

  test("that break under a second try end the read", async () => {
    const first: RawAnswer = ({ socket, number, requests }, body) => {
      if (number === 1 && requests === 1) socket.write(answerOf(body));
      else socket.terminate();
    };
    await withNode(first, async (transport, node) => {
      await transport.exchange("a", usual);
      expect(textOf(await transport.exchange("b", usual))).toBe("closed");
      expect(node.bodies).toEqual(["a", "b", "b"]);
    });
  });

  test("of a send are fresh, and it is never written twice", async () => {
    const cutSends: RawAnswer = ({ socket }, body) => {
      if (body === "send") socket.terminate();
      else socket.write(answerOf(body));
    };
    await withNode(cutSends, async (transport, node) => {
      await transport.exchange("a", usual);
      expect(textOf(await transport.exchange("send", send))).toBe("closed");
      expect(node.bodies).toEqual(["a", "send"]);
      expect(node.connections.map(({ requests }) => requests)).toEqual([1, 1]);
    });
  });

  test("of a send take the place of an idle one when there is no other", () =>
    withNode(
      echo,
      async (transport, node) => {
        await transport.exchange("a", usual);
        expect(textOf(await transport.exchange("b", send))).toBe("200 b");
        expect(textOf(await transport.exchange("c", usual))).toBe("200 c");
        expect(node.connections.map(({ requests }) => requests)).toEqual([1, 2]);
      },
      { inFlightMax: 1 },
    ));

  test("are not used again after Connection: close, surplus bytes or bytes that were not asked for", async () => {
    for (const surplus of ["", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"]) {
      const answer: RawAnswer = ({ socket }, body) =>
        void socket.write(answerOf(body, surplus === "" ? "Connection: close\r\n" : "") + surplus);
      await withNode(answer, async (transport, node) => {
        expect(textOf(await transport.exchange("a", usual))).toBe("200 a");
        expect(textOf(await transport.exchange("b", usual))).toBe("200 b");
        expect(node.connections.length).toBe(2);
      });
    }
    await withNode(echo, async (transport, node) => {
      await transport.exchange("a", usual);
      node.connections[0]?.socket.write(answerOf("forged"));
      await Bun.sleep(20);
      expect(textOf(await transport.exchange("b", usual))).toBe("200 b");
      expect(node.connections.length).toBe(2);
    });
  });

  test("end with their transport, and with them what is under way", () =>
    withNode(
      () => undefined,
      async (transport) => {
        const calls = ["a", "b", "c"].map((body) => transport.exchange(body, usual).then(textOf));
        transport[Symbol.dispose]();
        expect(await Promise.all(calls)).toEqual(["unreachable", "unreachable", "unreachable"]);
        expect(textOf(await transport.exchange("d", usual))).toBe("unreachable");
      },
      { inFlightMax: 2 },
    ));
});

describe("a node that", () => {
  test("refuses is unreachable", async () => {
    using transport = transportTo("http://127.0.0.1:1/");
    expect(textOf(await transport.exchange("a", usual))).toBe("unreachable");
    expect(transport.inFlight).toBe(0);
  });

  test("has no address is unreachable", async () => {
    using transport = transportTo("http://node.invalid/");
    expect(textOf(await transport.exchange("a", usual))).toBe("unreachable");
  });

  for (const [name, hangUp] of [
    ["resets", (socket: Bun.Socket<never>) => socket.terminate()],
    ["closes", (socket: Bun.Socket<never>) => socket.end()],
    ["closes its half", (socket: Bun.Socket<never>) => socket.shutdown()],
  ] as const) {
    test(`${name} without a word has closed, which the call may have caused`, () =>
      withNode(
        ({ socket }) => void hangUp(socket as unknown as Bun.Socket<never>),
        async (transport, node) => {
          expect(textOf(await transport.exchange("a", usual))).toBe("closed");
          expect(node.bodies).toEqual(["a"]);
        },
      ));
  }

  test("hangs up within its answer gave none, and is not asked again", async () => {
    for (const part of ["H", "HTTP/1.1 200 OK\r\n", answerOf("abc").slice(0, -1)]) {
      const answer: RawAnswer = ({ socket }) => {
        socket.write(part);
        socket.end();
      };
      await withNode(answer, async (transport, node) => {
        expect(textOf(await transport.exchange("a", usual))).toBe("malformed");
        expect(node.bodies).toEqual(["a"]);
      });
    }
  });

  test("speaks something else is malformed, without waiting for more", () =>
    withNode(
      ({ socket }) => void socket.write("-ERR unknown command\n"),
      async (transport) => {
        expect(textOf(await transport.exchange("a", usual))).toBe("malformed");
      },
    ));

  test("is silent, drips or keeps others waiting is left at the deadline", async () => {
    let dripping: ReturnType<typeof setInterval> | null = null;
    const drip: RawAnswer = ({ socket }) => {
      const text = answerOf("x".repeat(1_000));
      let at = 0;
      dripping = setInterval(() => socket.write(text[at++] ?? ""), 5);
    };
    for (const answer of [() => undefined, drip]) {
      await withNode(
        answer,
        async (transport, node) => {
          const startedMs = performance.now();
          const calls = [usual, usual].map((options) => transport.exchange("a", { ...options, deadlineMs: 120 }));
          expect((await Promise.all(calls)).map(textOf)).toEqual(["timeout", "timeout"]);
          expect(performance.now() - startedMs).toBeWithin(115, 1_000);
          expect(transport.inFlight).toBe(0);
          node.answer = echo;
          expect(textOf(await transport.exchange("b", usual))).toBe("200 b");
        },
        { inFlightMax: 1 },
      );
    }
    if (dripping !== null) clearInterval(dripping);
  });

  test("answers more than is allowed is cut off, stated or not", async () => {
    const body = "x".repeat(2_000);
    for (const text of [
      answerOf(body),
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n${body}\r\n0\r\n\r\n`,
      `HTTP/1.1 200 OK\r\n\r\n${body}`,
    ]) {
      await withNode(
        ({ socket }) => void socket.write(text),
        async (transport) => {
          const outcome = await transport.exchange("a", { ...usual, answerBytesMax: 1_999 });
          expect(textOf(outcome)).toBe("too-large");
        },
      );
    }
  });

  test("answers before it has read all is received, on a connection that is not used again", async () => {
    const body = "x".repeat(20_000_000);
    let connections = 0;
    using node = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        open: () => {
          connections += 1;
        },
        data: (socket) => {
          socket.pause();
          socket.write("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno");
        },
      },
    });
    using transport = transportTo(`http://127.0.0.1:${node.port}/`);
    expect(textOf(await transport.exchange(body, usual))).toBe("413 no");
    expect(textOf(await transport.exchange("a", usual))).toBe("413 no");
    expect(connections).toBe(2);
  });
});

describe("a request", () => {
  test("of many megabytes arrives whole, in wide characters as well", () =>
    withNode(
      ({ socket }, body) => void socket.write(answerOf(String(Bun.hash(body)))),
      async (transport) => {
        for (const body of ["a", "é🦀".repeat(700_000), "x".repeat(9_000_000)]) {
          expect(textOf(await transport.exchange(body, usual))).toBe(`200 ${Bun.hash(body)}`);
        }
      },
    ));

  test("says each thing once: host, configured headers, length, and no user part", () =>
    withNode(
      echo,
      async (transport, node) => {
        await transport.exchange("é", usual);
        expect(node.heads[0]?.split("\r\n")).toEqual([
          "POST / HTTP/1.1",
          `host: 127.0.0.1:${node.port}`,
          "accept-encoding: identity",
          "x-key: secret",
          "content-length: 2",
        ]);
      },
      { headers: { "X-Key": "secret", Connection: "close" } },
    ));
});

test("packed answers are unpacked within the bound", async () => {
  const body = "abc".repeat(30_000);
  const packed: [string, Uint8Array][] = [
    ["gzip", gzipSync(body)],
    ["GZIP", gzipSync(body)],
    ["br", brotliCompressSync(body)],
    ["zstd", zstdCompressSync(body)],
  ];
  for (const [coding, bytes] of packed) {
    const answer: RawAnswer = ({ socket }) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Encoding: ${coding}\r\nContent-Length: ${bytes.length}\r\n\r\n`);
      socket.write(bytes);
    };
    await withNode(answer, async (transport) => {
      expect(textOf(await transport.exchange("a", usual))).toBe(`200 ${body}`);
      expect(textOf(await transport.exchange("a", { ...usual, answerBytesMax: 89_999 }))).toBe("too-large");
    });
  }
  for (const coding of ["gzip", "deflate", "gzip, br", "__proto__"]) {
    await withNode(
      ({ socket }) => void socket.write(answerOf("not packed", `Content-Encoding: ${coding}\r\n`)),
      async (transport) => expect(textOf(await transport.exchange("a", usual))).toBe("malformed"),
    );
  }
  const large = gzipSync(seededRandom(1).bytes(200_000));
  expect(large.length).toBeGreaterThan(64 * 1_024);
  await withNode(
    ({ socket }) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${large.length}\r\n\r\n`);
      socket.write(large);
    },
    async (transport) => {
      expect(await transport.exchange("a", usual)).toMatchObject({ bytes: { byteLength: 200_000 } });
      expect(textOf(await transport.exchange("a", { ...usual, answerBytesMax: 199_999 }))).toBe("too-large");
    },
  );
});

describe("over TLS", () => {
  test("a node that proves its name is called, and its connection kept", async () => {
    using node = new RawNode(echo, { isTls: true });
    using transport = transportTo(`https://localhost:${node.port}/`, { authorities: [authority] });
    expect(textOf(await transport.exchange("a", usual))).toBe("200 a");
    expect(
      textOf(await transport.exchange("b".repeat(3_000_000), { ...usual, answerBytesMax: 5_000_000 })),
    ).toHaveLength(3_000_004);
    expect(node.connections.length).toBe(1);
    expect(node.heads[0]).toContain("accept-encoding: gzip, zstd");
  });

  test("nothing is said to a node of another name, of an unknown authority or without TLS", async () => {
    using node = new RawNode(echo, { isTls: true });
    using plain = new RawNode(({ socket }) => void socket.write("HTTP/1.1 400 Bad\r\n\r\n"));
    for (const [url, authorities] of [
      [`https://127.0.0.1:${node.port}/`, { authorities: [authority] }],
      [`https://localhost:${node.port}/`, {}],
      [`https://localhost:${plain.port}/`, { authorities: [authority] }],
    ] as const) {
      using transport = transportTo(url, authorities);
      const outcome = await transport.exchange("a", { ...usual, deadlineMs: 400 });
      expect(["unreachable", "timeout"]).toContain(outcome.kind);
    }
    expect([node.bodies, plain.bodies]).toEqual([[], []]);
  });
});

test("valid answers are read as the runtime's own client reads them", async () => {
  const part = fc.stringMatching(/^[ -~]{1,40}$/);
  const answer = fc
    .record({
      status: fc.integer({ min: 200, max: 599 }).filter((status) => ![204, 205, 304].includes(status)),
      kind: fc.constantFrom("length", "chunked", "close"),
      parts: fc.array(part, { maxLength: 5 }),
      pause: fc.nat(200),
    })
    .map(({ status, kind, parts, pause }) => {
      const body = parts.join("");
      const first = `HTTP/1.1 ${status} Any\r\nX-One: 1\r\n`;
      if (kind === "length") return { kind, pause, text: `${first}content-length: ${body.length}\r\n\r\n${body}` };
      if (kind === "close") return { kind, pause, text: `${first}Connection: close\r\n\r\n${body}` };
      const chunks = parts.map((text) => `${text.length.toString(16).toUpperCase()};a=b\r\n${text}\r\n`).join("");
      return { kind, pause, text: `${first}Transfer-Encoding: chunked\r\n\r\n${chunks}0\r\nX-T: 1\r\n\r\n` };
    });
  using node = new RawNode(() => undefined);
  using transport = transportTo(node.url);
  await fc.assert(
    fc.asyncProperty(answer, async ({ kind, pause, text }) => {
      node.answer = ({ socket }) => {
        socket.write(text.slice(0, pause));
        socket.flush();
        queueMicrotask(() => {
          socket.write(text.slice(pause));
          if (kind === "close") socket.end();
        });
      };
      const theirs = await fetch(node.url, { method: "POST", body: "a", redirect: "manual" });
      expect(textOf(await transport.exchange("a", usual))).toBe(`${theirs.status} ${await theirs.text()}`);
    }),
    { numRuns: 60 },
  );
});
