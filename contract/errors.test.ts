import { describe, expect, test } from "bun:test";
import { type ErrorCode, errorDocsPath, errorTable, SluiceError } from "./errors.ts";
import { errorGuide } from "./errors-guide.ts";

const definitions = Object.entries(errorTable);

describe("the error table", () => {
  test("no two codes share a JSON-RPC code", () => {
    const codes = definitions.map(([, definition]) => definition.rpcCode);
    expect(new Set(codes).size).toBe(codes.length);
  });

  test("no code of ours lies among Solana's own, -32001 to -32021", () => {
    for (const [code, { rpcCode }] of definitions)
      expect([code, rpcCode <= -32001 && rpcCode >= -32021]).toEqual([code, false]);
  });

  test("JSON-RPC codes are the standard's four or lie in our own range", () => {
    const standard: readonly number[] = [-32700, -32600, -32601, -32602];
    for (const [code, { rpcCode }] of definitions) {
      expect([code, standard.includes(rpcCode) || (rpcCode <= -33400 && rpcCode > -33600)]).toEqual([code, true]);
    }
  });

  test("what a client should retry is a limit, a node's fault or ours", () => {
    for (const [code, { retryable, status }] of definitions) {
      expect([code, retryable]).toEqual([code, status === 429 || status >= 500]);
    }
  });

  test("no two codes share a place in the documentation", () => {
    const paths = definitions.map(([code]) => errorDocsPath(code as ErrorCode));
    expect(new Set(paths).size).toBe(paths.length);
    expect(errorDocsPath("INVALID_API_KEY")).toBe("/docs/errors#invalid-api-key");
  });

  test("every code is explained, and nothing else is", () => {
    expect(Object.keys(errorGuide).sort()).toEqual(Object.keys(errorTable).sort());
  });

  test("a thrown error carries its code, its public text and its details", () => {
    const error = new SluiceError("INVALID_PARAMS", { details: { parameter: "limit" }, cause: new Error("inner") });
    expect(error).toMatchObject({ code: "INVALID_PARAMS", message: "Invalid params", details: { parameter: "limit" } });
    expect(error.cause).toBeInstanceOf(Error);
  });
});
