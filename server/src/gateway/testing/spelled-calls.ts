import { connect } from "node:net";
import { testKey } from "./booted-gateway.ts";

const account = "9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g";
const spaces = ["", " ", "\n", "\t", "\r\n", "   "];

/** What the node answers to all of them, under its caller's id. */
export const answerOf = (id: string): string =>
  `{"jsonrpc":"2.0","result":{"context":{"slot":100},"value":1},"id":${id}}`;

/** One call as some client spells it: any id, any white space, any order of members. */
export class Spelling {
  readonly #next: () => number;

  constructor(next: () => number) {
    this.#next = next;
  }

  #pick(from: readonly string[]): string {
    return from[Math.floor(this.#next() * from.length)] ?? "";
  }

  /** Unique by its index, in one of the forms that clients use. */
  id(index: number): string {
    return this.#pick([`${index}`, `"${index}"`, `"id-${index}"`, `"\\u00e9${index}"`]);
  }

  body(id: string): string {
    const space = (): string => this.#pick(spaces);
    const params = this.#pick([
      `[${space()}"${account}"${space()}]`,
      `[${space()}"\\u0039${account.slice(1)}",null]`,
      `["${account}",${space()}{"commitment"${space()}:"confirmed"}]`,
    ]);
    const members = [
      `"jsonrpc":"2.0"`,
      `"id":${space()}${id}`,
      `"method":${space()}"getBalance"`,
      `"params":${params}`,
    ];
    for (let index = members.length - 1; index > 0; index -= 1) {
      const other = Math.floor(this.#next() * (index + 1));
      const moved = members[index] ?? "";
      members[index] = members[other] ?? "";
      members[other] = moved;
    }
    return `{${space()}${members.join(`${space()},${space()}`)}${space()}}`;
  }
}

/** Sends one call on a connection of its own and gives the body of its answer; rejects when there is none. */
export function callAlone(port: number, body: string, opened: () => void): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let text = "";
    socket.on("connect", () => {
      socket.write(
        `POST /rpc HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nX-API-Key: ${testKey}\r\nConnection: close\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
      opened();
    });
    socket.on("data", (bytes: Buffer) => {
      text += bytes.toString();
      const split = text.indexOf("\r\n\r\n");
      const length = Number(/content-length: *(\d+)/i.exec(text)?.[1] ?? Number.NaN);
      if (split < 0 || Buffer.byteLength(text.slice(split + 4)) < length) return;
      resolve(text.slice(split + 4));
      socket.destroy();
    });
    socket.on("error", reject);
    socket.on("close", () => reject(new Error(`a connection was closed after ${JSON.stringify(text)}`)));
  });
}
