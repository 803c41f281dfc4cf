import { expect, test } from "bun:test";
import { parseClickhouseUrl, readClickhouseUrl } from "./clickhouse-url.ts";

test("one server and several are read, with what may be left out", () => {
  expect(parseClickhouseUrl("http://ch:8123")).toEqual({
    hosts: [{ host: "ch", port: 8_123 }],
    isTls: false,
    caFile: null,
    user: "default",
    password: "",
    database: "sluice",
  });
  expect(parseClickhouseUrl("https://us%40er:p%2Fw@a:8443,[::1]/facts?ca_file=/ca.pem")).toEqual({
    hosts: [
      { host: "a", port: 8_443 },
      { host: "::1", port: 443 },
    ],
    isTls: true,
    caFile: "/ca.pem",
    user: "us@er",
    password: "p/w",
    database: "facts",
  });
});

test("what cannot be connected is refused with what is expected, and no password is repeated", () => {
  const wrong: readonly (readonly [string, string])[] = [
    ["tcp://user:secret@ch:9000", "a URL that starts with http://, https://"],
    ["http://user:secret@", "hosts are names"],
    ["http://user:secret@a,,b", "hosts are names"],
    ["http://user:secret@ch/a-b", "a database of letters"],
    ["http://user:secret@ch?ca_file=/ca.pem", "https where ca_file is given"],
    ["https://user:secret@ch?secret=1", "no options after ? but ca_file"],
  ];
  for (const [url, expected] of wrong) {
    const parsed = readClickhouseUrl(url);
    expect([url, parsed.ok ? "" : parsed.expected]).toEqual([url, expect.stringContaining(expected)]);
    expect(() => parseClickhouseUrl(url)).toThrow(/CLICKHOUSE_URL/);
    expect(() => parseClickhouseUrl(url)).not.toThrow(/secret/);
  }
});
