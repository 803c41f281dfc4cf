import { expect, test } from "bun:test";
import { rpcMethods } from "@sluice/contract/rpc";
import { encodeBase58 } from "@sluice/wire/base58";
import fc from "fast-check";
import { planCall } from "./plan.ts";
import { transactionTextFault } from "./transaction-text.ts";

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");
const type = "solana_transaction::versioned::VersionedTransaction";

test("every text of 1 to 1,232 bytes passes in both encodings, and no longer one does", () => {
  const near = fc.constantFrom(1_230, 1_231, 1_232, 1_233, 1_234).chain((length) => bytesOf(length));
  fc.assert(
    fc.property(fc.oneof(near, bytesOf(1), bytesOf(600)), (bytes) => {
      const fits = bytes.length <= 1_232;
      return (
        (transactionTextFault(encodeBase58(bytes), "base58") === null) === fits &&
        (transactionTextFault(base64(bytes), "base64") === null) === fits
      );
    }),
  );
  for (const first of [0x00, 0x01, 0xff]) {
    const text = encodeBase58(new Uint8Array(1_233).fill(first));
    expect(transactionTextFault(text, "base58")).toContain(`base58 encoded ${type} too large`);
    expect(transactionTextFault(encodeBase58(new Uint8Array(1_232).fill(first)), "base58")).toBeNull();
  }
});

/** Bytes of a legacy or v0 transaction's size: they begin with a small count of signatures, or with zeros. */
function bytesOf(length: number): fc.Arbitrary<Uint8Array> {
  return fc.uint8Array({ minLength: length, maxLength: length }).map((bytes) => {
    bytes[0] = (bytes[0] ?? 0) & 0x7f;
    return bytes;
  });
}

test("a transaction of version 1 may have 4,096 bytes in base64, and nothing else may", () => {
  const v1 = (length: number): string => base64(new Uint8Array(length).fill(0x81));
  expect(transactionTextFault(v1(4_096), "base64")).toBeNull();
  expect(transactionTextFault(v1(4_097), "base64")).toBe(
    `base64 encoded ${type} too large: 4097 bytes (max: encoded/raw 5464/4096)`,
  );
  expect(transactionTextFault(base64(new Uint8Array(1_236).fill(0x7f)), "base64")).toBe(
    `base64 encoded ${type} too large: 1648 bytes (max: encoded/raw 1644/1232)`,
  );
});

test("text that is not of its encoding is refused in a node's words", () => {
  for (const [text, encoding, fault] of [
    ["!!! not base58", "base58", "invalid base58 encoding: InvalidCharacter { character: '!', index: 0 }"],
    ["2230", "base58", "invalid base58 encoding: InvalidCharacter { character: '0', index: 3 }"],
    ["x".repeat(20_000), "base58", `base58 encoded ${type} too large: 20000 bytes (max: encoded/raw 1683/1232)`],
    ["AQ=", "base64", "invalid base64 encoding: InvalidPadding"],
    ["AQ", "base64", "invalid base64 encoding: InvalidPadding"],
    ["A=Q=", "base64", "invalid base64 encoding: InvalidByte(1, 61)"],
    ["-QAA", "base64", "invalid base64 encoding: InvalidByte(0, 45)"],
    ["AQ A", "base64", "invalid base64 encoding: InvalidByte(2, 32)"],
    ["AQ-_", "base64", "invalid base64 encoding: InvalidByte(2, 45)"],
  ] as const) {
    expect(transactionTextFault(text, encoding)).toBe(fault);
  }
});

test("sendTransaction and simulateTransaction are read as base58 unless they say base64", () => {
  const faultOf = (method: string, params: string): string | null => {
    const spec = rpcMethods.get(method);
    if (spec === undefined) throw new RangeError(method);
    const { plan } = planCall(spec, params);
    return plan.ok ? null : plan.message;
  };
  for (const method of ["sendTransaction", "simulateTransaction"]) {
    for (const params of ['["2"]', '["2",{}]', '["2",null]', '["AQ==",{"encoding":"base64"}]']) {
      expect(faultOf(method, params)).toBeNull();
    }
    for (const params of ['["AQ=="]', '["AQ==",{"encoding":"base58"}]']) {
      expect(faultOf(method, params)).toStartWith("invalid base58 encoding");
    }
    expect(faultOf(method, '["!",{"encoding":"base64"}]')).toStartWith("invalid base64 encoding");
    expect(faultOf(method, "[5]")).toContain("transaction");
    expect(faultOf(method, '["2",{"encoding":"hex"}]')).toContain("encoding");
  }
});
