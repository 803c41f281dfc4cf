import { expect, test } from "bun:test";
import { SluiceError } from "@sluice/contract/errors";
import { createRestApp, type RestAppOptions } from "./rest-app.ts";

function bootApp(options: Partial<RestAppOptions> = {}) {
  const logged: { fields: object; message: string }[] = [];
  let ids = 0;
  const app = createRestApp(
    { cors: "open", ...options },
    {
      requestId: () => {
        ids += 1;
        return `req_${ids}`;
      },
      log: { error: (fields, message) => logged.push({ fields, message }) },
    },
  );
  app.get("/things/:id", (context) => context.json({ id: context.req.param("id"), request: context.get("requestId") }));
  app.delete("/things/:id", () => {
    throw new SluiceError("CONFLICT", { message: "The thing is in use" });
  });
  app.post("/things", () => {
    throw new Error("connect ECONNREFUSED 10.0.0.1 password=secret");
  });
  return { app, logged };
}

test("an answer carries its request id and open CORS headers, and a proxy in front may give the id", async () => {
  const { app } = bootApp();
  const response = await app.request("/things/7");
  expect(await response.json()).toEqual({ id: "7", request: "req_1" });
  expect(response.headers.get("x-request-id")).toBe("req_1");
  expect(response.headers.get("access-control-allow-origin")).toBe("*");
  const named = await app.fetch(new Request("http://localhost/things/7"), { requestId: "req_door" });
  expect(named.headers.get("x-request-id")).toBe("req_door");
});

test("a SluiceError is answered by the table", async () => {
  const { app, logged } = bootApp();
  const response = await app.request("/things/7", { method: "DELETE" });
  expect(response.status).toBe(409);
  expect(await response.json()).toMatchObject({ code: "CONFLICT", detail: "The thing is in use", instance: "req_1" });
  expect(response.headers.get("access-control-allow-origin")).toBe("*");
  expect(logged).toEqual([]);
});

test("a problem names the page of its code where the server in front says that the gateway is", async () => {
  const { app } = bootApp();
  const request = () => new Request("http://localhost/none");
  const typeOf = async (answer: Response | Promise<Response>) => (await (await answer).json()).type;
  expect(await typeOf(app.fetch(request(), {}))).toBe("/docs/errors#not-found");
  const docsBase = "https://rpc.example";
  expect(await typeOf(app.fetch(request(), { docsBase }))).toBe("https://rpc.example/docs/errors#not-found");
});

test("an unknown fault is logged and shows nothing but its request id", async () => {
  const { app, logged } = bootApp();
  const response = await app.request("/things?api-key=sk_live_secret", { method: "POST" });
  const text = await response.text();
  expect(response.status).toBe(500);
  expect(text).toContain("req_1");
  expect(text).not.toContain("secret");
  expect(text).not.toContain("10.0.0.1");
  expect(logged).toHaveLength(1);
  expect(logged[0]?.fields).toMatchObject({ requestId: "req_1", path: "/things?api-key=***" });
});

test("an internal error shows neither its message nor its details", async () => {
  const { app } = bootApp();
  app.get("/inner", () => {
    throw new SluiceError("INTERNAL_ERROR", { message: "secret", details: { path: "/secret" } });
  });
  expect(await (await app.request("/inner")).text()).not.toContain("secret");
});

test("an unknown path is 404, a known path under another method is 405 with Allow", async () => {
  const { app } = bootApp();
  const missing = await app.request("/nothing");
  expect(missing.status).toBe(404);
  expect(await missing.json()).toMatchObject({ code: "NOT_FOUND" });
  const wrong = await app.request("/things/7", { method: "PUT" });
  expect(wrong.status).toBe(405);
  expect(wrong.headers.get("allow")).toBe("GET, HEAD, DELETE");
  expect(await wrong.json()).toMatchObject({ code: "METHOD_NOT_ALLOWED" });
});

test("OPTIONS on an open path needs no handler, and a same-origin application answers no CORS at all", async () => {
  const { app } = bootApp();
  const preflight = await app.request("/things/7", {
    method: "OPTIONS",
    headers: { "Access-Control-Request-Headers": "x-api-key" },
  });
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get("access-control-allow-methods")).toBe("GET, HEAD, DELETE, OPTIONS");
  expect(preflight.headers.get("access-control-allow-headers")).toBe("x-api-key");
  const closed = bootApp({ cors: "none" }).app;
  const refused = await closed.request("/things/7", { method: "OPTIONS" });
  expect(refused.status).toBe(405);
  for (const response of [refused, await closed.request("/things/7")]) {
    expect([...response.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
  }
});

test("an endpoint with an error body of its own writes it", async () => {
  const { app } = bootApp({
    failure: (error, context) => context.json({ success: false, error_code: error.code }, 418),
  });
  const response = await app.request("/nothing");
  expect(response.status).toBe(418);
  expect(await response.json()).toEqual({ success: false, error_code: "NOT_FOUND" });
  expect(response.headers.get("x-request-id")).toBe("req_1");
});

test("an answer states the rate that was taken for it, and one without a rate states none", async () => {
  const { app } = bootApp();
  app.get("/limited", (context) => {
    context.set("rateLimit", { limit: 10, burst: 20, remaining: 7, resetAt: 1 });
    return context.json({});
  });
  expect((await app.request("/limited")).headers.get("x-ratelimit-remaining")).toBe("7");
  expect((await app.request("/things/7")).headers.get("x-ratelimit-remaining")).toBeNull();
});

test("a HEAD is told the length of the JSON that a GET is answered, and of nothing else", async () => {
  const { app } = bootApp();
  app.get("/page", (context) => context.html("<p>page</p>"));
  const lengthOf = async (path: string, method: string): Promise<string | null> =>
    (await app.request(path, { method })).headers.get("content-length");
  const { length } = await (await app.request("/things/7")).text();
  expect(await lengthOf("/things/7", "HEAD")).toBe(String(length));
  expect([await lengthOf("/page", "HEAD"), await lengthOf("/things/7", "GET")]).toEqual([null, null]);
});

test("a preflight of a path names its methods, and OPTIONS alone where it has none", async () => {
  const { app } = bootApp();
  const allowed = async (path: string): Promise<string | null> =>
    (await app.request(path, { method: "OPTIONS" })).headers.get("access-control-allow-methods");
  expect([await allowed("/things"), await allowed("/nothing")]).toEqual(["POST, OPTIONS", "OPTIONS"]);
});
