/** Records the development market: see market-recordings.ts. */
import { writeFileSync } from "node:fs";
import { bootMarket, type TestMarket } from "../../../../../devnet/market/testing/market.ts";
import type { Exchange } from "../exchange.ts";
import { exchanges } from "../exchanges/index.ts";
import {
  type MarketRecording,
  meaningOfAnswer,
  meaningOfFrame,
  recordedRequests,
  recordedSymbols,
  recordingPath,
} from "./market-recordings.ts";

/** Time for sockets of this machine. */
const settleMs = 300;
const secondsMin = 3;
/** A stream of trades is quiet about a market until one happens there. */
const secondsMax = 60;

async function answersOf(exchange: Exchange, market: TestMarket): Promise<MarketRecording["answers"]> {
  const recorded = recordedRequests(exchange).map(async (request, index) => {
    const response = await market.get(exchange.id, request.path, { method: request.method });
    const body = await response.text();
    const means = meaningOfAnswer(exchange, request, response.status, body);
    return { request: index, status: response.status, body, means };
  });
  return await Promise.all(recorded);
}

async function streamUrl(exchange: Exchange, market: TestMarket): Promise<string> {
  const { ticket, path } = exchange.stream;
  const endpoint = market.market.exchanges[exchange.id];
  if (ticket === undefined) return `${endpoint.ws}${path}`;
  const response = await market.get(exchange.id, ticket.path, { method: "POST" });
  const answer = {
    status: response.status,
    header: () => null,
    text: await response.text(),
    receivedAtMs: market.now(),
  };
  const outcome = ticket.read(answer, endpoint, "recorded");
  if (outcome.kind !== "ticket") throw new Error(`${exchange.id}: ${outcome.kind}`);
  return outcome.url;
}

async function framesOf(exchange: Exchange, market: TestMarket): Promise<MarketRecording["frames"]> {
  const frames: string[] = [];
  const socket = new WebSocket(await streamUrl(exchange, market));
  socket.addEventListener("message", ({ data }) => frames.push(String(data)));
  await new Promise((resolve) => socket.addEventListener("open", resolve, { once: true }));
  await Bun.sleep(settleMs);
  const markets = exchange.markets.filter(({ base }) => recordedSymbols.includes(base));
  for (const frame of exchange.stream.subscribe(markets, market.now())) socket.send(frame);
  await Bun.sleep(settleMs);
  const priced = (name: string): boolean =>
    frames.some((text) =>
      meaningOfFrame(exchange, text).some((line) => line.startsWith(`${name} `) && line.includes("|")),
    );
  for (let second = 0; second < secondsMax; second++) {
    if (second >= secondsMin && markets.every(({ streamName }) => priced(streamName))) break;
    await market.step(1_000);
    await Bun.sleep(settleMs);
  }
  socket.close();
  return frames.map((text) => ({ text, means: meaningOfFrame(exchange, text) }));
}

for (const exchange of exchanges) {
  await using market = bootMarket({ symbols: recordedSymbols, seed: "recordings" });
  const recording = { answers: await answersOf(exchange, market), frames: await framesOf(exchange, market) };
  writeFileSync(recordingPath(exchange.id), `${JSON.stringify(recording, null, 1)}\n`);
  console.log(`${exchange.id}: ${recording.answers.length} answers, ${recording.frames.length} frames`);
}
process.exit(0);
