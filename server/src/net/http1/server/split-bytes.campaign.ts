import { seededRandom } from "@sluice/lib";
import { receive } from "./testing/echo-owner.ts";

/** Makes streams of requests, most of them good, with a fault now and then. */
class RequestWriter {
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  stream(): string {
    return Array.from({ length: 1 + this.upTo(5) }, () => this.#request()).join("");
  }

  upTo(count: number): number {
    return Math.floor(this.#random() * count);
  }

  #pick(from: readonly string[]): string {
    return from[this.upTo(from.length)] ?? "";
  }

  #request(): string {
    const target = this.#pick(["/", "/rpc", "/unread", "http://a/rpc?x=1", "/rpc?a=%20", "/\u00fc"]);
    const version = this.#pick(["HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/2.0"]);
    const blank = this.upTo(10) === 0 ? "\r\n" : "";
    const fields = this.#pick([
      "",
      "",
      "X-A: b\r\n",
      "x-a:c \r\nX-A:\td\r\n",
      "Connection: close\r\n",
      " X-A: b\r\n",
      "X-A\r\n",
    ]);
    const body = "b".repeat(this.upTo(4) === 0 ? this.upTo(3_000) : this.upTo(20));
    return `${blank}${this.#pick(["POST", "POST", "GET", "PUT"])} ${target} ${version}\r\nHost: a\r\n${fields}${this.#framed(body)}`;
  }

  #framed(body: string): string {
    switch (this.upTo(6)) {
      case 0:
        return "\r\n";
      case 1:
        return `Transfer-Encoding: chunked\r\n\r\n${this.#chunked(body)}`;
      case 2:
        return this.upTo(4) === 0
          ? `Content-Length: ${body.length}\n\r\n${body}`
          : `Content-Length: ${body.length}\r\n\r\n${body}`;
      case 3:
        return this.upTo(6) === 0
          ? `Content-Length: ${body.length}\r\nTransfer-Encoding: chunked\r\n\r\n${this.#chunked(body)}`
          : `Content-Length: ${body.length}\r\n\r\n${body}`;
      default:
        return `Content-Length: ${body.length}\r\n\r\n${body}`;
    }
  }

  #chunked(body: string): string {
    let text = "";
    for (let at = 0; at < body.length; ) {
      const size = 1 + this.upTo(body.length - at);
      const extension = this.#pick(["", "", ";a=b", " ", ";\n"]);
      text += `${size.toString(16)}${extension}\r\n${body.slice(at, at + size)}\r\n`;
      at += size;
    }
    return `${text}0\r\n${this.#pick(["", "", "X-Trailer: a\r\n", "bad trailer\r\n"])}\r\n`;
  }
}

/**
 * Streams of requests, good and bad, cut in other places each time: `n` of them, each whole, in single bytes, and cut
 * at random. Passes when a connection makes the same of a stream however its bytes arrive.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  const random = seededRandom(seed);
  const writer = new RequestWriter(() => random.next());
  let answers = 0;
  let refusals = 0;
  for (let index = 0; index < n; index += 1) {
    const bytes = Buffer.from(writer.stream(), "latin1");
    const cuts = [
      [bytes],
      Array.from(bytes, (byte) => Buffer.of(byte)),
      pieces(bytes, () => 1 + writer.upTo(40)),
      pieces(bytes, () => 1 + writer.upTo(700)),
    ];
    const created: string[] = [];
    for (const cut of cuts) {
      const { reported, statuses, socket, owner } = await receive(cut);
      created.push(JSON.stringify({ reported, statuses, closed: socket.closedBy !== null, pending: owner.pending }));
    }
    const odd = created.findIndex((each) => each !== created[0]);
    if (odd > 0) {
      const summary = `stream ${index}, cut ${odd}: ${created[odd]}\nwhole: ${created[0]}\n${JSON.stringify(bytes.toString("latin1"))}`;
      return { passed: false, summary };
    }
    answers += created[0]?.match(/\b200\b/g)?.length ?? 0;
    refusals += created[0]?.match(/refused/g)?.length ?? 0;
  }
  return {
    passed: true,
    summary: `${n} streams, each cut in four ways: ${answers} answers, ${refusals} refusals, the same each time`,
  };
}

function pieces(bytes: Buffer, size: () => number): Buffer[] {
  const created: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + size();
    created.push(bytes.subarray(at, end));
    at = end;
  }
  return created;
}
