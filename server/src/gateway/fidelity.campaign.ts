import { seededRandom } from "@sluice/lib";
import { StubNode } from "../upstreams/testing/stub-node.ts";
import { type BootedGateway, bootGateway } from "./testing/booted-gateway.ts";

const words = ["rentEpoch", "lamports", "a", "id", "result", 'q\\"uote', "\\u00e9", "🦀é", "\\\\", "", "context"];
const numbers = [
  "18446744073709551615",
  "9007199254740993",
  "0",
  "-0",
  "1.10",
  "1e9",
  "-1.5E-3",
  "340282366920938463463374607431768211455",
];
const spaces = ["", "", "", " ", "\n", "\t ", "\r\n"];

/** Random JSON text with white space wherever it may stand. */
class Writer {
  readonly #next: () => number;

  constructor(next: () => number) {
    this.#next = next;
  }

  pick<T>(from: readonly [T, ...T[]] | readonly T[]): T {
    const item = from[Math.floor(this.#next() * from.length)];
    if (item === undefined) throw new RangeError("nothing to pick from");
    return item;
  }

  space(): string {
    return this.pick(spaces);
  }

  value(depth: number): string {
    const kind = Math.floor(this.#next() * (depth > 0 ? 6 : 4));
    if (kind === 0) return this.pick(numbers);
    if (kind === 1) return `"${this.pick(words)}"`;
    if (kind === 2) return this.pick(["true", "false", "null"]);
    if (kind === 3) return `"${"x".repeat(Math.floor(this.#next() * 400))}"`;
    const count = Math.floor(this.#next() * 4);
    const items = Array.from({ length: count }, () => {
      const value = `${this.space()}${this.value(depth - 1)}${this.space()}`;
      return kind === 4 ? value : `${this.space()}"${this.pick(words)}"${this.space()}:${value}`;
    });
    return kind === 4 ? `[${items.join(",")}${count === 0 ? this.space() : ""}]` : `{${items.join(",")}}`;
  }

  /** An id of any legal form, as JSON text. */
  id(): string {
    if (this.#next() < 0.5) return this.pick(numbers);
    return `"${this.pick(words)}${Math.floor(this.#next() * 1e6)}"`;
  }

  /** An answer in a random order of members, with its id left out: the text before it and the text after it. */
  answer(): readonly [string, string] {
    const outcome =
      this.#next() < 0.8
        ? `"result"${this.space()}:${this.space()}${this.value(4)}`
        : `"error":{"code":${this.space()}-32002,"message":"${this.pick(words)}","data":${this.value(3)}}`;
    const members = [`"jsonrpc":${this.space()}"2.0"`, outcome, `"id"${this.space()}:${this.space()}\u0000`];
    for (let index = members.length - 1; index > 0; index -= 1) {
      const other = Math.floor(this.#next() * (index + 1));
      const moved = members[index] ?? "";
      members[index] = members[other] ?? "";
      members[other] = moved;
    }
    const text = `${this.space()}{${this.space()}${members.join(`${this.space()},${this.space()}`)}${this.space()}}${this.space()}`;
    const cut = text.indexOf("\u0000");
    return [text.slice(0, cut), text.slice(cut + 1)];
  }
}

async function checkOne(booted: BootedGateway, node: StubNode, writer: Writer): Promise<string | null> {
  const [head, tail] = writer.answer();
  node.answer = (call) => Buffer.from(head + call.id + tail);
  const id = writer.id();
  const space = (): string => writer.space();
  const members = [
    `"jsonrpc"${space()}:${space()}"2.0"`,
    `"id"${space()}:${space()}${id}${space()}`,
    '"method":"getVersion"',
  ];
  const body = `${space()}{${space()}${members.join(`,${space()}`)}${space()}}${space()}`;
  const response = await booted.post(body);
  const bytes = Buffer.from(await response.arrayBuffer());
  const expected = Buffer.from(head + id + tail);
  if (response.status === 200 && bytes.equals(expected)) return null;
  return `status ${response.status}\nsent ${body}\nexpected ${expected}\nreceived ${bytes}`;
}

/**
 * Fidelity: `n` random answers of a node arrive byte for byte but for the id, which is echoed byte for byte in whatever
 * legal form the caller wrote it (goals: fidelity).
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  const random = seededRandom(seed);
  const writer = new Writer(() => random.next());
  using node = new StubNode(() => "");
  await using booted = await bootGateway({ upstreams: { devnet: node } });
  for (let count = 0; count < n; count += 1) {
    const fault = await checkOne(booted, node, writer);
    if (fault !== null) return { passed: false, summary: `answer ${count} of seed ${seed} was changed: ${fault}` };
  }
  return { passed: true, summary: `${n} answers arrived byte for byte` };
}
