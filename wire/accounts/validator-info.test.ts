import { expect, test } from "bun:test";
import fc from "fast-check";
import { ByteWriter } from "../bytes.ts";
import { addressOfBytes } from "../identifiers.ts";
import { decodeValidatorInfo, validatorInfoKey } from "./validator-info.ts";

const identity = addressOfBytes(new Uint8Array(32).fill(7));

function account(text: string, { first = validatorInfoKey as string, signs = 1, count = 2 } = {}): Uint8Array {
  const bytes = new TextEncoder().encode(text);
  const head = new ByteWriter().u8(count).address(first).u8(0).address(identity).u8(signs);
  return head.u64(BigInt(bytes.length)).bytes(bytes).finish();
}

test("any name comes back without space and control characters around it", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 40 }), (name) => {
      const shown = name.replaceAll(/\p{C}/gu, "").trim();
      expect(decodeValidatorInfo(account(JSON.stringify({ name, website: "x" })))).toEqual({ identity, name: shown });
    }),
  );
  const bidi = "pay\u202eroll\u0000";
  expect(decodeValidatorInfo(account(JSON.stringify({ name: bidi })))?.name).toBe("payroll");
  expect(decodeValidatorInfo(account(JSON.stringify({ name: "ü".repeat(500) })))?.name).toBe("ü".repeat(100));
});

test("what has no name has an empty one, and zeros behind the text do not matter", () => {
  for (const text of ["{}", "[]", "null", '"name"', '{"name":5}']) {
    expect(decodeValidatorInfo(account(text))).toEqual({ identity, name: "" });
  }
  const padded = new Uint8Array([...account('{"name":"a"}'), ...new Uint8Array(40)]);
  expect(decodeValidatorInfo(padded)?.name).toBe("a");
});

test("another configuration, an identity that did not sign and a broken text are none", () => {
  const whole = account('{"name":"a"}');
  const bad = [
    account("{}", { first: identity }),
    account("{}", { signs: 0 }),
    account("{}", { count: 1 }),
    account("{name"),
    whole.subarray(0, whole.length - 1),
    new Uint8Array(0),
  ];
  for (const data of bad) expect(decodeValidatorInfo(data)).toBeNull();
});
