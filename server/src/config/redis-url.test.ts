import { describe, expect, test } from "bun:test";
import { parseRedisUrl, readRedisUrl } from "./redis-url.ts";

describe("parseRedisUrl", () => {
  const plain = { kind: "single", tls: null, username: null, password: null, database: 0, sentinel: null } as const;
  const systemTls = { caFile: null, serverName: null };

  test("reads one server, with and without what may be left out", () => {
    expect(parseRedisUrl("redis://localhost")).toEqual({ ...plain, nodes: [{ host: "localhost", port: 6_379 }] });
    expect(parseRedisUrl("rediss://us%3Aer:p%40ss@[::1]:7000/3")).toEqual({
      ...plain,
      tls: systemTls,
      username: "us:er",
      password: "p@ss",
      database: 3,
      nodes: [{ host: "::1", port: 7_000 }],
    });
    expect(parseRedisUrl("redis://:secret@10.0.0.1/")).toEqual({
      ...plain,
      password: "secret",
      nodes: [{ host: "10.0.0.1", port: 6_379 }],
    });
  });

  test("reads a cluster's seeds and a socket", () => {
    expect(parseRedisUrl("redis+cluster://h1,h2:7001,h3")).toEqual({
      ...plain,
      kind: "cluster",
      nodes: [
        { host: "h1", port: 6_379 },
        { host: "h2", port: 7_001 },
        { host: "h3", port: 6_379 },
      ],
    });
    expect(parseRedisUrl("redis+unix:///run/redis.sock")).toEqual({ ...plain, nodes: [{ path: "/run/redis.sock" }] });
    expect(parseRedisUrl("redis+unix://user:secret@/run/a%20b.sock?db=4")).toEqual({
      ...plain,
      username: "user",
      password: "secret",
      database: 4,
      nodes: [{ path: "/run/a b.sock" }],
    });
  });

  test("reads sentinels with the name that they watch, and credentials for them and for the server", () => {
    expect(parseRedisUrl("redis+sentinel://user:one@s1:26380,s2/main/2?sentinel_password=two")).toEqual({
      ...plain,
      kind: "sentinel",
      username: "user",
      password: "one",
      database: 2,
      sentinel: { group: "main", username: null, password: "two" },
      nodes: [
        { host: "s1", port: 26_380 },
        { host: "s2", port: 26_379 },
      ],
    });
    expect(parseRedisUrl("rediss+sentinel://s1/main").tls).toEqual(systemTls);
  });

  test("reads the authorities and the name by which TLS is verified", () => {
    const { tls } = parseRedisUrl("rediss://h?ca_file=%2Fetc%2Fca.pem&server_name=redis.internal");
    expect(tls).toEqual({ caFile: "/etc/ca.pem", serverName: "redis.internal" });
  });

  test("refuses what cannot be connected, says what is expected, and never repeats a password", () => {
    const wrong: readonly (readonly [string, string])[] = [
      ["", "a URL that starts with redis://"],
      ["http://user:secret@host", "a URL that starts with redis://"],
      ["redis://user:secret@", "hosts are names or addresses"],
      ["redis://user:secret@h1,h2", "redis+cluster://host,host or redis+sentinel://"],
      ["redis://h1:1,redis://user:secret@h2", "one host: several are"],
      ["redis://user:secret@host:99999", "a port from 1 to 65535"],
      ["redis://user:secret@host/x", "a database that is a number"],
      ["redis+cluster://user:secret@h1/1", "no database: a cluster has 0 alone"],
      ["redis+unix://user:secret@host/path", "redis+unix:///path"],
      ["redis+unix://user:secret@", "redis+unix:///path"],
      ["redis+sentinel://user:secret@h1,h2", "redis+sentinel://host,host/name"],
      ["redis+sentinel://user:secret@h1/main/0/1", "redis+sentinel://host,host/name"],
      ["redis://user:sec%ZZret@host", "password is percent-encoded"],
      ["redis://user:secret@host?ca_file=/ca.pem", "rediss, which is TLS"],
      ["redis://user:12?secret@host", "no options after ?"],
      ["rediss://user:secret@host?secret=1", "no options after ? but ca_file, server_name"],
      ["rediss://user:secret@host?ca_file=", "a value for ca_file"],
      ["rediss://host?ca_file=/a&ca_file=/b", "no option stands twice"],
    ];
    for (const [url, expected] of wrong) {
      const parsed = readRedisUrl(url);
      expect([url, parsed.ok ? "" : parsed.expected]).toEqual([url, expect.stringContaining(expected)]);
      expect(() => parseRedisUrl(url)).toThrow(/REDIS_URL/);
      expect(() => parseRedisUrl(url)).not.toThrow(/sec/);
    }
  });
});
