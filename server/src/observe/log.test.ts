import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createLog, type LogOptions } from "./log.ts";
import { formatPretty } from "./pretty.ts";
import { redactText, redactValue } from "./redaction.ts";

function collect(options: Partial<LogOptions> = {}) {
  const lines: string[] = [];
  const log = createLog({ level: "debug", destination: { write: (line) => lines.push(line) }, ...options });
  return { log, lines, records: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

describe("the log", () => {
  test("each line is JSON with level, time in UTC, message and fields", () => {
    const { log, records } = collect();
    log.info({ slot: 18446744073709551615n, door: "rpc" }, "served");
    expect(records()).toEqual([
      {
        level: "info",
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        slot: "18446744073709551615",
        door: "rpc",
        msg: "served",
      },
    ]);
  });

  test("a child's lines carry its fields, such as the request id, and its children's as well", () => {
    const { log, records } = collect();
    log.child({ requestId: "r1" }).child({ network: "devnet" }).warn({ code: 1 }, "slow");
    expect(records()[0]).toMatchObject({ requestId: "r1", network: "devnet", code: 1, level: "warn" });
  });

  test.each([
    ["debug", 4],
    ["info", 3],
    ["warn", 2],
    ["error", 1],
    ["silent", 0],
    ["no such level", 3],
  ])("at level %s %d of four lines are written", (level, written) => {
    const { log, lines } = collect({ level });
    log.debug({}, "a");
    log.info({}, "b");
    log.warn({}, "c");
    log.error({}, "d");
    expect(lines.length).toBe(written);
  });

  test("an error is written with its type, message, code, stack and cause", () => {
    const { log, records } = collect();
    const cause = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
    log.error({ error: new TypeError("failed", { cause }) }, "fault");
    expect(records()[0]).toMatchObject({
      error: { type: "TypeError", message: "failed", stack: expect.any(String), cause: { code: "ECONNREFUSED" } },
    });
  });

  test("for a terminal a line is text, and control characters in it do nothing", () => {
    const { log, lines } = collect({ pretty: true });
    log.info({ door: "rpc", note: "two words", evil: "\u001b[2J" }, "served \u001b[31m");
    expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d\.\d{3} info {2}served \ufffd\[31m door=rpc note="two words" evil=/);
    expect(lines[0]).not.toContain("\u001b");
    expect(formatPretty("not JSON", { colour: false })).toBe("not JSON");
    expect(formatPretty(JSON.stringify({ level: "error", msg: "m" }), { colour: true })).toContain("\u001b[31merror");
  });
});

describe("secrets", () => {
  const key = "sk_live_0123456789abcdefABCDEF_abc123";

  test("never reach a line, wherever they stand", () => {
    const { log, lines } = collect();
    log.info({ text: `key ${key}` }, `presented ${key}`);
    log.info({ [key]: 1, deep: { list: [{ url: `/rpc?api-key=${key}&network=devnet` }] } }, "");
    log.info({ headers: { Authorization: "Bearer hunter2hunter2", "X-API-Key": "hunter2", cookie: "hunter2" } }, "");
    log.info({ masterKey: "hunter2", api_key: "hunter2", "X-Token": "hunter2", password: "hunter2" }, "");
    log.info({ headers: new Map([["authorization", "hunter2"]]), bytes: Buffer.from("hunter2") }, "");
    log.warn({ error: new Error(`GET https://u:hunter2@node.example/v2/hunter2hunter2?k=hunter2 failed`) }, "");
    log.warn({ url: new URL("wss://node.example/?token=hunter2") }, "Authorization: Bearer hunter2hunter2");
    log.child({ apiKey: "hunter2" }).info({}, "postgres://user:hunter2@db/sluice");
    log.info({ path: "/ws?api-key=hunter2", other: "/rpc?api%2Dkey=hunter2" }, "");
    log.info({ dump: "x-api-key: hunter2\r\nAuthorization: Basic hunter2hunter2", json: '{"password":"hunter2"}' }, "");
    log.info({ encoded: `Bearer%20${key}`, nested: `%3Fapi-key=hunter2&to=x${key}` }, "");
    const text = lines.join("");
    expect(text).not.toContain("hunter2");
    expect(text).not.toContain("0123456789abcdef");
    expect(text).toContain("node.example");
    expect(lines.length).toBe(11);
  });

  test("a development key is hidden too, and the environment stays", () => {
    expect(redactText("sk_dev_abc")).toBe("sk_dev_[hidden]");
  });

  test("a URL keeps scheme, host, port and short path segments", () => {
    expect(redactText("at https://rpc.example:8443/v1/devnet now")).toBe("at https://rpc.example:8443/v1/devnet now");
    expect(redactText("https://x.example/0123456789abcdef/ok?a=b")).toBe("https://x.example/…/ok?…");
    expect(redactText("https://a:b@c@x.example/")).toBe("https://…@x.example/");
  });

  test("text without secrets stays as it is", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z0-9 .,!?-]{0,60}$/), (text) => {
        fc.pre(!/bearer|basic|secret|password|cookie|authorization|key/.test(text));
        return redactText(text) === text;
      }),
    );
  });

  test("a key is hidden in any text around it", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (before, after) => {
        expect(redactText(`${before} ${key} ${after}`)).not.toContain("0123456789abcdef");
      }),
    );
  });
});

describe("bounds", () => {
  test("any value becomes JSON of bounded size and never throws", () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withMap: true, withDate: true, withTypedArray: true }), (value) => {
        JSON.stringify(redactValue(value));
      }),
    );
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    expect(JSON.stringify(redactValue(cycle))).toContain("[deep]");
    expect(JSON.stringify(redactValue("x".repeat(100_000))).length).toBeLessThan(9_000);
    expect(JSON.stringify(redactValue(Array(10_000).fill(1))).length).toBeLessThan(200);
  });

  test("a field that throws when it is read does not end the caller", () => {
    const { log, records } = collect();
    const fields = {
      get broken(): string {
        throw new Error("no");
      },
    };
    log.info(fields, "still written");
    expect(records()[0]).toMatchObject({ msg: "still written" });
  });

  test("a secret at the edge of what is shown does not escape", () => {
    for (let pad = 8_150; pad < 8_200; pad++) {
      expect(redactText(`${"x".repeat(pad)} https://user:hunter2@node.example/`)).not.toContain("hunter2");
    }
  });
});
