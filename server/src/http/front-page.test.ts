import { expect, test } from "bun:test";
import { crawlerPage, frontPage } from "./front-page.ts";
import { fixedProbes } from "./testing/fixed-probes.ts";

let status: "ok" | "down" = "ok";

const probes = { source: fixedProbes(() => status), role: "oracle" };
const page = { title: "price oracle", version: "1.2.3", gateway: { port: 8899, url: null }, probes };
const open = (path: string, method = "GET"): Response | null =>
  frontPage(new Request(`http://oracle.example:7450${path}`, { method }), page, "req_1");

test("who opens an endpoint's address is told what it is, of which version, and where the documents are", async () => {
  expect(await open("/")?.text()).toBe(
    "Sluice 1.2.3, price oracle. Console: http://oracle.example:8899/ Error codes: http://oracle.example:8899/docs/errors\n",
  );
  expect(open("/docs/errors")?.headers.get("location")).toBe("http://oracle.example:8899/docs/errors");
  expect([open("/", "POST"), open("/api/v1/prices"), open("/health/")]).toEqual([null, null, null]);
});

test("the gateway is named as the operator names it, in the page, the redirect and the problems of probes", async () => {
  const named = { ...page, gateway: { port: 8899, url: "https://rpc.example" } };
  const request = (path: string, method = "GET") => new Request(`http://10.0.0.3:7450${path}`, { method });
  expect(await frontPage(request("/"), named, "req_1")?.text()).toBe(
    "Sluice 1.2.3, price oracle. Console: https://rpc.example/ Error codes: https://rpc.example/docs/errors\n",
  );
  const location = frontPage(request("/docs/errors"), named, "req_1")?.headers.get("location");
  expect(location).toBe("https://rpc.example/docs/errors");
  const refused = frontPage(request("/ready", "POST"), named, "req_1");
  expect(await refused?.json()).toMatchObject({ type: "https://rpc.example/docs/errors#method-not-allowed" });
});

test("every port lives while it answers, and is ready while the role of the port, or the one that is named, serves", async () => {
  status = "ok";
  expect(await open("/health")?.json()).toMatchObject({ status: "ok", version: "1.2.3" });
  expect(await open("/ready")?.json()).toMatchObject({ status: "ok", roles: { oracle: true } });
  expect(await open("/ready?role=engine")?.json()).toMatchObject({ roles: { engine: true } });
  expect(open("/ready", "HEAD")?.status).toBe(200);
  status = "down";
  expect(open("/health")?.status).toBe(200);
  const refused = open("/ready");
  expect([refused?.status, refused?.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(open("/ready", "POST")?.status).toBe(405);
});

test("a role that does not exist is a fault of who asks, and is told the roles that do", async () => {
  status = "ok";
  for (const name of ["nope", "", "Gateway", "resolver,engine"]) {
    const refused = open(`/ready?role=${name}`);
    expect([refused?.status, refused?.headers.get("retry-after")]).toEqual([400, null]);
    const message = "must be one of gateway, oracle, engine";
    expect(await refused?.json()).toMatchObject({ code: "INVALID_INPUT", errors: [{ path: "role", message }] });
  }
});

test("every page of a port names its request", () => {
  for (const path of ["/", "/health", "/ready", "/ready?role=x", "/docs/errors", "/robots.txt", "/favicon.ico"]) {
    for (const method of ["GET", "HEAD"]) {
      expect([path, open(path, method)?.headers.get("x-request-id")]).toEqual([path, "req_1"]);
    }
  }
});

test("browsers and crawlers get no error for what they ask of any address", async () => {
  expect(open("/favicon.ico")?.status).toBe(204);
  expect(await crawlerPage("GET", "/robots.txt")?.text()).toBe("User-agent: *\nDisallow: /\n");
  expect(await crawlerPage("HEAD", "/robots.txt")?.text()).toBe("");
  expect([crawlerPage("POST", "/robots.txt"), crawlerPage("GET", "/rpc")]).toEqual([null, null]);
});
