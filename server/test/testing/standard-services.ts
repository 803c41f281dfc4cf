/** gRPC's standard services, as a generic client knows them. */
import { fileURLToPath } from "node:url";

const protoOf = (module: string, path: string): string =>
  fileURLToPath(new URL(path, import.meta.resolve(`${module}/package.json`)));

export const healthService = {
  file: protoOf("grpc-health-check", "proto/health/v1/health.proto"),
  service: "grpc.health.v1.Health",
};

export const reflectionService = {
  file: protoOf("@grpc/reflection", "build/proto/grpc/reflection/v1/reflection.proto"),
  service: "grpc.reflection.v1.ServerReflection",
};
