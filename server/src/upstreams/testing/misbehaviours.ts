import { gzipSync } from "node:zlib";
import {
  type Behaviour,
  goodBody,
  http,
  type SimulatedCall,
  sent,
  text,
  type WireAnswer,
  well,
} from "./simulated-node.ts";

/** What no customer may read. */
export const nodesWords = "words of the node";

const errorBody = ({ id }: SimulatedCall, code: number): string =>
  `{"jsonrpc":"2.0","error":{"code":${code},"message":"${nodesWords}"},"id":${id}}`;
const wrapped = (call: SimulatedCall, member: string): string => `{"jsonrpc":"2.0",${member},"id":${call.id}}`;

type Answer = Behaviour["answer"];

const refusing = (name: string, answer: Answer): Behaviour => ({ ...well, name, answer, kind: "refuses" });
const status =
  (
    code: number,
    body: string | ((call: SimulatedCall) => string) = nodesWords,
    fields: Record<string, string> = {},
  ): Answer =>
  (call) =>
    sent(http(code, typeof body === "string" ? body : body(call), fields));
const ok =
  (body: (call: SimulatedCall) => string | Uint8Array, fields: Record<string, string> = {}): Answer =>
  (call) =>
    sent(http(200, body(call), fields));
const raw =
  (bytes: (call: SimulatedCall) => string | Uint8Array, end: WireAnswer["end"] = "closed"): Answer =>
  (call) => {
    const made = bytes(call);
    return sent(typeof made === "string" ? text(made) : made, 3, end);
  };
const withCode = (code: number) => (call: SimulatedCall) => errorBody(call, code);
const dateIn = (ms: number) => (call: SimulatedCall) => new Date(call.clock.now() + ms).toUTCString();

/** Refusals for the rate and of the credential. */
const refusals: readonly Behaviour[] = [
  refusing("429 in JSON with seconds", status(429, withCode(429), { "Retry-After": "7" })),
  refusing("429 in JSON without a time", status(429, withCode(-32005))),
  refusing("429 in text", status(429)),
  refusing("429 with a date", (call) => status(429, nodesWords, { "Retry-After": dateIn(4_000)(call) })(call)),
  refusing("429 for a day", status(429, nodesWords, { "Retry-After": "86400" })),
  refusing("429 with a negative time", status(429, nodesWords, { "Retry-After": "-5" })),
  refusing("429 with nonsense for a time", status(429, nodesWords, { "Retry-After": "soon, perhaps" })),
  refusing("429 with a date that is over", (call) => status(429, "", { "Retry-After": dateIn(-9_000)(call) })(call)),
  refusing("the code -32429", ok(withCode(-32429))),
  refusing("the code 429", ok(withCode(429))),
  refusing("four calls a second", (call) => (call.inThisSecond < 4 ? well.answer(call) : status(429)(call))),
  refusing("401 in text", status(401)),
  refusing("401 in JSON", status(401, withCode(-32052))),
  refusing("402 in text", status(402)),
  refusing("403 in JSON", status(403, withCode(-32052))),
  refusing("403 in HTML", status(403, `<html>${nodesWords}</html>`, { "Content-Type": "text/html" })),
  refusing("the code -32052", ok(withCode(-32052))),
  refusing("403 for one method", (call) => (call.method === "getBalance" ? status(403)(call) : well.answer(call))),
];

/** Failures of the node and of what stands before it. */
const failures: readonly Behaviour[] = [
  refusing("408", status(408)),
  refusing("500 in text", status(500)),
  refusing("500 in JSON", status(500, withCode(-32603))),
  refusing("502 in HTML", status(502, `<html>${nodesWords}</html>`)),
  refusing("503 in JSON", status(503, withCode(-32000))),
  refusing("503 with Retry-After", status(503, nodesWords, { "Retry-After": "3" })),
  refusing("504", status(504)),
  refusing("404", status(404)),
  refusing("301", status(301, "", { Location: "http://127.0.0.1:1/" })),
  refusing(
    "204",
    raw(() => "HTTP/1.1 204 No Content\r\n\r\n", "open"),
  ),
  refusing("behind", ok(withCode(-32005))),
  refusing("no such slot yet", ok(withCode(-32016))),
  refusing("block not there", ok(withCode(-32004))),
  refusing("internal error", ok(withCode(-32603))),
  refusing("half of the calls", (call) => (call.random.next() < 0.5 ? well.answer(call) : status(500)(call))),
  refusing("every other second", (call) =>
    Math.floor(call.clock.monotonic() / 1_000) % 2 === 0 ? well.answer(call) : status(503)(call),
  ),
];

/** Bytes that are no answer to the call. */
const garbage: readonly Behaviour[] = [
  refusing(
    "nothing",
    ok(() => ""),
  ),
  refusing(
    "HTML",
    ok(() => `<html>${nodesWords}</html>`),
  ),
  refusing(
    "another id",
    ok((call) => goodBody({ ...call, id: "999999999999" })),
  ),
  refusing(
    "the id as a string",
    ok((call) => goodBody({ ...call, id: `"${call.id}"` })),
  ),
  refusing(
    "no id",
    ok(() => '{"jsonrpc":"2.0","result":1}'),
  ),
  refusing(
    "a null id",
    ok((call) => goodBody({ ...call, id: "null" })),
  ),
  refusing(
    "two ids",
    ok((call) => `{"jsonrpc":"2.0","id":${call.id},"result":1,"id":${call.id}}`),
  ),
  refusing(
    "result and error",
    ok((call) => wrapped(call, '"result":1,"error":{"code":1,"message":""}')),
  ),
  refusing(
    "neither result nor error",
    ok((call) => wrapped(call, '"more":1')),
  ),
  refusing(
    "an error that is a string",
    ok((call) => wrapped(call, `"error":"${nodesWords}"`)),
  ),
  refusing(
    "no version",
    ok((call) => `{"result":1,"id":${call.id}}`),
  ),
  refusing(
    "JSON that is cut",
    ok((call) => goodBody(call).slice(0, -9)),
  ),
  refusing(
    "more after the JSON",
    ok((call) => `${goodBody(call)}${goodBody(call)}`),
  ),
  refusing(
    "deep nesting",
    ok((call) => wrapped(call, `"result":${"[".repeat(5_000)}${"]".repeat(5_000)}`)),
  ),
  refusing(
    "bytes that are no UTF-8",
    ok(() => new Uint8Array([0x7b, 0x22, 0xff, 0xfe])),
  ),
  refusing(
    "a list of answers",
    ok((call) => `[${goodBody(call)}]`),
  ),
  refusing(
    "broken gzip",
    ok(() => new Uint8Array(60).fill(7), { "Content-Encoding": "gzip" }),
  ),
  refusing(
    "cut gzip",
    ok((call) => gzipSync(goodBody(call)).subarray(0, 30), { "Content-Encoding": "gzip" }),
  ),
  refusing("an unknown coding", ok(goodBody, { "Content-Encoding": "rot13" })),
  refusing(
    "a body that is cut",
    raw((call) => http(200, goodBody(call)).subarray(0, -5)),
  ),
  refusing(
    "chunks that are cut",
    raw(() => 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"js'),
  ),
  refusing(
    "two lengths",
    raw(() => "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}"),
  ),
  refusing(
    "no HTTP",
    raw(() => "\u0016\u0003\u0001 what is this\r\n\r\n"),
  ),
  refusing(
    "fields without end",
    raw(() => `HTTP/1.1 200 OK\r\n${"X-A: b\r\n".repeat(8_000)}`),
  ),
  refusing(
    "another protocol",
    raw(() => "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"),
  ),
  refusing(
    "a reset",
    raw(() => "", "reset"),
  ),
  refusing(
    "a reset in the head",
    raw(() => "HTTP/1.1 2", "reset"),
  ),
];

/** Answers that do not come. */
const silences: readonly Behaviour[] = [
  refusing("a stall", () => ({ bytes: new Uint8Array(0), afterMs: 1, end: "open" })),
  refusing(
    "a stall in the body",
    raw((call) => http(200, goodBody(call)).subarray(0, -5), "open"),
  ),
  refusing(
    "a stall in the head",
    raw(() => "HTTP/1.1 200 OK\r\nContent-", "open"),
  ),
  refusing("answers after two seconds", (call) => sent(http(200, goodBody(call)), 2_000)),
  {
    ...refusing(
      "no slots and no calls",
      raw(() => "", "reset"),
    ),
    claim: () => null,
  },
];

/** Refusals of the call's form, which are the caller's whoever sends them. */
export const endings: readonly Behaviour[] = [
  { ...refusing("400 in text", status(400)), kind: "ends" },
  { ...refusing("413 in text", status(413)), kind: "ends" },
];

/** Unusual answers that are good ones. */
const oddities: readonly Behaviour[] = [
  { ...well, name: "error: null", answer: ok((call) => goodBody(call).replace('"result"', '"error":null,"result"')) },
  { ...well, name: "gzip", answer: ok((call) => gzipSync(goodBody(call)), { "Content-Encoding": "gzip" }) },
  {
    ...well,
    name: "interim answers",
    answer: raw((call) => Buffer.concat([text("HTTP/1.1 103 Early\r\n\r\n"), http(200, goodBody(call))]), "open"),
  },
  { ...well, name: "no length", answer: raw((call) => `HTTP/1.1 200 OK\r\n\r\n${goodBody(call)}`) },
  {
    ...well,
    name: "HTTP/1.0",
    answer: raw((call) => `HTTP/1.0 200 OK\r\nContent-Length: ${goodBody(call).length}\r\n\r\n${goodBody(call)}`),
  },
];

const shifted =
  (slots: number): Answer =>
  (call) =>
    well.answer({ ...call, view: { ...call.view, slot: Math.max(40, call.view.slot + slots) } });

const lying = (name: string, slots: number): Behaviour => ({
  name,
  answer: shifted(slots),
  claim: (truth) => ({ slot: Math.max(40, truth + slots) }),
  kind: "lies",
});

/** One address before several nodes: each call, and each notice of a slot, comes from another of them. */
const balancer = (name: string, behind: readonly number[]): Behaviour => ({
  name,
  behindMax: -Math.min(...behind),
  answer: (call) => shifted(behind[Math.floor(call.random.next() * behind.length)] ?? 0)(call),
  claim: (truth) => ({ slot: Math.max(40, truth + (behind[truth % behind.length] ?? 0)) }),
  kind: "lies",
});

/** As public endpoints are. */
export const nearBalancer = balancer("a balancer over nodes that are near", [0, -1, -2, -4]);

/** Lies about slots. */
export const lies: readonly Behaviour[] = [
  lying("a million slots ahead", 1_000_000),
  lying("a thousand slots ahead", 1_000),
  lying("sixty slots ahead", 60),
  lying("five slots ahead", 5),
  lying("forty slots behind", -40),
  lying("two hundred slots behind", -200),
  lying("another chain's slots", -900),
  { ...lying("a frozen chain", 0), claim: (_truth, node) => ({ slot: node.beganSlot }), answer: shifted(-20) },
  { ...lying("jumps", 0), claim: (truth) => ({ slot: truth % 2 === 0 ? truth + 5_000 : truth - 30 }) },
  { ...lying("a root far ahead", 0), claim: (truth) => ({ slot: truth, root: truth + 100_000 }) },
  { ...lying("a root at the head", 0), claim: (truth) => ({ slot: truth, root: truth }) },
  { ...lying("notices that are true, answers from the future", 0), answer: shifted(100_000) },
  { ...lying("notices that are true, answers from the past", 0), answer: shifted(-30) },
  { ...lying("an abandoned branch", 0), answer: well.answer, staysOnBranch: true },
  nearBalancer,
  balancer("a balancer over nodes one of which is far behind", [0, -1, -12, -150]),
  {
    ...balancer("a balancer one of whose nodes refuses", [0, -1, -3]),
    answer: (call) => (call.random.next() < 0.25 ? status(429)(call) : shifted(-1)(call)),
  },
];

/** Everything that a caller can tell from a good answer, and what is unusual and good. */
export const misbehaviours: readonly Behaviour[] = [...refusals, ...failures, ...garbage, ...silences, ...oddities];
