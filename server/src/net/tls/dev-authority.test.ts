import { afterEach, beforeEach, expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { credentials } from "@grpc/grpc-js";
import { protoFiles } from "@sluice/contract/proto";
import { ManualClock, seededRandom, systemClock } from "@sluice/lib";
import { fixedCertificate } from "../certificate-source.ts";
import { GrpcServer } from "../grpc/grpc.ts";
import { loadService } from "../grpc/service.ts";
import { PlainClient } from "../grpc/testing/grpc-client.ts";
import { devTls } from "./dev-authority.ts";

const dayMs = 86_400_000;
let directory: string;
let clock: ManualClock;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "sluice-tls-"));
  clock = new ManualClock(Date.now());
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const created = (hosts: readonly string[] = []) => devTls({ directory, hosts }, { clock, random: seededRandom(5) });
const authority = (): string => readFileSync(join(directory, "dev-ca.pem"), "utf8");

test("files are its owner's alone, and are used again at the next start", async () => {
  const first = await created();
  for (const file of ["dev-tls.json", "dev-ca.pem"]) {
    expect(statSync(join(directory, file)).mode & 0o777).toBe(0o600);
  }
  const pem = authority();
  expect(first.authorityPath).toBe(join(directory, "dev-ca.pem"));
  expect(await created()).toEqual(first);
  expect(authority()).toBe(pem);
});

test("a certificate about to end, or without a host, is made anew by the same authority", async () => {
  const first = await created();
  const pem = authority();
  const named = await created(["engine.internal", "10.1.2.3"]);
  expect(named.certificateChain).not.toBe(first.certificateChain);
  expect(await created(["engine.internal"])).toEqual(named);
  clock.advance(336 * dayMs);
  const later = await created();
  expect(later.certificateChain).not.toBe(named.certificateChain);
  expect(Date.parse(new X509Certificate(later.certificateChain).validTo)).toBeGreaterThan(clock.now() + 364 * dayMs);
  expect(authority()).toBe(pem);
});

test("an authority that release 0.1 stored is kept, and signs certificates that name it as it names itself", async () => {
  clock = new ManualClock(Date.UTC(2026, 11, 1));
  const before = await Bun.file(join(import.meta.dir, "testing/authority-of-0.1.json")).json();
  writeFileSync(join(directory, "dev-tls.json"), JSON.stringify(before));
  expect((await created()).privateKey).toBe(before.privateKey);
  const { certificateChain } = await created(["engine.internal"]);
  expect(authority()).toBe(before.authority);
  const [issued, issuer] = [new X509Certificate(certificateChain), new X509Certificate(before.authority)];
  expect(issued.checkIssued(issuer)).toBe(true);
  expect(issued.verify(issuer.publicKey)).toBe(true);
  // Some clients compare the bytes of the names.
  const { X509Certificate: Parsed } = await import("@peculiar/x509");
  const [name, expected] = [new Parsed(issued.raw).issuerName, new Parsed(issuer.raw).subjectName];
  expect(Buffer.from(name.toArrayBuffer()).equals(Buffer.from(expected.toArrayBuffer()))).toBe(true);
});

test("an authority about to end and damaged files are replaced as a whole", async () => {
  const first = await created();
  const pem = authority();
  clock.advance(3_630 * dayMs);
  await created();
  expect(authority()).not.toBe(pem);
  for (const damage of [
    "{",
    "{}",
    JSON.stringify({ authority: "a", authorityKey: "b", certificate: "c", privateKey: "d" }),
  ]) {
    writeFileSync(join(directory, "dev-tls.json"), damage);
    const repaired = await created();
    expect(repaired.privateKey).not.toBe(first.privateKey);
    expect(await created()).toEqual(repaired);
  }
});

test("a client that trusts the authority reaches the server, one that does not is stopped", async () => {
  const tls = await created();
  const tipFloor = (_call: unknown, answer: (fault: null, message: object) => void): void =>
    answer(null, { tip_floor: "7" });
  const service = {
    definition: loadService(protoFiles.blockEngine, "blockengine.v1.BlockEngine"),
    implementation: {
      SubmitBundle: tipFloor,
      SubmitBundleStream: () => {},
      GetTipFloor: tipFloor,
      GetReputation: tipFloor,
    },
  };
  await using endpoint = await GrpcServer.open(
    { endpoint: "engine", hostname: "127.0.0.1", port: 0, tls: fixedCertificate(tls) },
    { clock: systemClock, services: [service], isServing: () => true },
  );
  const ours = { file: protoFiles.blockEngine, service: "blockengine.v1.BlockEngine" };
  using trusting = new PlainClient(endpoint.port, { ...ours, tls: credentials.createSsl(Buffer.from(authority())) });
  expect(await trusting.call("GetTipFloor")).toMatchObject({ status: "OK", message: { tip_floor: "7" } });
  using doubting = new PlainClient(endpoint.port, { ...ours, tls: credentials.createSsl() });
  expect(await doubting.call("GetTipFloor")).toMatchObject({ status: "UNAVAILABLE" });
  for (const [servername, isRight] of [
    ["localhost", true],
    ["elsewhere.example", false],
  ] as const) {
    const socket = connect({
      port: endpoint.port,
      host: "127.0.0.1",
      servername,
      ca: authority(),
      ALPNProtocols: ["h2"],
    });
    const end = await new Promise((resolve) => {
      socket.on("secureConnect", () => resolve(socket.authorized));
      socket.on("error", () => resolve(false));
    });
    socket.destroy();
    expect(end).toBe(isRight);
  }
});
