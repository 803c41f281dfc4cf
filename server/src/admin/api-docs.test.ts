import { expect, test } from "bun:test";
import { openApiLocation, openApiNames } from "@sluice/contract/openapi-names";
import { ApiDocs } from "./api-docs.ts";

const docs = new ApiDocs({ servers: { gateway: null, engine: null, oracle: null, resolver: null } });
const at = (path: string, method = "GET") => new Request(`http://127.0.0.1:8899${path}`, { method });

test("the gateway answers the page and the description of each endpoint, to any origin, and nothing else", async () => {
  const page = await docs.answer(at("/docs"));
  expect(page?.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(page?.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(await page?.text()).toContain("POST /api/v1/admin/keys");
  for (const name of openApiNames) {
    const description = await docs.answer(at(openApiLocation(name)));
    expect(description?.headers.get("access-control-allow-origin")).toBe("*");
    expect(await description?.json()).toMatchObject({
      openapi: "3.1.0",
      info: { title: expect.stringContaining("Sluice") },
    });
  }
  for (const path of ["/", "/docs/errors", "/openapi", "/openapi/other.json"]) expect(docs.answer(at(path))).toBeNull();
});

test("a description names the server of its endpoint where one is known, and the page all that are", async () => {
  const servers = { gateway: "https://rpc.example", engine: null, oracle: "https://prices.example", resolver: null };
  const named = new ApiDocs({ servers });
  const serversOf = async (path: string) => (await (await named.answer(at(path)))?.json())?.servers;
  expect(await serversOf(openApiLocation("gateway"))).toEqual([{ url: "https://rpc.example" }]);
  expect(await serversOf(openApiLocation("oracle"))).toEqual([{ url: "https://prices.example" }]);
  expect(await serversOf(openApiLocation("engine"))).toEqual([{ url: "/" }]);
  const own = await named.own("oracle", at("/openapi.json"));
  expect(await own?.json()).toMatchObject({ servers: [{ url: "https://prices.example" }] });
  const page = await (await named.answer(at("/docs")))?.text();
  expect(page?.match(/Address: <code>[^<]*/g)).toEqual([
    "Address: <code>https://rpc.example",
    "Address: <code>https://prices.example",
  ]);
});

test("a HEAD has no body, and any other method is refused with those that are allowed", async () => {
  const head = await docs.answer(at("/docs", "HEAD"));
  expect([head?.status, await head?.text()]).toEqual([200, ""]);
  const post = await docs.answer(at("/openapi.json", "POST"));
  expect([post?.status, post?.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
});

test("an endpoint answers its own description, and leaves all other requests to its application", async () => {
  const own = await docs.own("engine", at("/openapi.json"));
  const { paths } = JSON.parse((await own?.text()) ?? "");
  expect(Object.keys(paths)).toContain("/api/v1/bundles");
  for (const request of [at("/docs"), at("/api/v1/x?next=/openapi.json"), at("/openapi.json", "POST")]) {
    expect(docs.own("engine", request)).toBeNull();
  }
});
