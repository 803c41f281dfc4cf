/**
 * Streams of requests for readers of HTTP/1.1: made by its grammar with one choice in forty off it, changed in a few
 * bytes, pipelined, and cut at any place.
 */
export class RequestStreams {
  readonly #random: () => number;
  /** Requests that were begun in all streams. */
  requests = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** One stream, in pieces, one character a byte. */
  next(): string[] {
    let text = "";
    const count = 1 + this.#upTo(5);
    for (let index = 0; index < count; index += 1) text += this.#request();
    this.requests += count;
    const changes = this.#upTo(4) === 0 ? 1 + this.#upTo(3) : 0;
    for (let index = 0; index < changes; index += 1) text = this.#changed(text);
    return this.#cut(text);
  }

  #upTo(count: number): number {
    return Math.floor(this.#random() * count);
  }

  #isOdd(): boolean {
    return this.#upTo(40) === 0;
  }

  #pick(from: readonly string[]): string {
    return from[this.#upTo(from.length)] ?? "";
  }

  /** Mostly one of the first list; the second has what lies beside the grammar, or at its edge. */
  #choose(usual: readonly string[], odd: readonly string[]): string {
    return this.#pick(this.#isOdd() ? odd : usual);
  }

  #request(): string {
    const blank = this.#isOdd() ? this.#pick(blankLines) : "";
    const space = this.#choose([" "], spaces);
    const line = `${this.#choose(methods, oddMethods)}${space}${this.#choose(targets, oddTargets)}${this.#choose([" "], spaces)}${this.#choose(versions, oddVersions)}`;
    const body = this.#body();
    const fields = [this.#choose(hosts, oddHosts), ...this.#fields()];
    fields.splice(this.#upTo(fields.length + 1), 0, ...body.fields);
    return `${blank}${[line, ...fields].join("\r\n")}${this.#end()}${this.#end()}${body.content}`;
  }

  #end(): string {
    return this.#upTo(150) === 0 ? this.#pick(lineEnds) : "\r\n";
  }

  #fields(): string[] {
    return Array.from({ length: this.#upTo(4) }, () => this.#choose(fields, oddFields));
  }

  #body(): { readonly fields: readonly string[]; readonly content: string } {
    const content = this.#content();
    switch (this.#upTo(8)) {
      case 0:
      case 1:
        return { fields: [], content: "" };
      case 2:
      case 3:
      case 4:
        return { fields: [`${this.#lengthName()}:${this.#choose([" "], paddings)}${this.#length(content)}`], content };
      case 5:
        return { fields: this.#contradiction(content.length), content: this.#chunked(content) };
      default:
        return {
          fields: [`${this.#codingName()}:${this.#choose([" "], paddings)}${this.#choose(["chunked"], codings)}`],
          content: this.#chunked(content),
        };
    }
  }

  #content(): string {
    const length = this.#upTo(6) === 0 ? this.#upTo(300) : this.#upTo(20);
    // What a body holds looks like a request at times, to a reader that begins in the wrong place.
    if (this.#isOdd()) return `GET /smuggled HTTP/1.1\r\nHost: b\r\n\r\n${"s".repeat(length)}`;
    return Array.from({ length }, () => this.#pick(bodyBytes)).join("");
  }

  #lengthName(): string {
    return this.#choose(
      ["Content-Length"],
      ["content-length", "CONTENT-LENGTH", "Content-Length ", "Content_Length", "Content-Lengt"],
    );
  }

  #codingName(): string {
    return this.#choose(["Transfer-Encoding"], ["transfer-encoding", "Transfer-Encoding ", "Transfer_Encoding", "TE"]);
  }

  #length(content: string): string {
    if (!this.#isOdd()) return String(content.length);
    const near = content.length + this.#upTo(5) - 2;
    return this.#pick([
      `${near}`,
      `0${near}`,
      `+${near}`,
      `${near} `,
      `${near}\t`,
      `${near},${near}`,
      `${near}, ${near}`,
      `${near} ${near}`,
      `${near}.0`,
      `0x${near}`,
      `${near}e0`,
      "",
      "18446744073709551616",
      "9007199254740993",
      `-${near}`,
      `"${near}"`,
    ]);
  }

  /** Two statements of the length, which agree or do not. */
  #contradiction(length: number): string[] {
    const stated = `Content-Length: ${length}`;
    const others = [
      stated,
      `Content-Length: ${length + 1}`,
      "Transfer-Encoding: chunked",
      "Transfer-Encoding: identity",
      "Transfer-Encoding: gzip, chunked",
      "Transfer-Encoding: chunked, gzip",
    ];
    const two = [this.#pick(others), this.#pick(others)];
    return two;
  }

  #chunked(content: string): string {
    let text = "";
    for (let at = 0; at < content.length; ) {
      const size = 1 + this.#upTo(content.length - at);
      text += `${this.#size(size)}${this.#choose([""], extensions)}${this.#end()}${content.slice(at, at + size)}${this.#end()}`;
      at += size;
    }
    const trailer = this.#isOdd() ? `${this.#choose(fields, [...oddFields, ...trailers])}${this.#end()}` : "";
    return `${text}${this.#choose(["0"], ["00", "0;a=b", "0 ", "", "0x0"])}${this.#end()}${trailer}${this.#end()}`;
  }

  #size(size: number): string {
    const text = size.toString(16);
    return this.#choose(
      [text],
      [
        text.toUpperCase(),
        `0${text}`,
        `0x${text}`,
        `${text} `,
        ` ${text}`,
        `+${text}`,
        `-${text}`,
        `${text}h`,
        (size + 1).toString(16),
        "fffffffffffffffff",
        `0000000000000000${text}`,
      ],
    );
  }

  #changed(text: string): string {
    const at = this.#upTo(text.length + 1);
    const length = this.#upTo(4) === 0 ? this.#upTo(30) : 1;
    const byte = this.#isOdd() ? String.fromCharCode(this.#upTo(256)) : this.#pick(edgeBytes);
    switch (this.#upTo(5)) {
      case 0:
        return text.slice(0, at) + text.slice(at + length);
      case 1:
        return text.slice(0, at) + byte + text.slice(at);
      case 2:
        return text.slice(0, at) + text.slice(at, at + length) + text.slice(at);
      case 3:
        return text.slice(0, at);
      default:
        return text.slice(0, at) + byte + text.slice(at + 1);
    }
  }

  #cut(text: string): string[] {
    const kind = this.#upTo(4);
    if (kind === 0) return [text];
    const sizeMax = kind === 1 ? 3 : kind === 2 ? 40 : 400;
    const pieces: string[] = [];
    for (let at = 0; at < text.length; ) {
      const size = 1 + this.#upTo(sizeMax);
      pieces.push(text.slice(at, at + size));
      at += size;
    }
    return pieces;
  }
}

const methods = ["GET", "POST", "POST", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"];
const oddMethods = [
  "get",
  "FOO",
  "CONNECT",
  "M-SEARCH",
  "PRI",
  "SOURCE",
  "POST\t",
  "G@T",
  "",
  "PROPFIND",
  "ANNOUNCE",
  "POS",
];
const targets = ["/", "/rpc", "/rpc?a=%20b", "/a/b;c=d?e=f&g", "http://a/rpc?x=1", "HTTP://A:80"];
const oddTargets = [
  "*",
  "",
  "//",
  "/a b",
  "/a#b",
  "/\u00fc",
  "/\u007f",
  "/\t",
  "/\u0000",
  "a:443",
  "http://",
  "http:///a",
  "http://u@a/",
  "https://a",
  "ftp://a/",
  "?a",
  "/%zz",
  '/"<>\\^`{|}',
  "/a?b#c",
  "http://a b/",
];
const versions = ["HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.0"];
const oddVersions = [
  "HTTP/2.0",
  "HTTP/0.9",
  "HTTP/1.2",
  "HTTP/1.10",
  "http/1.1",
  "HTTP/1.1 ",
  "HTTP/1,1",
  "HTTPS/1.1",
  "",
  "RTSP/1.0",
  "ICE/1.0",
];
const spaces = ["  ", "\t", "", "\u000b", "\r"];
const blankLines = ["\r\n", "\r\n\r\n", "\n", "\r", " \r\n", "\r\n\r\n\r\n\r\n\r\n\r\n"];
const lineEnds = ["\n", "\r", "\r\r\n", "\n\r", " \r\n", "", "\r\n ", "\u0000\r\n"];
const paddings = ["", "  ", "\t", " \t ", "\u000b", "\r\n ", "\r\n\t"];
const hosts = ["Host: a", "host: a.example:8899", "HOST:a", "Host: [::1]:1"];
const oddHosts = ["X: y", "Host: a\r\nHost: a", "Host: a/b@c", "Host:", "Host : a", "Host: a, b"];
const fields = [
  "X-A: b",
  "x-a:\tc ",
  "Accept: */*",
  "Content-Type: application/json",
  "Connection: keep-alive",
  "X-Long: \u00ff\t\u0080 d",
  "X-Empty:",
  'X-Quoted: "a\\"b"',
  "Cookie: a=b; c=d",
];
const oddFields = [
  "Connection: close",
  "Connection: CLOSE , x",
  "Connection: keep-alive, close",
  "Connection: closed",
  "Connection: upgrade\r\nUpgrade: websocket",
  "Connection: x, Upgrade\r\nUpgrade: h2c",
  "Upgrade: websocket",
  "Proxy-Connection: close",
  "Proxy-Connection: keep-alive",
  "Expect: 100-continue",
  "Expect: x",
  "Keep-Alive: timeout=5",
  " X-A: b",
  "X-A : b",
  "X-A",
  ": b",
  "X A: b",
  "X-A: b\r\n c",
  "X-A: b\u0000c",
  "X-A: b\u007fc",
  "X-A: b\u001fc",
  "X-A: b\rc",
  "X-A\u00ff: b",
  "X-A: b\nX-B: c",
  '"X": y',
  "X:Y:Z",
  "Content-Length: 0",
  "Transfer-Encoding: chunked",
  "Trailer: X-A",
];
const codings = [
  "Chunked",
  "CHUNKED",
  "chunked ",
  "chunked\t",
  "gzip, chunked",
  "chunked, gzip",
  "chunked,chunked",
  "identity",
  "xchunked",
  "chunkedx",
  "chunked;a=b",
  '"chunked"',
  "",
  ",chunked",
  "chunked,",
  "\u000bchunked",
  "chunk",
  "chunked, identity",
];
const extensions = [
  ";a=b",
  ";a",
  ';a="b c"',
  ";a;b=c;d",
  " ;a=b",
  ";",
  ";;",
  ";=",
  ';a="b',
  "; a=b",
  ";a =b",
  ";a= b",
  ";a=",
  "\t",
  " ",
  ";\n",
  ";\r",
  ";\u0000",
  ';a="\\""',
  ';a="b"c',
  ";a=b=c",
  ";a,b",
];
const trailers = [
  "Content-Length: 3",
  "Transfer-Encoding: chunked",
  "Host: b",
  "Content-Length: x",
  "Connection: close",
  "Trailer: a",
];
const bodyBytes = [
  "a",
  "b",
  "0",
  "1",
  "f",
  "\r",
  "\n",
  "\r\n",
  "{",
  "}",
  ":",
  ";",
  " ",
  "\u0000",
  "\u00ff",
  "GET / HTTP/1.1\r\n",
];
const edgeBytes = [
  "\r",
  "\n",
  "\r\n",
  " ",
  "\t",
  ":",
  ";",
  ",",
  "\u0000",
  "\u000b",
  "\u000c",
  "\u007f",
  "\u0080",
  "\u00ff",
  '"',
  "\\",
  "0",
  "1",
  "9",
  "a",
  "f",
  "g",
  "=",
  "/",
  "\u001f",
  "_",
  "-",
];
