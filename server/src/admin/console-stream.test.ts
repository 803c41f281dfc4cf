import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Grant, KeyRefusal } from "../keys/index.ts";
import type { StreamMount } from "../streams/index.ts";
import { ConsoleStream } from "./console-stream.ts";
import { type ConsoleStand, consoleHost, openConsoleStand } from "./testing/console-stand.ts";

let stand: ConsoleStand;
let accountId: string;

beforeEach(async () => {
  stand = await openConsoleStand();
  accountId = await stand.account();
});
afterEach(async () => await stand[Symbol.asyncDispose]());

/** Opens a stream from a page, and gives what asks who it is at any time later. */
function opened(headers: Record<string, string>, socketAddress = "198.51.100.7"): () => Promise<Grant | KeyRefusal> {
  let identify: Parameters<StreamMount["begin"]>[2];
  const streams: Pick<StreamMount, "begin"> = {
    begin: (_request, _peer, given) => {
      identify = given;
      return { requestId: "", opened() {}, received() {}, ponged() {}, closed() {}, tick() {}, drain() {} };
    },
  };
  const stream = new ConsoleStream({ publicUrl: null }, { ...stand.sessions, streams });
  const all = { host: consoleHost, origin: `http://${consoleHost}`, ...headers };
  const request = new Request(`http://${consoleHost}/api/v1/console/ws`, { headers: all });
  void stream.begin(request, { requestIP: () => ({ address: socketAddress }) });
  return async () => (await identify?.()) ?? { ok: false, code: "STORE_UNAVAILABLE" };
}

const refused: KeyRefusal = { ok: false, code: "INVALID_API_KEY" };

test("a page's stream is of the key that opened its session, as that is now", async () => {
  const { id, key } = await stand.key(accountId, ["read"]);
  const who = opened({ cookie: await stand.signIn(key) });
  expect(await who()).toMatchObject({ ok: true, keyId: id, accountId, permissions: ["read"] });
  await stand.state.keys.update(id, { permissions: ["bundles:write"] });
  expect(await who()).toMatchObject({ ok: true, permissions: ["bundles:write"] });
  await stand.state.keys.setStatus(id, "revoked");
  expect(await who()).toEqual(refused);
});

test("a page of another origin, or without one, opens no stream, whatever cookie it has", async () => {
  const cookie = await stand.signIn((await stand.key(accountId, ["read"])).key);
  for (const origin of ["https://evil.example", "null", ""]) {
    expect(await opened({ cookie, origin })()).toEqual(refused);
  }
  expect(await opened({ cookie: "" })()).toEqual(refused);
});

test("on a development machine its own browser opens one without a session, and nobody else", async () => {
  expect(await opened({}, "127.0.0.1")()).toEqual(refused);
  stand.openAccount = accountId;
  expect(await opened({}, "127.0.0.1")()).toMatchObject({ ok: true, keyId: "", accountId, tier: "business" });
  expect(await opened({}, "198.51.100.7")()).toEqual(refused);
  expect(await opened({ "x-forwarded-for": "127.0.0.1" }, "127.0.0.1")()).toEqual(refused);
});
