import { expect, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { protoFiles } from "@sluice/contract/proto";
import { bootFaultyNode } from "../devnet/chain/faults/testing/faulty-node.ts";
import { PlainClient } from "../server/src/net/grpc/testing/grpc-client.ts";

const protoOf = (module: string, path: string): string =>
  fileURLToPath(new URL(path, import.meta.resolve(`${module}/package.json`)));
const health = {
  file: protoOf("grpc-health-check", "proto/health/v1/health.proto"),
  service: "grpc.health.v1.Health",
};
const reflection = {
  file: protoOf("@grpc/reflection", "build/proto/grpc/reflection/v1/reflection.proto"),
  service: "grpc.reflection.v1.ServerReflection",
};
const geyser = { file: protoFiles.geyser, service: "geyser.Geyser" };

test("the development chain's Yellowstone has health and reflection, and says what it does not serve", async () => {
  await using faulty = await bootFaultyNode({ grpcPort: 0 });
  const port = Number(new URL(faulty.node.grpcUrl ?? "").port);
  using healthClient = new PlainClient(port, health);
  expect(await healthClient.call("Check", { service: geyser.service })).toMatchObject({
    message: { status: "SERVING" },
  });
  using reflectionClient = new PlainClient(port, reflection);
  const talk = reflectionClient.duplex("ServerReflectionInfo");
  talk.say({ list_services: "*" });
  talk.say({ file_containing_symbol: "geyser.SubscribeUpdateBlock" });
  const [list, described] = await talk.first(2);
  expect(list).toMatchObject({ list_services_response: { service: [{ name: geyser.service }] } });
  expect(JSON.stringify(described)).not.toContain("error_code");
  talk.cancel();
  using client = new PlainClient(port, geyser);
  expect(await client.call("GetSlot", { commitment: 9 })).toMatchObject({
    status: "UNKNOWN",
    details: "failed to create CommitmentLevel from 9",
  });
  const deshred = client.duplex("SubscribeDeshred");
  expect(await deshred.ended).toMatchObject({ status: "UNIMPLEMENTED" });
  await faulty.admin("devnet_refuse", { connections: true });
  expect(await client.call("GetVersion", {})).toMatchObject({ status: "UNAVAILABLE" });
  await faulty.admin("devnet_clear");
  expect(await client.call("Ping", { count: 3 })).toMatchObject({ message: { count: 3 } });
});
