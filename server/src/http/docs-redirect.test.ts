import { expect, test } from "bun:test";
import { docsRedirect } from "./docs-redirect.ts";

test("the page of codes is at the gateway of the host that was asked, whatever its form", () => {
  const located = (url: string): string | null => docsRedirect(new Request(url), 8899)?.headers.get("location") ?? null;
  expect(located("http://engine.example:7435/docs/errors")).toBe("http://engine.example:8899/docs/errors");
  expect(located("http://[::1]:7435/docs/errors?api-key=secret")).toBe("http://[::1]:8899/docs/errors");
  expect(located("http://127.0.0.1:7435/docs/errors/")).toBeNull();
  expect(located("http://127.0.0.1:7435/docs")).toBeNull();
  const head = docsRedirect(new Request("http://a:1/docs/errors", { method: "HEAD" }), 2);
  expect([head?.status, head?.headers.get("location")]).toEqual([307, "http://a:2/docs/errors"]);
  expect(docsRedirect(new Request("http://a:1/docs/errors", { method: "POST" }), 2)).toBeNull();
});
