import { describe, expect, test } from "bun:test";
import { parsePostgresUrl, readPostgresUrl } from "./postgres-url.ts";

describe("parsePostgresUrl", () => {
  const tls = { mode: "prefer", rootFile: null, certificateFile: null, keyFile: null, isDirect: false } as const;
  const plain = {
    user: null,
    password: null,
    database: null,
    target: "any",
    tls,
    connectTimeoutMs: null,
    applicationName: null,
    options: null,
  } as const;

  test("reads one server, with and without what may be left out", () => {
    expect(parsePostgresUrl("postgres://db")).toEqual({ ...plain, hosts: [{ host: "db", port: 5_432 }] });
    expect(parsePostgresUrl("postgresql://us%40er:p%2Fw@[::1]:6000/my%20data?connect_timeout=3")).toEqual({
      ...plain,
      hosts: [{ host: "::1", port: 6_000 }],
      user: "us@er",
      password: "p/w",
      database: "my data",
      connectTimeoutMs: 3_000,
    });
  });

  test("reads several hosts, of which by itself the one that takes writes is taken", () => {
    const hosts = [
      { host: "a", port: 5_432 },
      { host: "b", port: 6_000 },
    ];
    expect(parsePostgresUrl("postgres://a,b:6000/s")).toMatchObject({ hosts, target: "read-write" });
    expect(parsePostgresUrl("postgres://a,b:6000/s?target_session_attrs=any")).toMatchObject({ hosts, target: "any" });
    expect(parsePostgresUrl("postgres://x/s?host=a,b&port=5432,6000")).toMatchObject({ hosts });
    expect(parsePostgresUrl("postgres://a/s?target_session_attrs=primary").target).toBe("primary");
  });

  test("reads the directory of a socket, in the host or as an option", () => {
    const hosts = [{ directory: "/run/pg", port: 5_433 }];
    expect(parsePostgresUrl("postgres://%2Frun%2Fpg:5433/s").hosts).toEqual(hosts);
    expect(parsePostgresUrl("postgres:///s?host=/run/pg&port=5433").hosts).toEqual(hosts);
  });

  test("reads the options of TLS, and settings of the session", () => {
    const url = "postgres://a/s?sslmode=verify-full&sslrootcert=/ca.pem&sslcert=/c.pem&sslkey=/c.key";
    const files = { rootFile: "/ca.pem", certificateFile: "/c.pem", keyFile: "/c.key" };
    expect(parsePostgresUrl(url).tls).toEqual({ ...tls, mode: "verify-full", ...files });
    expect(parsePostgresUrl("postgres://a/s?ssl=true").tls.mode).toBe("require");
    expect(parsePostgresUrl("postgres://a/s?sslmode=verify-full&sslrootcert=system").tls.rootFile).toBeNull();
    expect(parsePostgresUrl("postgres://a/s?sslmode=require&sslnegotiation=direct").tls.isDirect).toBe(true);
    for (const space of ["%20", "+", " "]) {
      expect(parsePostgresUrl(`postgres://a/s?options=-c${space}search_path=sluice`).options).toBe(
        "-c search_path=sluice",
      );
    }
  });

  test("refuses what cannot be connected, says what is expected, and never repeats a password", () => {
    const wrong: readonly (readonly [string, string])[] = [
      ["mysql://user:secret@db", "a URL that starts with postgres://"],
      ["postgres://user:secret@", "names a host"],
      ["postgres://user:secret@a,,b/s", "hosts are names"],
      ["postgres://user:secret@a:0/s", "a port from 1 to 65535"],
      ["postgres://user:sec@secret@a/s", "percent-encoded (@ is %40)"],
      ["postgres://user:sec/secret@a/s", "percent-encoded (@ is %40)"],
      ["postgres://user:sec#secret@a/s", "percent-encoded (@ is %40)"],
      ["postgres://user:sec%ZZ@a/s", "password is percent-encoded"],
      ["postgres://user:secret@a/s?statement_timeout=1", "no options after ? but application_name"],
      ["postgres://user:secret@a,b/s?target_session_attrs=standby", "since the store writes"],
      ["postgres://user:secret@a/s?sslmode=no-verify", "sslmode as one of disable"],
      ["postgres://user:secret@a/s?ssl=no", "sslmode in place of ssl"],
      ["postgres://user:secret@a/s?sslmode=verify-ca", "sslrootcert with sslmode=verify-ca"],
      ["postgres://user:secret@a/s?sslmode=require&sslrootcert=system", "sslmode=verify-full"],
      ["postgres://user:secret@a/s?sslcert=/c.pem", "sslcert and sslkey together"],
      ["postgres://user:secret@a/s?sslnegotiation=direct", "sslmode=require or stronger"],
      ["postgres://user:secret@a/s?connect_timeout=soon", "connect_timeout in whole seconds"],
    ];
    for (const [url, expected] of wrong) {
      const parsed = readPostgresUrl(url);
      expect([url, parsed.ok ? "" : parsed.expected]).toEqual([url, expect.stringContaining(expected)]);
      expect(() => parsePostgresUrl(url)).toThrow(/DATABASE_URL/);
      expect(() => parsePostgresUrl(url)).not.toThrow(/secret|sec%/);
    }
  });
});
