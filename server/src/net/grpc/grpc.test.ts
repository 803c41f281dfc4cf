import { expect, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { protoFiles } from "@sluice/contract/proto";
import { systemClock } from "@sluice/lib";
import { loadService } from "../index.ts";
import { ListenError } from "../listener/listen-error.ts";
import { GrpcServer, type GrpcService } from "./grpc.ts";
import { PlainClient } from "./testing/grpc-client.ts";

const protoOf = (module: string, path: string): string =>
  fileURLToPath(new URL(path, import.meta.resolve(`${module}/package.json`)));
const healthProto = protoOf("grpc-health-check", "proto/health/v1/health.proto");
const reflectionProto = protoOf("@grpc/reflection", "build/proto/grpc/reflection/v1/reflection.proto");

/** Our own service, whose one stream ends when it is drained, and whose SubmitBundle never answers. */
function service(): GrpcService & { readonly called: Promise<void> } {
  const open = new Set<{ end(): void }>();
  const called = Promise.withResolvers<void>();
  return {
    called: called.promise,
    definition: loadService(protoFiles.blockEngine, "blockengine.v1.BlockEngine"),
    implementation: {
      SubmitBundle: () => called.resolve(),
      SubmitBundleStream: (call: { end(): void; write(message: object): void }) => {
        open.add(call);
        call.write({ bundle_id: "open", status: "accepted" });
      },
      GetTipFloor: (_call: unknown, answer: (fault: null, message: object) => void) => answer(null, {}),
      GetReputation: (_call: unknown, answer: (fault: null, message: object) => void) => answer(null, {}),
    },
    drain: () => {
      for (const call of open) call.end();
    },
  };
}

const at = { endpoint: "engine", hostname: "127.0.0.1", port: 0, tls: null } as const;
const ours = { file: protoFiles.blockEngine, service: "blockengine.v1.BlockEngine" };

test("health reports on the server and on each service, and of maintenance as it begins and ends", async () => {
  let isServing = true;
  await using endpoint = await GrpcServer.open(at, {
    clock: systemClock,
    services: [service()],
    isServing: () => isServing,
  });
  using client = new PlainClient(endpoint.port, { file: healthProto, service: "grpc.health.v1.Health" });
  const check = async (name: string) => await client.call("Check", { service: name });
  expect(await check("")).toMatchObject({ message: { status: "SERVING" } });
  expect(await check("nothing.of.Ours")).toMatchObject({ status: "NOT_FOUND" });
  const watch = client.subscribe("Watch", { service: "blockengine.v1.BlockEngine" });
  await watch.first(1);
  isServing = false;
  endpoint.tick();
  expect(await check("blockengine.v1.BlockEngine")).toMatchObject({ message: { status: "NOT_SERVING" } });
  isServing = true;
  endpoint.tick();
  await watch.first(3);
  expect(watch.messages.map(({ status }) => status)).toEqual(["SERVING", "NOT_SERVING", "SERVING"]);
  watch.cancel();
});

test("reflection lists the services that are served and describes their files", async () => {
  await using endpoint = await GrpcServer.open(at, {
    clock: systemClock,
    services: [service()],
    isServing: () => true,
  });
  using client = new PlainClient(endpoint.port, {
    file: reflectionProto,
    service: "grpc.reflection.v1.ServerReflection",
  });
  const talk = client.duplex("ServerReflectionInfo");
  talk.say({ list_services: "*" });
  talk.say({ file_containing_symbol: "blockengine.v1.BundleConfirmation" });
  const [list, described] = await talk.first(2);
  expect(list).toMatchObject({
    list_services_response: { service: [{ name: "blockengine.v1.BlockEngine" }, { name: "grpc.health.v1.Health" }] },
  });
  const file = JSON.stringify(described?.["file_descriptor_response"]);
  expect(Buffer.from(JSON.parse(file).file_descriptor_proto[0].data).toString("latin1")).toContain(
    "SubmitBundleStream",
  );
  talk.halfClose();
});

test("a port that is taken is refused with the name of its endpoint", async () => {
  await using endpoint = await GrpcServer.open(at, {
    clock: systemClock,
    services: [service()],
    isServing: () => true,
  });
  const second = GrpcServer.open(
    { ...at, port: endpoint.port },
    { clock: systemClock, services: [service()], isServing: () => true },
  );
  const fault = await second.catch((error: unknown) => error);
  expect(fault).toBeInstanceOf(ListenError);
  expect(fault).toMatchObject({ code: "CANNOT_LISTEN", details: { endpoint: "engine", port: endpoint.port } });
});

test("an end drains streams, and waits for what does not end by itself no longer than its deadline", async () => {
  const slow = service();
  const endpoint = await GrpcServer.open(at, { clock: systemClock, services: [slow], isServing: () => true });
  using client = new PlainClient(endpoint.port, ours);
  const stream = client.duplex("SubmitBundleStream");
  await stream.first(1);
  void client.call("SubmitBundle");
  await slow.called;
  const stopped = endpoint.stop(20);
  expect(await stream.ended).toMatchObject({ status: "OK" });
  await stopped;
  using late = new PlainClient(endpoint.port, ours);
  expect(await late.call("GetTipFloor")).toMatchObject({ status: "UNAVAILABLE" });
});

test("an end is reported to who watches the health, and waits neither for that nor for a stream of reflection", async () => {
  const endpoint = await GrpcServer.open(at, { clock: systemClock, services: [service()], isServing: () => true });
  using client = new PlainClient(endpoint.port, { file: healthProto, service: "grpc.health.v1.Health" });
  const watch = client.subscribe("Watch", { service: "" });
  await watch.first(1);
  const reflected = { file: reflectionProto, service: "grpc.reflection.v1.ServerReflection" };
  using asking = new PlainClient(endpoint.port, reflected);
  const talk = asking.duplex("ServerReflectionInfo");
  talk.say({ list_services: "*" });
  await talk.first(1);
  // Without a deadline: the end comes because nothing is left to wait for.
  const stopped = endpoint.stop(2 ** 31 - 1);
  expect(await watch.ended).toMatchObject({
    status: "UNAVAILABLE",
    details: "The server of this process ends; connect again",
  });
  expect(watch.messages.map(({ status }) => status)).toEqual(["SERVING", "NOT_SERVING"]);
  expect(await talk.ended).toMatchObject({ status: "UNAVAILABLE" });
  await stopped;
});

test("an end waits for the answer of a call in flight, and the call gets it", async () => {
  const release = Promise.withResolvers<void>();
  const called = Promise.withResolvers<void>();
  const answering = service();
  const slow: GrpcService = {
    ...answering,
    implementation: {
      ...answering.implementation,
      GetTipFloor: async (_call: unknown, answer: (fault: null, message: object) => void) => {
        called.resolve();
        await release.promise;
        answer(null, {});
      },
    },
  };
  const endpoint = await GrpcServer.open(at, { clock: systemClock, services: [slow], isServing: () => true });
  using client = new PlainClient(endpoint.port, ours);
  const call = client.call("GetTipFloor");
  await called.promise;
  let isStopped = false;
  const stopped = endpoint.stop(10_000).then(() => {
    isStopped = true;
  });
  await Bun.sleep(20);
  expect(isStopped).toBe(false);
  release.resolve();
  expect(await call).toMatchObject({ status: "OK" });
  await stopped;
});

test("a message over the bound is refused, one within it is not", async () => {
  await using endpoint = await GrpcServer.open(
    { ...at, messageBytesMax: 1_000 },
    { clock: systemClock, services: [service()], isServing: () => true },
  );
  using client = new PlainClient(endpoint.port, ours);
  expect(await client.callRaw("GetTipFloor", Buffer.alloc(1_001))).toMatchObject({ status: "RESOURCE_EXHAUSTED" });
  expect(await client.call("GetTipFloor")).toMatchObject({ status: "OK" });
});
