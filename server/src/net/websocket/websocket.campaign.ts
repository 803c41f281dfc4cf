import { seededRandom } from "@sluice/lib";
import { EchoServer } from "./testing/echo-server.ts";
import { exchange } from "./testing/raw-exchange.ts";
import { CaseWriter, messageBytesMax } from "./testing/websocket-cases.ts";
import { expectedOf } from "./testing/websocket-model.ts";

/** Connections at a time. */
const lanes = 64;
/** Failures that the summary names. */
const namedMax = 10;

interface Tally {
  answers: number;
  /** Connections whose client left without a closing frame. */
  silent: number;
  /** Of connections that ended with each code. */
  readonly codes: Map<number, number>;
  readonly failures: string[];
}

/** The cases from `from` on, one in `lanes` each. */
async function lane(
  port: number,
  at: { readonly from: number; readonly n: number; readonly seed: number },
  tally: Tally,
) {
  for (let number = at.from; number < at.n; number += lanes) {
    // Of a seed of its own, so that one case can be played alone.
    const played = new CaseWriter(seededRandom(at.seed * 1_000_003 + number)).next();
    const expected = expectedOf(played.bytes, messageBytesMax);
    const fault = await exchange(port, played, expected);
    if (fault !== null) tally.failures.push(`case ${number} (${played.fault}): ${fault}`);
    tally.answers += expected.answers.length;
    if (expected.code === null && (expected.isCut || played.isSilent)) tally.silent += 1;
    else tally.codes.set(expected.code ?? 1000, (tally.codes.get(expected.code ?? 1000) ?? 0) + 1);
  }
}

/** Plays the cases against a server on this port that sends messages back. */
export async function play(port: number, { n, seed }: { readonly n: number; readonly seed: number }): Promise<Tally> {
  const tally: Tally = { answers: 0, silent: 0, codes: new Map(), failures: [] };
  await Promise.all(Array.from({ length: Math.min(lanes, n) }, (_, from) => lane(port, { from, n, seed }, tally)));
  return tally;
}

/**
 * Opens `n` connections to a running server that sends messages back, each with frames that are valid or wrong in one
 * of some thirty ways, whole, cut anywhere or byte by byte, also together with the handshake. A model written from the
 * RFC says of each what is answered and with which code it is closed; the server must send that, byte for byte, and
 * then end, and hold no connection afterwards.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  await using server = new EchoServer();
  const tally = await play(server.port, { n, seed });
  for (let wait = 0; wait < 100 && server.open[0] > 0; wait += 1) await Bun.sleep(20);
  const failures = [...tally.failures];
  if (server.open.some((count) => count > 0)) failures.push(`${server.open.join(" and ")} connections are still open`);
  for (const error of server.errors) failures.push(`the server reported ${String(error)}`);
  const codes = [...tally.codes].toSorted(([one], [other]) => one - other);
  const named = [1000, 1002, 1007, 1009].map((code) => `${code}: ${tally.codes.get(code) ?? 0}`).join(", ");
  const others = codes.filter(([code]) => ![1000, 1002, 1007, 1009].includes(code));
  const total = others.reduce((sum, [, count]) => sum + count, 0);
  const summary =
    failures.length === 0
      ? `${n} connections, ${tally.answers} answers, closed with ${named}, ${total} with ${others.length} other codes, ${tally.silent} left without a closing frame`
      : [`${failures.length} failures`, ...failures.slice(0, namedMax)].join("\n");
  return { passed: failures.length === 0, summary };
}
