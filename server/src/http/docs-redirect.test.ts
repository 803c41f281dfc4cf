import { expect, test } from "bun:test";
import { docsRedirect } from "./docs-redirect.ts";

const asked = (url: string, gateway: { port?: number; url?: string }, method = "GET"): Response | null =>
  docsRedirect(new Request(url, { method }), { port: 8899, url: null, ...gateway });
const located = (url: string, gateway = {}): string | null => asked(url, gateway)?.headers.get("location") ?? null;

test("the page of codes is at the gateway of the host that was asked, whatever its form", () => {
  expect(located("http://engine.example:7435/docs/errors")).toBe("http://engine.example:8899/docs/errors");
  expect(located("http://[::1]:7435/docs/errors?api-key=secret")).toBe("http://[::1]:8899/docs/errors");
  expect(located("http://127.0.0.1:7435/docs/errors/")).toBeNull();
  expect(located("http://127.0.0.1:7435/docs")).toBeNull();
  const head = asked("http://a:1/docs/errors", { port: 2 }, "HEAD");
  expect([head?.status, head?.headers.get("location")]).toEqual([307, "http://a:2/docs/errors"]);
  expect(asked("http://a:1/docs/errors", { port: 2 }, "POST")).toBeNull();
});

test("the page of codes is where the operator says that the gateway is, whichever host was asked", () => {
  const gateway = { url: "https://rpc.example" };
  expect(located("http://10.0.0.3:7435/docs/errors?api-key=secret", gateway)).toBe("https://rpc.example/docs/errors");
  expect(located("http://10.0.0.3:7435/docs", gateway)).toBeNull();
});
