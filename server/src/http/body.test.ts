import { expect, test } from "bun:test";
import { z } from "zod";
import { readBody, requireJson } from "./body.ts";
import { readInput } from "./input.ts";
import { mediaFault } from "./media-type.ts";
import { isJsonContentType } from "./request-head.ts";

const bounds = { limitBytes: 8, timeoutMs: 1_000 };
const post = (body: BodyInit | null, headers: Record<string, string> = {}): Request =>
  new Request("http://localhost/", { method: "POST", body, headers });

/** A body of undeclared length, as a chunked request has. */
const chunked = (chunks: string[], end = true): Request => {
  const pending = [...chunks];
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      const next = pending.shift();
      if (next !== undefined) controller.enqueue(new TextEncoder().encode(next));
      else if (end) controller.close();
      else return new Promise(() => undefined);
      return undefined;
    },
  });
  return post(stream);
};

const codeOf = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "no failure",
    (error: { code?: unknown }) => error.code ?? error,
  );

test("a body within the limit is read whole, declared or chunked or empty", async () => {
  const text = async (request: Request): Promise<string> => new TextDecoder().decode(await readBody(request, bounds));
  expect(await text(post("12345678", { "content-length": "8" }))).toBe("12345678");
  expect(await text(chunked(["123", "45", "678"]))).toBe("12345678");
  expect(await text(chunked(["12345678"]))).toBe("12345678");
  expect(await text(post("", { "content-length": "0" }))).toBe("");
  expect(await text(post(null))).toBe("");
});

test("a body over the limit is BODY_TOO_LARGE, by its declaration and by counting", async () => {
  expect(await codeOf(readBody(post("123456789", { "content-length": "9" }), bounds))).toBe("BODY_TOO_LARGE");
  expect(await codeOf(readBody(chunked(["12345", "6789"], false), bounds))).toBe("BODY_TOO_LARGE");
});

test("a body that never ends is given up when its time is over", async () => {
  expect(await codeOf(readBody(chunked(["1"], false), { limitBytes: 8, timeoutMs: 10 }))).toBe("INVALID_REQUEST");
});

test("JSON content types are recognised and everything else is UNSUPPORTED_MEDIA_TYPE", () => {
  for (const type of ["application/json", "Application/JSON; charset=utf-8", "application/problem+json"]) {
    expect(isJsonContentType(type)).toBe(true);
  }
  for (const type of [null, "", "text/plain", "application/jsonx", "text/json", "application/x-www-form-urlencoded"]) {
    expect(isJsonContentType(type)).toBe(false);
  }
  expect(() => requireJson(new Headers())).toThrow("Content-Type");
});

test("a body in another charset or with a coding is refused by its head, and told apart from one of another type", () => {
  const faultOf = (type: string, coding?: string) => {
    const headers = { "content-type": type, ...(coding === undefined ? {} : { "content-encoding": coding }) };
    return mediaFault(new Headers(headers));
  };
  const json = "application/json";
  for (const type of [json, `${json}; charset=utf-8`, `${json};charset="UTF-8"`, `${json}; a=b; Charset = utf8`]) {
    expect(faultOf(type)).toBeNull();
  }
  for (const coding of ["identity", "", "Identity, identity"]) expect(faultOf(json, coding)).toBeNull();
  for (const charset of ["utf-16", "iso-8859-1", "latin1", '"utf-16le"', "x", ""]) {
    const fault = faultOf(`${json}; charset=${charset}`);
    expect(fault?.message).toContain("charset");
    expect(fault?.details).toBeUndefined();
  }
  for (const coding of ["gzip", "identity, br", "deflate", "x"]) {
    expect(faultOf(json, coding)?.details).toEqual({ acceptEncoding: "identity" });
  }
  expect(faultOf("text/plain", "gzip")).toEqual({ code: "UNSUPPORTED_MEDIA_TYPE" });
});

test("readInput lists what is wrong by path, and distinguishes bad JSON from bad fields", async () => {
  const schema = z.strictObject({ name: z.string(), tags: z.array(z.string()) });
  const json = { "content-type": "application/json" };
  const wide = { limitBytes: 1_000, timeoutMs: 1_000 };
  expect(await readInput(post('{"name":"a","tags":[]}', json), schema, wide)).toEqual({ name: "a", tags: [] });
  expect(await codeOf(readInput(post("{", json), schema, wide))).toBe("PARSE_ERROR");
  expect(await codeOf(readInput(post(new Uint8Array([0x22, 0xff, 0x22]), json), schema, wide))).toBe("PARSE_ERROR");
  expect(await codeOf(readInput(post("{}"), schema, wide))).toBe("UNSUPPORTED_MEDIA_TYPE");
  const failure = await readInput(post('{"name":1,"tags":["a",2],"x":1}', json), schema, wide).catch((error) => error);
  expect(failure.code).toBe("INVALID_INPUT");
  expect(failure.details.errors.map((fault: { path: string }) => fault.path)).toEqual(["name", "tags.1", "x"]);
});
