import { encodeBase58 } from "@sluice/wire/base58";

export interface WireCall {
  /** Unique among all cases, so that an answer shows whose it is. */
  readonly id: string;
  readonly account: string;
}

/** What one hostile connection sends, and what may come of it. */
export interface Wire {
  readonly name: string;
  /** Written one after another, in segments of their own. */
  readonly parts: readonly string[];
  readonly ending: "wait" | "half-close" | "reset";
  /** Whether the gateway may take the time that a body has before it answers. */
  readonly waits: boolean;
  /** Calls that were openly made on it; each may be answered once, or not at all. */
  readonly calls: readonly WireCall[];
  /** Requests beside them that can only be refused. */
  readonly others: number;
}

type Shape = (writer: HostileWriter) => Omit<Wire, "name">;

const crlf = "\r\n";
const plain = { ending: "wait", waits: false, others: 0 } as const;

/**
 * The first byte of accounts that no call openly names: a node that is asked for one was asked by a smuggled request.
 */
const smuggledByte = 0xfe;

/** Makes hostile connections of a seed. */
export class HostileWriter {
  readonly random: () => number;
  /** Content type and key, as header lines. */
  readonly fields: string;
  #count = 0;
  readonly #smuggled = new Set<string>();

  constructor(random: () => number, fields: string) {
    this.random = random;
    this.fields = fields;
  }

  next(index: number): Wire {
    const names = Object.keys(shapes);
    // Each shape comes once before chance decides.
    const name = names[index < names.length ? index : Math.floor(this.random() * names.length)] ?? "plain";
    return { name, ...(shapes[name] ?? shapes["plain"] ?? early)(this) };
  }

  pick<T>(from: readonly [T, ...T[]]): T {
    return from[Math.floor(this.random() * from.length)] ?? from[0];
  }

  upTo(count: number): number {
    return Math.floor(this.random() * count);
  }

  account(first = this.upTo(smuggledByte)): string {
    const bytes = Uint8Array.from({ length: 32 }, () => this.upTo(256));
    bytes[0] = first;
    return encodeBase58(bytes);
  }

  isSmuggled(account: string): boolean {
    return this.#smuggled.has(account);
  }

  call(): WireCall & { readonly body: string } {
    return this.#call(this.account());
  }

  /** A whole request that stands inside something else, as the second one of a smuggler. */
  smuggled(): string {
    const account = this.account(smuggledByte);
    this.#smuggled.add(account);
    return this.request(this.#call(account).body);
  }

  #call(account: string): WireCall & { readonly body: string } {
    this.#count += 1;
    const id = `h${this.#count}`;
    const params = `["${account}",{"commitment":"processed"}]`;
    return { id, account, body: `{"jsonrpc":"2.0","id":"${id}","method":"getAccountInfo","params":${params}}` };
  }

  head(lines: string, start = "POST /rpc HTTP/1.1"): string {
    return `${start}${crlf}Host: a${crlf}${this.fields}${lines}${crlf}`;
  }

  request(body: string): string {
    return this.head(`Content-Length: ${body.length}${crlf}`) + body;
  }
}

const chunked = (text: string): string => `${text.length.toString(16)}${crlf}${text}${crlf}0${crlf}${crlf}`;

/** One openly made call under a head that is not as it should be; what follows its end is smuggled. */
function framed(
  writer: HostileWriter,
  lines: (length: number) => string,
  after: string,
  encode = (body: string) => body,
) {
  const call = writer.call();
  const body = encode(call.body);
  return { ...plain, parts: [writer.head(lines(body.length)) + body + after], calls: [call], others: 1 };
}

/** A request whose length is given twice; whichever is believed, what the other one hides must not become a call. */
function conflicting(writer: HostileWriter, lines: (length: number) => string) {
  const hidden = writer.smuggled();
  const body = `0${crlf}${crlf}${hidden}`;
  return { ...plain, parts: [writer.head(lines(body.length)) + body], calls: [], others: 1 };
}

/** Closed or cut anywhere, so that each place is met in time. */
function early(writer: HostileWriter): Omit<Wire, "name"> {
  const call = writer.call();
  const whole = writer.request(call.body);
  const cut = writer.upTo(whole.length + 1);
  return {
    parts: [whole.slice(0, cut)],
    ending: writer.pick(["reset", "half-close"]),
    waits: false,
    calls: [call],
    others: 1,
  };
}

/** Codings that leave the end of a request open, so that the whole of it has to be refused (RFC 9112, 6.3). */
const unframed = [
  "xchunked",
  "chunked, identity",
  "chunked, chunked",
  '"chunked"',
  "chunked;q=1",
  "\u000bchunked",
] as const;
const codings = [
  "chunked",
  " chunked",
  "\tchunked",
  "Chunked",
  "chunked ",
  "identity, chunked",
  "gzip, chunked",
  ...unframed,
] as const;

const shapes: Readonly<Record<string, Shape>> = {
  plain: (writer) => {
    const call = writer.call();
    return { ...plain, waits: false, parts: [writer.request(call.body)], calls: [call] };
  },
  "both lengths": (writer) =>
    conflicting(writer, (length) => {
      const lines = [`Content-Length: ${length}${crlf}`, `Transfer-Encoding:${writer.pick(codings)}${crlf}`];
      return (writer.random() < 0.5 ? lines : lines.toReversed()).join("");
    }),
  "an odd coding": (writer) => conflicting(writer, () => `Transfer-Encoding: ${writer.pick(unframed)}${crlf}`),
  "two lengths": (writer) =>
    conflicting(writer, (length) => {
      const odd = writer.pick([
        `${length + 1}`,
        "5",
        "0",
        `+${length}`,
        `0x${length.toString(16)}`,
        `${length}, 5`,
        "",
      ]);
      return `Content-Length: 5${crlf}Content-Length: ${odd === "5" ? "6" : odd}${crlf}`;
    }),
  "a length that is none": (writer) =>
    conflicting(writer, (length) => {
      const odd = writer.pick([
        "-1",
        `+${length}`,
        `${length}a`,
        "1e2",
        "0x10",
        "18446744073709551617",
        "9".repeat(40),
        "5 5",
        "5\u00005",
      ]);
      return `Content-Length: ${odd}${crlf}`;
    }),
  "odd header lines": (writer) =>
    framed(
      writer,
      (length) =>
        `${writer.pick([
          `X-A: b${crlf} folded: c${crlf}`,
          `X-A: b${crlf}\tTransfer-Encoding: chunked${crlf}`,
          `Content-Length : ${length}${crlf}`,
          ` Content-Length: ${length}${crlf}`,
          `Content\u0000-Length: 5${crlf}`,
          `X-A: b\u0000c${crlf}`,
          `X-A: b\rTransfer-Encoding: chunked${crlf}`,
          `X-A: b\nTransfer-Encoding: chunked${crlf}`,
          `: b${crlf}`,
          `X-A${crlf}`,
          `X A: b${crlf}`,
          `Host: b${crlf}`,
          `Expect: 100-nothing${crlf}`,
        ])}Content-Length: ${length}${crlf}`,
      "",
    ),
  "bare line feeds": (writer) => {
    const call = writer.call();
    const parts = [writer.request(call.body).replaceAll(crlf, writer.pick(["\n", "\r", "\n\r"]))];
    return { ...plain, parts, calls: [call], others: 1 };
  },
  "chunks with tricks": (writer) => {
    const call = writer.call();
    const size = call.body.length.toString(16);
    const hidden = writer.smuggled();
    const body = writer.pick([
      `${size};a=b${crlf}${call.body}${crlf}0${crlf}${crlf}`,
      `0x${size}${crlf}${call.body}${crlf}0${crlf}${crlf}`,
      `-${size}${crlf}${call.body}${crlf}0${crlf}${crlf}`,
      `${size}\n${call.body}\n0\n\n`,
      `${size}${crlf}${call.body}0${crlf}${crlf}`,
      `${"0".repeat(20)}${size}${crlf}${call.body}${crlf}0${crlf}${crlf}`,
      `fffffffffffffffff${crlf}${call.body}`,
      `${size};\n${hidden}${crlf}${call.body}${crlf}0${crlf}${crlf}`,
      `${size}${crlf}${call.body}${crlf}0${crlf}Content-Length: 5${crlf}X-API-Key: other${crlf}${crlf}`,
    ]);
    const parts = [writer.head(`Transfer-Encoding: chunked${crlf}`) + body];
    return { ...plain, parts, waits: true, calls: [call], others: 1 };
  },
  "well-made chunks": (writer) => framed(writer, () => `Transfer-Encoding: chunked${crlf}`, "", chunked),
  "an odd target": (writer) => {
    const call = writer.call();
    const target = writer.pick([
      "http://evil/rpc",
      "//evil/rpc",
      "/rpc/../rpc",
      "/%72pc",
      "*",
      "evil:443",
      "/rpc#x",
      "/rpc?\u0000",
      "",
    ]);
    const version = writer.pick(["HTTP/1.1", "HTTP/1.0", "HTTP/0.9", "HTTP/2.0", "HTTP/11", "http/1.1", ""]);
    const start = `POST ${target} ${version}`;
    const parts = [writer.head(`Content-Length: ${call.body.length}${crlf}`, start) + call.body];
    return { ...plain, parts, calls: [call], others: 1 };
  },
  "an odd method": (writer) => {
    const call = writer.call();
    const method = writer.pick([
      "GET",
      "HEAD",
      "CONNECT",
      "TRACE",
      "PUT",
      "PRI",
      "post",
      "P\u0000ST",
      "POST\t",
      "A".repeat(500),
    ]);
    const parts = [writer.head(`Content-Length: ${call.body.length}${crlf}`, `${method} /rpc HTTP/1.1`) + call.body];
    return { ...plain, parts, calls: [call], others: 1 };
  },
  "a huge head": (writer) => {
    const call = writer.call();
    const many = Array.from({ length: 300 }, (_, index) => `X-${index}: a${crlf}`).join("");
    const lines = writer.random() < 0.5 ? many : `X-Large: ${"a".repeat(20_000 + writer.upTo(200_000))}${crlf}`;
    return {
      ...plain,
      parts: [writer.head(`${lines}Content-Length: ${call.body.length}${crlf}`) + call.body],
      calls: [call],
      others: 1,
    };
  },
  "a head without end": (writer) => ({
    ...plain,
    parts: Array.from({ length: 20 }, (_, index) =>
      index === 0 ? `POST /rpc HTTP/1.1${crlf}` : `X-${index}: ${"a".repeat(writer.upTo(2_000))}`,
    ),
    ending: writer.pick(["reset", "half-close"]),
    calls: [],
    others: 1,
  }),
  "a slow head": (writer) => {
    const call = writer.call();
    const whole = writer.request(call.body);
    const cut = 1 + writer.upTo(40);
    return { ...plain, parts: [...whole.slice(0, cut), whole.slice(cut)], calls: [call] };
  },
  "a body that stops": (writer) => {
    const call = writer.call();
    const whole = writer.request(call.body);
    const short = whole.slice(0, whole.length - 1 - writer.upTo(call.body.length));
    return { ...plain, parts: [short], waits: true, calls: [call], others: 1 };
  },
  "a body in small pieces": (writer) => {
    const call = writer.call();
    const at = whole(writer.request(call.body));
    return { ...plain, parts: at, waits: false, calls: [call] };
  },
  "more than the length": (writer) => {
    const call = writer.call();
    const surplus = writer.pick(["x", `${crlf}${crlf}`, "GET / HTTP/1.1", "\u0000".repeat(50)]);
    return { ...plain, parts: [writer.request(call.body) + surplus], calls: [call], others: 1 };
  },
  pipelined: (writer) => {
    const calls = Array.from({ length: 2 + writer.upTo(6) }, () => writer.call());
    const parts = calls.map(({ body }) => writer.request(body));
    return { ...plain, parts: writer.random() < 0.5 ? parts : [parts.join("")], calls };
  },
  "an early close": early,
  garbage: (writer) => {
    const bytes = Array.from({ length: 1 + writer.upTo(300) }, () => String.fromCharCode(writer.upTo(256))).join("");
    return { ...plain, parts: [bytes], calls: [], others: 1 };
  },
  "a changed byte": (writer) => {
    const call = writer.call();
    const text = writer.request(call.body);
    // The head only: a changed body is another call, and may well be answered as one.
    const at = writer.upTo(text.indexOf(crlf + crlf));
    const changed = text.slice(0, at) + String.fromCharCode(writer.upTo(256)) + text.slice(at + 1);
    return { ...plain, parts: [changed], waits: false, calls: [call], others: 1 };
  },
};

/** The text in pieces of 16 bytes. */
function whole(text: string): string[] {
  return text.match(/[\s\S]{1,16}/g) ?? [];
}
