import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { type LookUp, systemResolver } from "./name-resolver.ts";

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
};

/** A resolver over servers that do not answer for names with `silent` in them, while `isAway` for none. */
function standOf() {
  const clock = new ManualClock();
  const asked: string[] = [];
  const servers = { isAway: false, error: "" };
  const lookUp: LookUp = async (hostname) => {
    asked.push(hostname);
    if (servers.error !== "") throw Object.assign(new Error("no answer"), { code: servers.error });
    if (servers.isAway || hostname.includes("silent")) return await new Promise(() => undefined);
    return [
      { address: "2001:db8::1", family: 6 },
      { address: "192.0.2.1", family: 4 },
    ];
  };
  return { clock, asked, servers, resolver: systemResolver({ clock, lookUp }) };
}

const found = ["192.0.2.1", "2001:db8::1"];

test("a name is looked up once for all who ask meanwhile, and its IPv4 addresses come first", async () => {
  const { asked, resolver } = standOf();
  const answers = await Promise.all(Array.from({ length: 50 }, () => resolver.addressesOf("hooks.example")));
  expect([answers[0], new Set(answers).size, asked]).toEqual([found, 1, ["hooks.example"]]);
  await resolver.addressesOf("hooks.example");
  expect(asked.length).toBe(2);
});

test("names that nobody answers for end in time, are left alone for a while, and stop no others", async () => {
  const { clock, asked, resolver } = standOf();
  expect(await resolver.addressesOf("known.example")).toEqual(found);
  const ask = () => Array.from({ length: 400 }, (_, at) => resolver.addressesOf(`silent-${at}.example`));
  const first = ask();
  expect(asked.length).toBe(1 + 256);
  // All places are taken: what is known goes on.
  expect(await resolver.addressesOf("known.example")).toEqual(found);
  clock.advance(3_000);
  expect(new Set((await Promise.all(first)).map(String))).toEqual(new Set([""]));
  asked.length = 0;
  const again = ask();
  // Those that were not asked for before.
  expect(asked.length).toBe(144);
  expect(await resolver.addressesOf("new.example")).toEqual(found);
  clock.advance(3_000);
  await Promise.all(again);
  clock.advance(31_000);
  asked.length = 0;
  const third = ask();
  // They are asked for anew, and leave most places to others.
  expect(asked.length).toBe(64);
  for (let at = 0; at < 190; at += 1) expect(await resolver.addressesOf(`other-${at}.example`)).toEqual(found);
  clock.advance(3_000);
  await Promise.all(third);
});

test("the last addresses of a name serve while it cannot be looked up, for ten minutes, and not where it has none", async () => {
  const { clock, servers, resolver } = standOf();
  const soon = async () => {
    const answer = resolver.addressesOf("hooks.example");
    await settle();
    clock.advance(3_000);
    return await answer;
  };
  expect(await soon()).toEqual(found);
  servers.isAway = true;
  expect(await soon()).toEqual(found);
  expect(await soon()).toEqual(found);
  servers.isAway = false;
  servers.error = "DNS_ESERVFAIL";
  clock.advance(31_000);
  expect(await soon()).toEqual(found);
  clock.advance(600_000);
  expect(await soon()).toEqual([]);
  servers.error = "";
  expect(await soon()).toEqual(found);
  servers.error = "DNS_ENOTFOUND";
  expect(await soon()).toEqual([]);
  servers.error = "DNS_ESERVFAIL";
  expect(await soon()).toEqual([]);
});

test("the system's table of hosts is read", async () => {
  const { clock } = standOf();
  expect(await systemResolver({ clock }).addressesOf("localhost")).toContain("127.0.0.1");
});
