import { loadSync } from "@grpc/proto-loader";

/** A service as any version of the loader defines it. */
export type DescribedService = Readonly<
  Record<string, { readonly requestType: Described; readonly responseType: Described }>
>;

interface Described {
  readonly fileDescriptorProtos: readonly Buffer[];
}

/** What is read and written here of google/protobuf/descriptor.proto. */
interface FieldDescriptor {
  readonly name: string;
  readonly typeName?: string;
  readonly oneofIndex?: number;
  readonly proto3Optional?: boolean;
}

interface MessageDescriptor {
  readonly name: string;
  readonly field: readonly FieldDescriptor[];
  readonly nestedType: readonly MessageDescriptor[];
  readonly enumType: readonly { readonly name: string }[];
  readonly oneofDecl: readonly { readonly name: string }[];
  readonly options?: { readonly mapEntry?: boolean };
}

interface FileDescriptor {
  readonly name: string;
  readonly package: string;
  readonly dependency: readonly string[];
  readonly messageType: readonly MessageDescriptor[];
  readonly enumType: readonly { readonly name: string }[];
  readonly service: readonly ServiceDescriptor[];
}

interface ServiceDescriptor {
  readonly method: readonly { readonly inputType: string; readonly outputType: string }[];
}

type Resolve = (name: string, scope: string) => string;

/** The file in which each message and enumeration is, by its full name. */
type Symbols = ReadonlyMap<string, string>;

const wellKnown = "google.protobuf";

/**
 * The files of the services' messages as a compiler describes them. The loader leaves out what one file has of another,
 * writes names as they stand in the source and calls the entries of a map otherwise: clients that link what reflection
 * reports them (protobuf of Go, C++, Python, Java) refuse that.
 */
export function describedFiles(services: readonly DescribedService[]): Buffer[] {
  codec ??= loadFileCodec();
  const { deserialize, serialize } = codec;
  const methods = services.flatMap((definition) => Object.values(definition));
  // All messages of a service bring the same files.
  const written = new Set(
    methods.flatMap(({ requestType, responseType }) => [
      ...requestType.fileDescriptorProtos,
      ...responseType.fileDescriptorProtos,
    ]),
  );
  const files = new Map<string, FileDescriptor>();
  for (const bytes of written) {
    const file = named(deserialize(bytes));
    files.set(file.name, file);
  }
  const symbols: Symbols = new Map(
    [...files.values()].flatMap((file) => symbolsOf(file, file.package).map((name) => [name, file.name])),
  );
  return [...files.values()].map((file) => serialize(linked(file, symbols)));
}

interface FileCodec {
  deserialize(bytes: Buffer): FileDescriptor;
  serialize(file: FileDescriptor): Buffer;
}

/** Loaded with the first server of a process. */
let codec: FileCodec | null = null;

/** The loader knows the messages that describe files without having the file of theirs. */
function loadFileCodec(): FileCodec {
  const loading = { longs: String, enums: String, arrays: true };
  const found = loadSync("google/protobuf/descriptor.proto", loading)["google.protobuf.FileDescriptorProto"];
  if (found === undefined || !("serialize" in found)) throw new Error("the loader has no descriptor of files");
  // The loader types every message as an object; what this one has is what descriptor.proto says.
  return found as unknown as FileCodec;
}

/** Clients have the well-known types in files of their own names; the loader writes all of a package into one. */
function named(file: FileDescriptor): FileDescriptor {
  const [only, ...more] = file.messageType;
  if (file.package !== wellKnown || only === undefined || more.length > 0) return file;
  return { ...file, name: `google/protobuf/${only.name.toLowerCase()}.proto` };
}

type Scope = Pick<MessageDescriptor, "nestedType" | "enumType"> | Pick<FileDescriptor, "messageType" | "enumType">;

function symbolsOf(scope: Scope, name: string): string[] {
  const messages = "messageType" in scope ? scope.messageType : scope.nestedType;
  return [
    ...scope.enumType.map((each) => `${name}.${each.name}`),
    ...messages.flatMap((each) => [`${name}.${each.name}`, ...symbolsOf(each, `${name}.${each.name}`)]),
  ];
}

function linked(file: FileDescriptor, symbols: Symbols): FileDescriptor {
  const imports = new Set<string>();
  const resolve: Resolve = (name, scope) => {
    const full = fullName(name, scope, symbols);
    const source = symbols.get(full);
    if (source !== undefined && source !== file.name) imports.add(source);
    return full;
  };
  const messageType = file.messageType.map((each) => linkedMessage(each, `${file.package}.${each.name}`, resolve));
  const service = file.service.map((each) => linkedService(each, file.package, resolve));
  return { ...file, messageType, service, dependency: [...imports] };
}

function linkedService(service: ServiceDescriptor, scope: string, resolve: Resolve): ServiceDescriptor {
  const method = service.method.map((each) => ({
    ...each,
    inputType: `.${resolve(each.inputType, scope)}`,
    outputType: `.${resolve(each.outputType, scope)}`,
  }));
  return { ...service, method };
}

function linkedMessage(message: MessageDescriptor, scope: string, resolve: Resolve): MessageDescriptor {
  const entryNames = new Map(
    message.field.flatMap(({ name, typeName = "" }) => {
      const entry = message.nestedType.find((each) => each.name === typeName);
      return entry?.options?.mapEntry === true ? [[typeName, mapEntryName(name)] as const] : [];
    }),
  );
  return {
    ...message,
    field: message.field.map((field) => {
      const { typeName = "" } = field;
      const entryName = entryNames.get(typeName);
      const type = entryName === undefined ? typeName && resolve(typeName, scope) : `${scope}.${entryName}`;
      return { ...field, ...(type === "" ? {} : { typeName: `.${type}` }), ...presence(field, message) };
    }),
    nestedType: message.nestedType.map((nested) => {
      const name = entryNames.get(nested.name) ?? nested.name;
      return { ...linkedMessage(nested, `${scope}.${nested.name}`, resolve), name };
    }),
  };
}

/** A field declared `optional` is alone in a group that has its name behind an underscore. */
function presence({ name, oneofIndex }: FieldDescriptor, message: MessageDescriptor): { proto3Optional?: true } {
  const group = oneofIndex === undefined ? undefined : message.oneofDecl[oneofIndex];
  return group?.name === `_${name}` ? { proto3Optional: true } : {};
}

/** A name as it stands in the source is looked for outwards from where it stands. */
function fullName(name: string, scope: string, symbols: Symbols): string {
  if (name.startsWith(".")) return name.slice(1);
  for (let around = scope; around !== ""; around = around.slice(0, Math.max(0, around.lastIndexOf(".")))) {
    if (symbols.has(`${around}.${name}`)) return `${around}.${name}`;
  }
  if (symbols.has(name)) return name;
  throw new Error(`${scope} has a field of the unknown type ${name}`);
}

/**
 * `connected_validators` has entries of the type ConnectedValidatorsEntry. Source: the language guide of proto3, maps.
 */
function mapEntryName(field: string): string {
  const words = field.split("_").map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `${words.join("")}Entry`;
}
