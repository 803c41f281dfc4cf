import { expect, test } from "bun:test";
import fc from "fast-check";
import { readEnvelope } from "./envelope.ts";

function single(text: string): unknown {
  const envelope = readEnvelope(text, 100);
  return envelope.kind === "single" ? envelope.item : envelope;
}

test("a call's parts are slices of the text, whatever the order and white space", () => {
  expect(single('{"jsonrpc":"2.0","id":1,"method":"getSlot","params":[ {"a":"}]"} ]}')).toEqual({
    ok: true,
    id: "1",
    method: "getSlot",
    params: '[ {"a":"}]"} ]',
  });
  expect(single(' {\n"method" : "getSlot" ,\t"id":"a" , "jsonrpc":"2.0" }\r\n')).toEqual({
    ok: true,
    id: '"a"',
    method: "getSlot",
    params: null,
  });
});

test("params null is as good as none, an object is checked by the method, other kinds are refused by name", () => {
  const withParams = (params: string) => single(`{"jsonrpc":"2.0","id":1,"method":"m","params":${params}}`);
  expect(withParams("null")).toMatchObject({ ok: true, params: null });
  expect(withParams('{ "a":[1,"}"] }')).toMatchObject({ ok: true, params: '{ "a":[1,"}"] }' });
  for (const params of ["1", '"[]"', "true"])
    expect(withParams(params)).toMatchObject({ code: "INVALID_PARAMS", id: "1" });
  expect(withParams("{a:1}")).toMatchObject({ code: "PARSE_ERROR" });
});

test("escaped names and methods mean what they spell", () => {
  expect(single('{"json\\u0072pc":"2.0","\\u0069d":7,"method":"get\\u0053lot"}')).toMatchObject({
    ok: true,
    id: "7",
    method: "getSlot",
  });
  expect(single('{"jsonrpc":"2.0","id":7,"\\u006dethod":"m","p\\u0061rams":[1],"\\u0078":2}')).toEqual({
    ok: true,
    id: "7",
    method: "m",
    params: "[1]",
  });
});

test("a batch's calls are read each for itself, within the bound", () => {
  const call = (id: number) => `{"jsonrpc":"2.0","id":${id},"method":"m","params":[{"a":"]"},${id}]}`;
  const read = (id: number) => ({ ok: true, id: `${id}`, method: "m", params: `[{"a":"]"},${id}]` });
  expect(readEnvelope(`[${call(1)}]`, 3)).toEqual({ kind: "batch", items: [read(1)] } as never);
  const spaced = ` [ ${call(1)} ,\n${call(2)}\t,${call(3)}\r] `;
  expect(readEnvelope(spaced, 3)).toEqual({ kind: "batch", items: [read(1), read(2), read(3)] } as never);
  const refusal = { ok: false, id: "null", code: "INVALID_REQUEST", message: null };
  expect(readEnvelope(`[1,"[",{"id":5},[${call(1)}],null,${call(2)}]`, 6)).toEqual({
    kind: "batch",
    items: [
      refusal,
      refusal,
      { ok: false, id: "5", code: "INVALID_REQUEST", message: "Unsupported JSON-RPC protocol version" },
      refusal,
      refusal,
      read(2),
    ],
  } as never);
});

test("a body that is neither a call nor a batch of as many as may be is refused as a whole", () => {
  const refused = (message: string | null) => ({ kind: "refused", code: "INVALID_REQUEST", message }) as never;
  for (const text of ["5", "null", '"text"', " true "]) expect(readEnvelope(text, 3)).toEqual(refused(null));
  for (const text of ["[]", " [ ] "]) {
    expect(readEnvelope(text, 3)).toEqual(refused("A batch holds at least one call"));
  }
  expect(readEnvelope("[1,2,3,4]", 3)).toEqual(refused("A batch holds at most 3 calls"));
  expect(readEnvelope("[1,2,3]", 3)).toMatchObject({ kind: "batch" });
});

test("the last of a name counts", () => {
  expect(single('{"jsonrpc":"2.0","id":1,"id":2,"method":"a","method":"b"}')).toMatchObject({ id: "2", method: "b" });
});

test("ids that are no number or string are refused with id null", () => {
  const refusal = { code: "INVALID_REQUEST", id: "null" };
  for (const id of ["null", "true", "[1]", '{"a":1}']) {
    const message = "The id must be a number or a string";
    expect(single(`{"jsonrpc":"2.0","id":${id},"method":"m"}`)).toMatchObject({ ...refusal, message });
  }
  expect(single('{"jsonrpc":"2.0","method":"m"}')).toMatchObject({ ...refusal, message: "The id is missing" });
});

test("text that is no JSON is a parse error", () => {
  for (const text of [
    "",
    "{",
    "nope",
    '{"jsonrpc":"2.0","id":1,"method":"m"} x',
    '{"jsonrpc":"2.0","id":01,"method":"m"}',
    '{"jsonrpc":"2.0","id":1,"method":"m",}',
    '{"jsonrpc":"2.0","id":1,"method":"m" "params":[]}',
    '{"jsonrpc":"2.0","id":"a\nb","method":"m"}',
    '{"jsonrpc":"2.0","id":1,"method":"m","x":nope}',
    '[{"jsonrpc":"2.0"]',
    // Of each member another reader than the quick one has to say that it is none.
    '{"jsonrpc":nope,"id":1,"method":"m"}',
    '{"jsonrpc":"\\u0032.0","id":1.5,"method":"\\u006d","x":nope}',
    '{"jsonrpc":"2.0","id":1,"method":"\\x"}',
    '{"jsonrpc":"2.0","id":"\\x","method":"m"}',
    '{"jsonrpc":"2.0","id":1-2,"method":"m"}',
    '{"jsonrpc":"2.0","id":1a,"method":"m"}',
    '{"jsonrpc":"2.0","id":"\u001f","method":"\u001f"}',
  ]) {
    expect([text, single(text)]).toMatchObject([text, { code: "PARSE_ERROR" }]);
  }
});

test("a version is what it spells, and no other version is taken", () => {
  const withVersion = (version: string) => single(`{"jsonrpc":${version},"id":1,"method":"m"}`);
  for (const version of ['"2.0"', '"\\u0032.0"', '"2\\u002e\\u0030"'])
    expect(withVersion(version)).toMatchObject({ ok: true });
  for (const version of ['"2\\u002f0"', '"1.0"', "2.0", '"2.0 "', "null", "{}", '["2.0"]']) {
    expect(withVersion(version)).toMatchObject({ ok: false, id: "1", code: "INVALID_REQUEST" });
  }
});

test("with any one character left out or put in the place of another, what is accepted is JSON", () => {
  // The second has a member that is not read, so that its text is checked as a whole.
  for (const text of [
    '{ "jsonrpc":"2.0", "id":1,"method":"m" }',
    '{ "jsonrpc":"2.0", "id":1,"x":[{"y":2}],"method":"m" }',
  ]) {
    expect(single(text)).toMatchObject({ ok: true });
    let refused = 0;
    for (let at = 0; at < text.length; at += 1) {
      for (const other of ["", ...'{}[],:;"x1 ']) {
        const changed = text.slice(0, at) + other + text.slice(at + 1);
        const item = single(changed) as { ok?: boolean };
        if (item.ok === true) expect(() => JSON.parse(changed)).not.toThrow();
        else refused += 1;
      }
    }
    expect(refused).toBeGreaterThan(200);
  }
});

/** Values whose JSON text, in any spelling of white space, is a legal call. */
const idText = fc.oneof(
  fc.string({ unit: "binary" }).map((text) => JSON.stringify(text)),
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc.bigInt({ min: 0n, max: 2n ** 70n }).map(String),
);

test("every legal call is read as JSON.parse reads it, with its id's own text", () => {
  fc.assert(
    fc.property(
      idText,
      fc.string(),
      fc.array(fc.jsonValue()),
      fc.dictionary(fc.string(), fc.jsonValue()),
      (id, method, params, rest) => {
        const { jsonrpc: _j, id: _i, method: _m, params: _p, ...others } = rest;
        const members = Object.entries(others).map(
          ([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`,
        );
        members.splice(members.length >> 1, 0, `"id":${id}`, `"params": ${JSON.stringify(params, null, 1)}`);
        const text = `{${members.join(" , ")},"method":${JSON.stringify(method)},"jsonrpc":"2.0"}`;
        const item = single(text) as { ok: boolean; id: string; method: string; params: string };
        expect(item.ok).toBe(true);
        expect([item.id, item.method]).toEqual([id, method]);
        expect(JSON.parse(item.params)).toEqual(JSON.parse(JSON.stringify(params)));
      },
    ),
    { numRuns: 500 },
  );
});

test("no text at all makes it throw, and what it accepts is JSON but for the inside of params", () => {
  const pieces = fc.constantFrom(
    ...[
      "{",
      "}",
      "[",
      "]",
      ",",
      ":",
      '"',
      "\\",
      " ",
      "1",
      "null",
      '"jsonrpc":"2.0"',
      '"id":1',
      '"method":"m"',
      '"params":[]',
    ],
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 14 }), (parts) => {
      const text = parts.join("");
      const envelope = readEnvelope(text, 3);
      if (envelope.kind === "single" && envelope.item.ok && envelope.item.params === null) JSON.parse(text);
    }),
    { numRuns: 3_000 },
  );
});
