import { expect, test } from "bun:test";
import { redactKeys, redactQuery, redactUrl } from "./redact.ts";

test("redactUrl drops user info, query and fragment and masks long path segments", () => {
  expect(redactUrl("https://user:secret@rpc.example.com:8443/v2/0123456789abcdef0/x?api-key=secret#secret")).toBe(
    "https://rpc.example.com:8443/v2/***/x",
  );
  expect(redactUrl("https://rpc.example.com/")).toBe("https://rpc.example.com");
  expect(redactUrl("https://rpc.example.com/0123456789abcdef")).toBe("https://rpc.example.com/0123456789abcdef");
  expect(redactUrl("secret")).toBe("(not a URL)");
});

test("redactQuery masks the key however its name is written and keeps the rest", () => {
  expect(redactQuery("/rpc?network=devnet&api-key=sk_dev_secret&x=1")).toBe("/rpc?network=devnet&api-key=***&x=1");
  expect(redactQuery("/rpc?api%2Dkey=secret")).toBe("/rpc?api%2Dkey=***");
  expect(redactQuery("/bundles?UUID=secret")).toBe("/bundles?UUID=***");
  expect(redactQuery("/rpc?a=b?api-key=c")).toBe("/rpc?a=b?api-key=c");
  expect(redactQuery("/rpc")).toBe("/rpc");
});

test("redactKeys masks keys in free text", () => {
  expect(redactKeys("bad key sk_live_0123456789ABCDEFGHIJKL_abcdef, sk_dev_0123456789ABCDEFGHIJKL")).toBe(
    "bad key sk_live_***, sk_dev_***",
  );
});
