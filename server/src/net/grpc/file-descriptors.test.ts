import { expect, test } from "bun:test";
import { loadSync } from "@grpc/proto-loader";
import { protoFiles } from "@sluice/contract/proto";
import { service as healthService } from "grpc-health-check";
import { loadService } from "../index.ts";
import { describedFiles } from "./file-descriptors.ts";

interface Message {
  readonly name: string;
  readonly field: readonly { readonly name: string; readonly typeName: string; readonly proto3Optional: boolean }[];
  readonly nestedType: readonly Message[];
  readonly enumType: readonly { readonly name: string }[];
}

interface File extends Pick<Message, "enumType"> {
  readonly name: string;
  readonly package: string;
  readonly syntax: string;
  readonly dependency: readonly string[];
  readonly messageType: readonly Message[];
  readonly service: readonly {
    readonly method: readonly { readonly inputType: string; readonly outputType: string }[];
  }[];
}

const services = [
  loadService(protoFiles.blockEngine, "blockengine.v1.BlockEngine"),
  loadService(protoFiles.searcher, "searcher.SearcherService"),
  loadService(protoFiles.auth, "auth.AuthService"),
  loadService(protoFiles.validator, "block_engine.BlockEngineValidator"),
  healthService,
];

function files(): readonly File[] {
  const loaded = loadSync("google/protobuf/descriptor.proto", { enums: String, defaults: true });
  const codec = loaded["google.protobuf.FileDescriptorProto"] as unknown as { deserialize(bytes: Buffer): File };
  return describedFiles(services).map((bytes) => codec.deserialize(bytes));
}

const withNested = (message: Message, scope: string): readonly (readonly [string, Message])[] => {
  const name = `${scope}.${message.name}`;
  return [[name, message], ...message.nestedType.flatMap((each) => withNested(each, name))];
};
const messagesOf = (file: File) => file.messageType.flatMap((each) => withNested(each, `.${file.package}`));
const namesOf = (file: File): readonly string[] => [
  ...messagesOf(file).flatMap(([name, message]) => [name, ...message.enumType.map((each) => `${name}.${each.name}`)]),
  ...file.enumType.map((each) => `.${file.package}.${each.name}`),
];

test("every type is named in full and is in its file or in one that the file imports, as strict clients demand", () => {
  const all = files();
  const byName = new Map(all.map((file) => [file.name, file]));
  expect(byName.size).toBe(all.length);
  for (const file of all) {
    const imported = file.dependency.map((name) => byName.get(name));
    expect(imported).not.toContain(undefined);
    const known = new Set([file, ...imported].flatMap((each) => (each === undefined ? [] : namesOf(each))));
    const used = [
      ...messagesOf(file).flatMap(([, { field }]) =>
        field.flatMap(({ typeName }) => (typeName === "" ? [] : typeName)),
      ),
      ...file.service.flatMap(({ method }) => method.flatMap(({ inputType, outputType }) => [inputType, outputType])),
    ];
    for (const name of used) expect([file.name, name, known.has(name)]).toEqual([file.name, name, true]);
    expect(file.syntax).toBe("proto3");
  }
  expect(byName.get("searcher.proto")?.dependency).toEqual(["bundle.proto"]);
  expect(byName.has("google/protobuf/timestamp.proto")).toBe(true);
});

test("optional fields and the entries of maps are reported as a compiler reports them", () => {
  const messages = new Map(files().flatMap((file) => messagesOf(file)));
  const optional = (name: string) =>
    messages.get(name)?.field.flatMap((field) => (field.proto3Optional ? field.name : [])) ?? [];
  expect(optional(".blockengine.v1.BundleRequest")).toEqual(["target_slot", "encrypted_payload"]);
  expect(optional(".blockengine.v1.BundleConfirmation")).toEqual(["slot", "reason"]);
  expect(optional(".bundle.Rejected")).toEqual([]);
  const entry = ".searcher.ConnectedLeadersResponse.ConnectedValidatorsEntry";
  expect(messages.get(entry)?.field.map(({ name }) => name)).toEqual(["key", "value"]);
});
