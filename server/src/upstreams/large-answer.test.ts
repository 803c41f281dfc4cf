import { expect, test } from "bun:test";
import type { ByteSource } from "@sluice/lib";
import fc from "fast-check";
import { CutBody } from "../net/http1/client/body-source.ts";
import { readAnswer } from "./answer.ts";
import { LargeAnswer, readBeginning } from "./large-answer.ts";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

class Pieces implements ByteSource {
  readonly #pieces: Uint8Array[];
  #lent: Uint8Array | null = null;
  isCancelled = false;

  constructor(pieces: Uint8Array[]) {
    this.#pieces = pieces;
  }

  /** Spoils what was lent before, as memory that is given back would be. */
  next(): Promise<Uint8Array | null> {
    this.#lent?.fill(0);
    this.#lent = this.#pieces.shift() ?? null;
    return Promise.resolve(this.#lent);
  }

  cancel(): void {
    this.isCancelled = true;
  }
}

function cut(bytes: Uint8Array, lengths: readonly number[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let start = 0;
  for (const length of lengths) {
    if (start >= bytes.length) break;
    pieces.push(Uint8Array.from(bytes.subarray(start, start + length)));
    start += length;
  }
  if (start < bytes.length) pieces.push(Uint8Array.from(bytes.subarray(start)));
  return pieces;
}

interface Opened {
  readonly large: LargeAnswer;
  readonly rest: Pieces;
  readonly cuts: string[];
}

/** The answer as a node's call makes it: evaluated by its first piece. Null when it has to be gathered. */
function open(
  text: string,
  lengths: readonly number[],
  options: { id?: string; bytesMax?: number } = {},
): Opened | null {
  const { id = "41", bytesMax = 1e9 } = options;
  const [bytes = new Uint8Array(0), ...others] = cut(bytesOf(text), [300, ...lengths]);
  const read = readBeginning(bytes, id);
  if (read === null) return null;
  const rest = new Pieces(others);
  const cuts: string[] = [];
  const large = new LargeAnswer({ id, bytesMax }, { bytes, read }, { rest, onCut: (kind) => cuts.push(kind) });
  return { large, rest, cuts };
}

async function textOf(source: ByteSource): Promise<string> {
  let whole = Buffer.alloc(0);
  for (let piece = await source.next(); piece !== null; piece = await source.next())
    whole = Buffer.concat([whole, piece]);
  return whole.toString();
}

const space = fc.constantFrom("", " ", "\n\t", "\r\n  ");
const version = '"jsonrpc":"2.0"';
const envelopes = fc
  .record({
    value: fc.oneof(
      fc.array(fc.string({ unit: "binary", maxLength: 80 }), { maxLength: 30 }).map((list) => JSON.stringify(list)),
      fc.json({ stringUnit: "binary" }).filter((text) => /^[[{"]/.test(text)),
    ),
    order: fc.constantFrom("vri", "vir", "ivr", "riv", "ri v", "irv"),
    spaces: fc.array(space, { minLength: 8, maxLength: 8 }),
    extra: fc.constantFrom("", '"more":{"id":9}'),
  })
  .map(({ value, order, spaces, extra }) => {
    const [a = "", b = "", c = "", d = "", e = "", f = ""] = spaces;
    const members: Record<string, string> = {
      v: version,
      r: `"result"${a}:${b}${value}`,
      i: `"id"${c}:${d}ID`,
    };
    const parts = [...order.replace(" ", "")].map((letter) => members[letter] ?? "");
    if (extra !== "") parts.push(extra);
    return { envelope: `${a}{${e}${parts.join(`${f},${a}`)}${c}}${d}`, value };
  });
const ids = fc.constantFrom("1", "18446744073709551615", "-1.5e3", '"é😀"', '"41"', '""');

test("of any envelope, cut anywhere, every byte but our id is the node's own", async () => {
  await fc.assert(
    fc.asyncProperty(envelopes, ids, fc.array(fc.nat({ max: 50 })), async ({ envelope }, id, lengths) => {
      // The placeholder stands for the id outside of the result: values are made of other letters in most runs.
      const at =
        [envelope.indexOf('"id":ID'), envelope.search(/"id"[ \r\n\t]*:[ \r\n\t]*ID/)].find((place) => place >= 0) ?? 0;
      const put = (text: string): string => envelope.slice(0, at) + envelope.slice(at).replace("ID", () => text);
      const opened = open(put("41"), lengths);
      expect(opened).not.toBeNull();
      if (opened === null) return;
      expect(await textOf(opened.large.read(id))).toBe(put(id));
      expect(opened.cuts).toEqual([]);
      const whole = readAnswer(bytesOf(put("41")), { id: "41" }, "a");
      expect(whole).not.toBeNull();
      const again = open(put("41"), lengths);
      const gathered = await again?.large.gather(() => true);
      expect(
        Buffer.concat([gathered?.head ?? bytesOf(""), bytesOf(id), gathered?.tail ?? bytesOf("")]).toString(),
      ).toBe(put(id));
    }),
    { numRuns: 300, seed: 11 },
  );
});

const list = JSON.stringify(Array.from({ length: 60 }, (_, index) => `value ${index}`));

test("an error that is null behind the result is cut out of the end", async () => {
  for (const end of [',"error":null,"id":41}', ',"id":41,"error":null}']) {
    const opened = open(`{"jsonrpc":"2.0","result":${list}${end}`, [5, 9]);
    expect(await textOf(opened?.large.read('"mine"') ?? new Pieces([]))).toBe(
      `{"jsonrpc":"2.0","result":${list},"id":"mine"}`,
    );
    expect(opened?.cuts).toEqual([]);
  }
});

test("what is no beginning of a result under our id is left to be gathered", () => {
  for (const text of [
    `{"jsonrpc":"2.0","id":42,"result":${list}}`,
    `{"id":41,"id":41,"result":${list},"jsonrpc":"2.0"}`,
    `{"jsonrpc":"2.0","id":"41","result":${list}}`,
    `{"jsonrpc":"2.0","error":{"code":1,"message":"m","data":${list}},"id":41}`,
    `{"jsonrpc":"1.0","result":${list},"id":41}`,
    `{"jsonrpc":"2.0","other":1,"result":${list},"id":41}`,
    `[{"jsonrpc":"2.0","result":${list},"id":41}]`,
    `{"jsonrpc":"2.0","result":123456789,"id":41}`,
    `<html>${list}</html>`,
    "",
  ]) {
    expect([text, open(text, [])]).toEqual([text, null]);
  }
});

const badEnds: readonly (readonly [string, string])[] = [
  ["the id of another call", `{"jsonrpc":"2.0","result":${list},"id":42}`],
  ["an id that is a string", `{"jsonrpc":"2.0","result":${list},"id":"41"}`],
  ["no id", `{"jsonrpc":"2.0","result":${list}}`],
  ["no version", `{"result":${list},"id":41}`],
  ["an id before and one after", `{"jsonrpc":"2.0","id":41,"result":${list},"id":41}`],
  ["two results", `{"jsonrpc":"2.0","result":${list},"result":[],"id":41}`],
  ["a result and an error", `{"jsonrpc":"2.0","result":${list},"error":{},"id":41}`],
  ["a second object", `{"jsonrpc":"2.0","result":${list},"id":41}{}`],
  ["no closing brace", `{"jsonrpc":"2.0","result":${list},"id":41`],
  ["no end of the result", `{"jsonrpc":"2.0","result":${list.slice(0, -1)}`],
  ["an envelope within its own result", `{"jsonrpc":"2.0","result":[{"a":${list},"id":41}`],
  ["brackets that do not match", `{"jsonrpc":"2.0","result":[{"a":${list}],"id":41}`],
  ["a tail without end", `{"jsonrpc":"2.0","result":${list},"id":41}${" ".repeat(5_000)}`],
];

test.each(badEnds)("an answer with %s is cut before it could be read as whole", async (_name, text) => {
  for (const lengths of [[], [1, 1, 1], Array.from({ length: 400 }, () => 7)]) {
    const opened = open(text, lengths);
    if (opened === null) throw new Error("it was not taken for a large answer");
    let reported = "";
    const source = opened.large.read('"mine"');
    const reading = (async () => {
      for (let piece = await source.next(); piece !== null; piece = await source.next()) reported += Buffer.from(piece);
    })();
    await expect(reading).rejects.toBeInstanceOf(CutBody);
    expect(opened.cuts).toEqual(["malformed"]);
    expect(opened.rest.isCancelled).toBe(true);
    expect(() => JSON.parse(reported)).toThrow();
  }
});

test("more bytes than the bound are cut, and a gathering that is not granted more is cancelled", async () => {
  const text = `{"jsonrpc":"2.0","result":${list},"id":41}`;
  const bounded = open(text, [], { bytesMax: 500 });
  await expect(textOf(bounded?.large.read("1") ?? new Pieces([]))).rejects.toThrow("too-large");
  expect(bounded?.cuts).toEqual(["too-large"]);
  const refused = open(text, []);
  let left = 400;
  const grant = (bytes: number): boolean => {
    left -= bytes;
    return left >= 0;
  };
  expect(await refused?.large.gather(grant)).toBeNull();
  expect([refused?.rest.isCancelled, refused?.cuts]).toEqual([true, []]);
});

test("what was cancelled cannot be read, and is not counted against its node", async () => {
  const opened = open(`{"jsonrpc":"2.0","result":${list},"id":41}`, []);
  opened?.large.cancel();
  await expect(textOf(opened?.large.read("1") ?? new Pieces([]))).rejects.toThrow("unread");
  expect([opened?.rest.isCancelled, opened?.cuts]).toEqual([true, []]);
});
