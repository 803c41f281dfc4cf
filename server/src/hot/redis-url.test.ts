import { describe, expect, test } from "bun:test";
import { parseRedisUrl } from "./redis-url.ts";

describe("parseRedisUrl", () => {
  const plain = { cluster: false, tls: false, username: null, password: null, database: 0 };

  test("reads one server, with and without what may be left out", () => {
    expect(parseRedisUrl("redis://localhost")).toEqual({ ...plain, nodes: [{ host: "localhost", port: 6_379 }] });
    expect(parseRedisUrl("rediss://us%3Aer:p%40ss@[::1]:7000/3")).toEqual({
      ...plain,
      tls: true,
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
      cluster: true,
      nodes: [
        { host: "h1", port: 6_379 },
        { host: "h2", port: 7_001 },
        { host: "h3", port: 6_379 },
      ],
    });
    expect(parseRedisUrl("redis+unix:///run/redis.sock")).toEqual({ ...plain, nodes: [{ path: "/run/redis.sock" }] });
  });

  test("refuses what is no address, and never repeats a password", () => {
    const wrong = [
      "",
      "http://user:secret@host",
      "redis://user:secret@",
      "redis://user:secret@h1,h2",
      "redis://user:secret@host:99999",
      "redis://user:secret@host/x",
      "redis+cluster://user:secret@h1/1",
      "redis+unix://user:secret@host/path",
      "redis://user:sec%ZZret@host",
    ];
    for (const url of wrong) {
      expect(() => parseRedisUrl(url)).toThrow(/REDIS_URL/);
      expect(() => parseRedisUrl(url)).not.toThrow(/sec/);
    }
  });
});
