import { afterAll, describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { eventually } from "@sluice/lib/testing";
import { parseLogUrl } from "../../config/index.ts";
import { run as runCursors } from "../cursors.campaign.ts";
import { type ChainIdentity, type ChainLog, type ChainLogOptions, openChainLog } from "../index.ts";
import { run as runKills } from "../log-kills.campaign.ts";
import { blockOf, headerOf, otherChain, slotOf, takeUntil } from "../testing/chain-model.ts";
import { describeLogConformance } from "../testing/conformance.ts";
import { appendBlocks, follow, type LogHarness } from "../testing/log-subject.ts";
import { natsBinary, removeStream, startNats } from "../testing/nats-servers.ts";
import { hurriedClock, observed, standardOptions, temporaryDirectory } from "../testing/segment-logs.ts";

const given = Bun.env["NATS_URL"] ?? "";
if (natsBinary === null && given === "") console.warn("NOT RUN: log conformance on JetStream (NATS_URL is not set)");

async function openHarness(url: string, changes: Partial<ChainLogOptions> = {}): Promise<LogHarness> {
  const prefix = `test-${randomUUID()}`;
  const { clock, pass } = hurriedClock();
  const options = { ...standardOptions, dataDirectory: "", logUrl: `${url}?prefix=${prefix}`, bytesMax: 4_000_000 };
  const open = (named: Partial<ChainLogOptions> = changes): Promise<ChainLog> =>
    openChainLog({ ...options, ...named }, observed(clock).dependencies);
  const harness = {
    log: await open(),
    other: await open(),
    reopen: async (chain?: ChainIdentity) => {
      await harness.log[Symbol.asyncDispose]();
      harness.log = await open(chain === undefined ? changes : { chain });
      return harness.log;
    },
    trim: async () => {
      let same = 0;
      let before = 0n;
      await eventually("the trim", () => {
        pass();
        const first = harness.log.earliest()?.slot ?? 0n;
        same = first === before && first > 110n && first === harness.other.earliest()?.slot ? same + 1 : 0;
        before = first;
        return same > 5;
      });
    },
    [Symbol.asyncDispose]: async () => {
      await harness.log[Symbol.asyncDispose]();
      await harness.other[Symbol.asyncDispose]();
      await removeStream(url, `${prefix}-chain-devnet`);
    },
  };
  return harness;
}

const own = natsBinary === null || given !== "" ? null : temporaryDirectory();
const single = own === null ? [] : await startNats(own.path, 1);
const url = own === null ? given : `nats://127.0.0.1:${single[0]?.port}`;
afterAll(async () => {
  for (const server of single) await server.process[Symbol.asyncDispose]();
  own?.[Symbol.dispose]();
});

if (url !== "") {
  describeLogConformance("JetStream", (changes) => openHarness(url, changes));

  describe("a stream", () => {
    test("of another chain is refused, or removed where a chain may start anew", async () => {
      const logUrl = `${url}?prefix=test-${randomUUID()}`;
      const options = { ...standardOptions, dataDirectory: "", logUrl };
      const { dependencies } = observed();
      const first = await openChainLog(options, dependencies);
      await appendBlocks(first, 100, 101);
      await first[Symbol.asyncDispose]();
      const other = { ...options, chain: otherChain };
      await expect(openChainLog(other, dependencies)).rejects.toMatchObject({ code: "CHAIN_DIFFERS" });
      const anew = await openChainLog({ ...other, discardsOtherChain: true }, dependencies);
      expect(anew.earliest()).toBeNull();
      await anew[Symbol.asyncDispose]();
      await removeStream(url, `${parseLogUrl(logUrl).prefix}-chain-devnet`);
    });

    test("whose old blocks are in the ledger is purged, and every process is told", async () => {
      const logUrl = `${url}?prefix=test-${randomUUID()}`;
      const { clock, pass } = hurriedClock();
      const options = { ...standardOptions, dataDirectory: "", logUrl, retentionMs: -60_000 };
      const [one, two] = [
        await openChainLog(options, observed(clock).dependencies),
        await openChainLog(options, observed(clock).dependencies),
      ];
      // One after the other: a stream is purged up to the first record that is still wanted.
      for (let slot = 100; slot <= 110; slot += 1) await one.append(blockOf(headerOf(slot)));
      await takeUntil(follow(two, "confirmed", "earliest"), headerOf(110));
      one.setWatermark(slotOf(105));
      await eventually("the purge", () => {
        pass();
        return one.earliest()?.slot === slotOf(105) && two.earliest()?.slot === slotOf(105);
      });
      const third = await openChainLog(options, observed(clock).dependencies);
      expect(third.earliest()?.slot).toBe(slotOf(105));
      for (const log of [one, two, third]) await log[Symbol.asyncDispose]();
      await removeStream(url, `${parseLogUrl(logUrl).prefix}-chain-devnet`);
    });

    test("without a server cannot be opened, and tls:// never goes in plain text", async () => {
      const { dependencies } = observed();
      const options = { ...standardOptions, dataDirectory: "" };
      const away = openChainLog({ ...options, logUrl: "nats://127.0.0.1:1" }, dependencies);
      await expect(away).rejects.toMatchObject({ code: "UNAVAILABLE" });
      const plain = openChainLog({ ...options, logUrl: url.replace("nats://", "tls://") }, dependencies);
      await expect(plain).rejects.toMatchObject({ code: "UNAVAILABLE" });
    });
  });
}

describe.skipIf(natsBinary === null)("processes over one stream", () => {
  test("a killed writer loses nothing that it acknowledged, nor does a killed server", async () => {
    const { passed, summary } = await runKills({ only: ["jetstream"], n: 4, seed: 1 });
    expect([passed, summary]).toEqual([true, expect.stringContaining(" 0 lost")]);
  }, 60_000);

  test("a follower that is handed from view to view at every event is told exactly the chain", async () => {
    const { passed, summary } = await runCursors({ only: ["jetstream"], n: 3, seed: 1 });
    expect([passed, summary]).toEqual([true, expect.stringContaining(" events, ")]);
  }, 60_000);
});
