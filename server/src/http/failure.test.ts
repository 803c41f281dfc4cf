import { expect, test } from "bun:test";
import { errorTable, SluiceError } from "@sluice/contract/errors";
import { failureOf } from "./failure.ts";
import { preflightResponse, retryAfter, writeRateLimitHeaders } from "./headers.ts";
import { jsonRpcFailureBody, jsonRpcFailureResponse } from "./json-rpc-failure.ts";
import { problemResponse } from "./problem.ts";

test("a problem has the members of RFC 9457 and of Sluice, and the headers of its status", async () => {
  const errors = [{ path: "name", message: "Required" }];
  const response = problemResponse("INVALID_INPUT", { requestId: "req_1", details: { errors, field: 2n } });
  expect(response.status).toBe(400);
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  expect(response.headers.get("x-request-id")).toBe("req_1");
  expect(response.headers.get("x-error-code")).toBe("INVALID_INPUT");
  expect(await response.json()).toEqual({
    field: "2",
    type: "/docs/errors#invalid-input",
    title: errorTable.INVALID_INPUT.text,
    status: 400,
    detail: errorTable.INVALID_INPUT.text,
    instance: "req_1",
    code: "INVALID_INPUT",
    errors,
  });
});

test("every code gives a failing status as a problem, and Retry-After with 429 and 503 exactly", () => {
  for (const code of Object.keys(errorTable) as (keyof typeof errorTable)[]) {
    const response = problemResponse(code, { requestId: "r" });
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(response.headers.has("retry-after")).toBe(response.status === 429 || response.status === 503);
    expect(response.headers.has("www-authenticate")).toBe(response.status === 401);
  }
});

test("payload members never replace the standard ones", async () => {
  const response = problemResponse("CONFLICT", { requestId: "r", details: { code: "x", status: 1, instance: "y" } });
  expect(await response.json()).toMatchObject({ code: "CONFLICT", status: 409, instance: "r" });
});

test("a JSON-RPC failure carries code, retry_after and request_id in data and its code in a header", async () => {
  const response = jsonRpcFailureResponse("RATE_LIMIT_EXCEEDED", {
    requestId: "req_2",
    idJson: '"a\\u0000"',
    details: { retryAfterSeconds: 1.2 },
  });
  expect(response.status).toBe(429);
  expect(response.headers.get("retry-after")).toBe("2");
  expect(response.headers.get("x-error-code")).toBe("RATE_LIMIT_EXCEEDED");
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(await response.json()).toEqual({
    jsonrpc: "2.0",
    id: "a\0",
    error: {
      code: -33429,
      message: "Rate limit exceeded",
      data: { code: "RATE_LIMIT_EXCEEDED", retry_after: 2, request_id: "req_2" },
    },
  });
});

test("a JSON-RPC failure without an id to read has id null and no retry_after where waiting does not help", () => {
  expect(JSON.parse(jsonRpcFailureBody("PARSE_ERROR", { requestId: "r" }))).toEqual({
    jsonrpc: "2.0",
    id: null,
    error: { code: -32700, message: "Parse error", data: { code: "PARSE_ERROR", request_id: "r" } },
  });
});

test("failureOf hides what it does not know", () => {
  const known = new SluiceError("NOT_FOUND");
  expect(failureOf(known)).toBe(known);
  const unknown = failureOf(new Error("password=secret"));
  expect(unknown.code).toBe("INTERNAL_ERROR");
  expect(unknown.message).not.toContain("secret");
});

test("rate-limit headers and Retry-After are whole numbers, the latter at least 1", () => {
  const headers: Record<string, string> = {};
  writeRateLimitHeaders(headers, { limit: 10, burst: 20, remaining: 7, resetAt: 1_800_000_000 });
  expect(headers).toEqual({
    "X-RateLimit-Limit": "10",
    "X-RateLimit-Remaining": "7",
    "X-RateLimit-Reset": "1800000000",
    "X-RateLimit-Burst": "20",
  });
  expect([retryAfter(0), retryAfter(0.01), retryAfter(1.01), retryAfter(Number.NaN)]).toEqual([1, 1, 2, 1]);
});

test("a preflight echoes requested headers, allows any origin, never credentials, and echoes no nonsense", () => {
  const response = preflightResponse("x-api-key, content-type", ["POST", "OPTIONS"], "r");
  expect(response.status).toBe(204);
  expect(response.headers.get("access-control-allow-origin")).toBe("*");
  expect(response.headers.get("access-control-allow-headers")).toBe("x-api-key, content-type");
  expect(response.headers.get("access-control-allow-methods")).toBe("POST, OPTIONS");
  expect(response.headers.get("access-control-allow-credentials")).toBeNull();
  expect(response.headers.get("access-control-expose-headers")?.split(", ").sort()).toEqual([
    "Retry-After",
    "X-Cache-Status",
    "X-Data-Since",
    "X-Error-Code",
    "X-Next-Signature",
    "X-RPC-Endpoint",
    "X-RPC-Latency-Ms",
    "X-RateLimit-Burst",
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
    "X-Request-Id",
  ]);
  expect(preflightResponse("a<b", [], "r").headers.has("access-control-allow-headers")).toBe(false);
});
