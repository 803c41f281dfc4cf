import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { sliceEnvelope } from "./scan.ts";

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

function sliced(text: string): { kind: string; id?: string; value?: string; fault?: string } {
  const bytes = utf8(text);
  const slice = sliceEnvelope(bytes);
  if (slice.kind === "malformed") return slice;
  const { kind, idStart, idEnd, valueStart, valueEnd } = slice;
  return { kind, id: textOf(bytes.subarray(idStart, idEnd)), value: textOf(bytes.subarray(valueStart, valueEnd)) };
}

describe("sliceEnvelope", () => {
  test("finds result and id in the layout that nodes use, and in any other", () => {
    const value = '{"rentEpoch":18446744073709551615}';
    const result = { kind: "result", id: "7", value };
    expect(sliced(`{"jsonrpc":"2.0","result":${value},"id":7}\n`)).toEqual(result);
    expect(sliced(`{"id":7,"result":${value},"jsonrpc":"2.0"}`)).toEqual(result);
    expect(sliced(` {\n"more" : [{}] ,\t"id" : 7 , "jsonrpc" : "2.0" , "result" : ${value} }\r\n `)).toEqual(result);
    expect(sliced('{"jsonrpc":"2.0","error":{"code":-32601},"id":"a\\"}"}')).toEqual({
      kind: "error",
      id: '"a\\"}"',
      value: '{"code":-32601}',
    });
    expect(sliced('{"jsonrpc":"2.0","result":null,"id":null}')).toEqual({ kind: "result", id: "null", value: "null" });
  });

  test("names inside of values are not members", () => {
    expect(sliced('{"jsonrpc":"2.0","result":{"id":1,"error":{},"x":"\\",\\"id\\":2"},"id":3}').id).toBe("3");
  });

  test("an escaped spelling of a member's name is that member", () => {
    expect(sliced('{"jsonrpc":"2.0","result":1,"\\u0069d":5}')).toEqual({ kind: "result", id: "5", value: "1" });
    expect(sliced('{"jsonrpc":"2.0","result":1,"id":5,"i\\u0064":6}').fault).toBe("DUPLICATE_MEMBER");
    expect(sliced('{"jsonrpc":"\\u0032.0","result":1,"id":5}').kind).toBe("result");
  });

  test("takes an error that is null beside a result for none, and says where it stands", () => {
    const without = (text: string): string | null => {
      const slice = sliceEnvelope(utf8(text));
      if (slice.kind !== "result" || slice.nullError === null) return null;
      return text.slice(0, slice.nullError.start) + text.slice(slice.nullError.end);
    };
    expect(without('{"jsonrpc":"2.0","result":1,"error":null,"id":7}')).toBe('{"jsonrpc":"2.0","result":1,"id":7}');
    expect(without('{"error" : null , "jsonrpc":"2.0","result":1,"id":7}')).toBe(
      '{ "jsonrpc":"2.0","result":1,"id":7}',
    );
    expect(without('{"jsonrpc":"2.0","id":7,"result":",1", "err\\u006fr":null }')).toBe(
      '{"jsonrpc":"2.0","id":7,"result":",1" }',
    );
    expect(without('{"jsonrpc":"2.0","result":1,"id":7}')).toBeNull();
    expect(sliced('{"jsonrpc":"2.0","error":null,"id":7}').fault).toBe("ERROR_NOT_AN_OBJECT");
  });

  test("says what is wrong with an answer", () => {
    const fault = (text: string): string | undefined => sliced(text).fault;
    expect(fault("")).toBe("NOT_JSON");
    expect(fault("<html>")).toBe("NOT_JSON");
    expect(fault('"2.0"')).toBe("NOT_AN_OBJECT");
    expect(fault('[{"jsonrpc":"2.0","result":1,"id":1}]')).toBe("NOT_AN_OBJECT");
    expect(fault("{}")).toBe("WRONG_VERSION");
    expect(fault('{"result":1,"id":1}')).toBe("WRONG_VERSION");
    for (const version of ['"1.0"', "2.0", "12.03", '"2.0 "', '"2\\u002f0"', "null"]) {
      expect(fault(`{"jsonrpc":${version},"result":1,"id":1}`)).toBe("WRONG_VERSION");
    }
    expect(fault('{"jsonrpc":"2.0","result":1}')).toBe("NO_ID");
    expect(fault('{"jsonrpc":"2.0","id":1}')).toBe("NO_RESULT_OR_ERROR");
    expect(fault('{"jsonrpc":"2.0","result":1,"error":{},"id":1}')).toBe("RESULT_AND_ERROR");
    for (const error of ["null", '"x"', "[]", "1"]) {
      expect(fault(`{"jsonrpc":"2.0","error":${error},"id":1}`)).toBe("ERROR_NOT_AN_OBJECT");
    }
    for (const twice of ['"id":1', '"result":1', '"jsonrpc":"2.0"']) {
      expect(fault(`{"jsonrpc":"2.0","result":1,"id":1,${twice}}`)).toBe("DUPLICATE_MEMBER");
    }
    expect(fault('{"jsonrpc":"2.0","error":{},"error":{},"id":1}')).toBe("DUPLICATE_MEMBER");
    for (const after of ["x", "{}", ",", "\0", "\u00a0", "\ufeff"]) {
      expect(fault(`{"jsonrpc":"2.0","result":1,"id":1}${after}`)).toBe("NOT_JSON");
    }
  });

  test("with any one byte left out or put in the place of another, what is accepted is JSON", () => {
    const text = '{"jsonrpc":"2.0", "result":{"a":[1,"b"]},"more":{"c":1},"id":7}';
    expect(sliced(text).kind).toBe("result");
    let refused = 0;
    for (let at = 0; at < text.length; at += 1) {
      for (const other of ["", ...'{}[],:;"x1 ']) {
        const changed = text.slice(0, at) + other + text.slice(at + 1);
        if (sliced(changed).kind === "malformed") refused += 1;
        else expect(() => JSON.parse(changed)).not.toThrow();
      }
    }
    expect(refused).toBeGreaterThan(300);
  });

  test("a truncated answer is malformed wherever it was cut", () => {
    const text = '{"jsonrpc":"2.0","result":{"a":[1.5e3,"\\u00e9é",true,null,{"id":9}]},"id":1}';
    const bytes = utf8(text);
    expect(sliceEnvelope(bytes).kind).toBe("result");
    for (let length = 0; length < bytes.length; length++)
      expect(sliceEnvelope(bytes.slice(0, length)).kind).toBe("malformed");
  });

  test("nesting is bounded, and the bound can be set", () => {
    const nested = (depth: number): Uint8Array =>
      utf8(`{"jsonrpc":"2.0","id":1,"result":${"[".repeat(depth)}${"]".repeat(depth)}}`);
    expect(sliceEnvelope(nested(127)).kind).toBe("result");
    expect(sliceEnvelope(nested(128)).kind).toBe("malformed");
    expect(sliceEnvelope(nested(2_000_000)).kind).toBe("malformed");
    expect(sliceEnvelope(nested(5), 6).kind).toBe("result");
    expect(sliceEnvelope(nested(6), 6).kind).toBe("malformed");
  });
});

describe("the id's range", () => {
  test("is the id and not one byte besides, so that another id can be put there", () => {
    const value = fc.jsonValue({ maxDepth: 4 });
    const id = fc.oneof(fc.maxSafeNat(), fc.string(), fc.constant(null));
    fc.assert(
      fc.property(value, id, id, fc.nat(23), (result, oldId, newId, order) => {
        const members = [
          `"jsonrpc":"2.0"`,
          `"result":${JSON.stringify(result)}`,
          `"id":${JSON.stringify(oldId)}`,
          '"x":18446744073709551615',
        ];
        for (let i = 3, left = order; i > 0; left = Math.floor(left / (i + 1)), i--) {
          const j = left % (i + 1);
          [members[i], members[j]] = [members[j] ?? "", members[i] ?? ""];
        }
        const text = `{${members.join(" , ")}}`;
        const slice = sliceEnvelope(utf8(text));
        if (slice.kind === "malformed") throw new Error(slice.fault);
        const replacement = JSON.stringify(newId);
        const bytes = utf8(text);
        const spliced = `${textOf(bytes.subarray(0, slice.idStart))}${replacement}${textOf(bytes.subarray(slice.idEnd))}`;
        const at = members.findIndex((member) => member.startsWith('"id"'));
        expect(spliced).toBe(`{${members.with(at, `"id":${replacement}`).join(" , ")}}`);
      }),
      { seed: 20261120, numRuns: 300 },
    );
  });
});
