/**
 * Node's own reader of HTTP requests (llhttp, with no leniency), without sockets. Runs under Node, not Bun. Each line of
 * standard input is a JSON array of streams, each an array of pieces, one character a byte; each line of standard output
 * is the array of what was read of them.
 */
import { createInterface } from "node:readline";

const { HTTPParser, methods } = process.binding("http_parser");
/** More than the reader that is compared takes, so that only the other limits are. */
const headBytesMax = 64 * 1024;

class Reading {
  #parser = new HTTPParser();
  #message = null;
  #isUpgraded = false;
  messages = [];

  constructor() {
    const parser = this.#parser;
    let fields = [];
    let url = "";
    parser[HTTPParser.kOnHeaders] = (more, part) => {
      // Fields beyond the parser's buffer, and those behind the last chunk.
      if (this.#message === null) {
        fields.push(...more);
        url += part;
      }
    };
    parser[HTTPParser.kOnHeadersComplete] = (...head) => {
      const [, minor, last, method, target, , , isUpgrade] = head;
      this.#message = {
        method: methods[method],
        target: target ?? url,
        minor,
        fields: [...fields, ...(last ?? [])],
        body: "",
        isWhole: false,
        isUpgrade,
      };
      fields = [];
      url = "";
      this.messages.push(this.#message);
      return 0;
    };
    parser[HTTPParser.kOnBody] = (bytes) => {
      this.#message.body += bytes.latin1Slice();
    };
    parser[HTTPParser.kOnMessageComplete] = () => {
      this.#message.isWhole = true;
      this.#isUpgraded = this.#message.isUpgrade;
      this.#message = null;
    };
    this.#begin();
  }

  #begin() {
    this.#isUpgraded = false;
    this.#parser.initialize(HTTPParser.REQUEST, {}, headBytesMax, HTTPParser.kLenientNone);
  }

  /** The code of the error at which reading ends; null while it goes on. */
  feed(bytes) {
    let rest = bytes;
    while (rest.length > 0) {
      const outcome = this.#parser.execute(rest);
      if (outcome instanceof Error) return outcome.code;
      // It stops behind a request to upgrade; a server that does not upgrade goes on there.
      if (!this.#isUpgraded) return null;
      rest = rest.subarray(outcome);
      this.#begin();
    }
    return null;
  }

  end() {
    this.#parser.close();
  }
}

function read(pieces) {
  const reading = new Reading();
  let error = null;
  for (const piece of pieces) {
    error = reading.feed(Buffer.from(piece, "latin1"));
    if (error !== null) break;
  }
  reading.end();
  return { messages: reading.messages, error };
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(JSON.parse(line).map(read))}\n`);
}
