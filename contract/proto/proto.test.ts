import { expect, test } from "bun:test";
import { loadSync } from "@grpc/proto-loader";
import { protoFiles, protoLoading } from "./index.ts";

const services = (file: string): string[] =>
  Object.entries(loadSync(file, protoLoading))
    .filter(([, definition]) => !("format" in definition))
    .map(([name, definition]) => `${name}: ${Object.keys(definition).join(" ")}`);

test("each protocol has its services and methods", () => {
  expect(services(protoFiles.blockEngine)).toEqual([
    "blockengine.v1.BlockEngine: SubmitBundle SubmitBundleStream GetTipFloor GetReputation",
  ]);
  expect(services(protoFiles.auth)).toEqual([
    "auth.AuthService: GenerateAuthChallenge GenerateAuthTokens RefreshAccessToken",
  ]);
  expect(services(protoFiles.searcher)).toEqual([
    "searcher.SearcherService: SubscribeBundleResults SendBundle GetNextScheduledLeader GetConnectedLeaders GetConnectedLeadersRegioned GetTipAccounts GetRegions",
  ]);
  expect(services(protoFiles.validator)).toEqual([
    "block_engine.BlockEngineValidator: SubscribePackets SubscribeBundles GetBlockBuilderFeeInfo GetBlockEngineEndpoints",
    "block_engine.BlockEngineRelayer: SubscribeAccountsOfInterest SubscribeProgramsOfInterest StartExpiringPacketStream",
  ]);
  expect(services(protoFiles.geyser)).toEqual([
    "geyser.Geyser: Subscribe SubscribeDeshred SubscribeReplayInfo Ping GetLatestBlockhash GetBlockHeight GetSlot IsBlockhashValid GetVersion",
  ]);
});
