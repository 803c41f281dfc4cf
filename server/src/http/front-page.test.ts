import { expect, test } from "bun:test";
import { crawlerPage, frontPage } from "./front-page.ts";

const page = { title: "price oracle", version: "1.2.3", gatewayPort: 8899 };
const open = (path: string, method = "GET"): Response | null =>
  frontPage(new Request(`http://oracle.example:7450${path}`, { method }), page);

test("who opens an endpoint's address is told what it is, of which version, and where the documents are", async () => {
  expect(await open("/")?.text()).toBe(
    "Sluice 1.2.3, price oracle. Console: http://oracle.example:8899/ Error codes: http://oracle.example:8899/docs/errors\n",
  );
  expect(await open("/health")?.json()).toEqual({ status: "ok", version: "1.2.3" });
  expect(open("/docs/errors")?.headers.get("location")).toBe("http://oracle.example:8899/docs/errors");
  expect([open("/", "POST"), open("/api/v1/prices"), open("/health/")]).toEqual([null, null, null]);
});

test("browsers and crawlers get no error for what they ask of any address", async () => {
  expect(open("/favicon.ico")?.status).toBe(204);
  expect(await crawlerPage("GET", "/robots.txt")?.text()).toBe("User-agent: *\nDisallow: /\n");
  expect(await crawlerPage("HEAD", "/robots.txt")?.text()).toBe("");
  expect([crawlerPage("POST", "/robots.txt"), crawlerPage("GET", "/rpc")]).toEqual([null, null]);
});
