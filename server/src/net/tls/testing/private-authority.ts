/** Certificates of an authority that no system trusts, as files, for tests of connections to other programs. */
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Certified, certifyAuthority, certifyServer } from "../certificate.ts";

export interface CertificateFiles {
  readonly certificate: string;
  readonly key: string;
}

export interface PrivateAuthority {
  /** The file with the authority's certificate. */
  readonly caFile: string;
  /** A certificate for a server that is called by `hosts`. */
  server(name: string, hosts: readonly string[]): Promise<CertificateFiles>;
  /** A certificate by which a client proves that it is `name`. */
  client(name: string): Promise<CertificateFiles>;
}

const dayMs = 86_400_000;

export async function newAuthority(directory: string): Promise<PrivateAuthority> {
  const terms = (name: string) => {
    const serial = crypto.getRandomValues(new Uint8Array(16));
    serial[0] = 0x40 | ((serial[0] ?? 0) & 0x3f);
    return { name, notBefore: Date.now() - dayMs, notAfter: Date.now() + dayMs, serial };
  };
  const authority = await certifyAuthority(terms("private authority"));
  const caFile = join(directory, "ca.pem");
  writeFileSync(caFile, authority.certificate);
  chmodSync(caFile, 0o644);
  const write = (name: string, { certificate, privateKey }: Certified): CertificateFiles => {
    const files = { certificate: join(directory, `${name}.pem`), key: join(directory, `${name}.key`) };
    writeFileSync(files.certificate, certificate);
    writeFileSync(files.key, privateKey, { mode: 0o600 });
    return files;
  };
  return {
    caFile,
    server: async (name, hosts) => write(name, await certifyServer(terms(name), hosts, authority)),
    client: async (name) => write(name, await certifyClient(terms(name), authority)),
  };
}

async function certifyClient(
  { name, notBefore, notAfter, serial }: Parameters<typeof certifyServer>[0],
  authority: Certified,
): Promise<Certified> {
  await import("reflect-metadata");
  const x509 = await import("@peculiar/x509");
  const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const issuerKey = x509.PemConverter.decodeFirst(authority.privateKey);
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: Buffer.from(serial).toString("hex"),
    notBefore: new Date(notBefore),
    notAfter: new Date(notAfter),
    subject: [{ CN: [name] }],
    issuer: new x509.X509Certificate(authority.certificate).subjectName,
    signingAlgorithm: algorithm,
    publicKey: keys.publicKey,
    signingKey: await crypto.subtle.importKey("pkcs8", issuerKey, algorithm, false, ["sign"]),
    extensions: [new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth])],
  });
  const exported = Buffer.from(await crypto.subtle.exportKey("pkcs8", keys.privateKey));
  const privateKey = x509.PemConverter.encode(new Uint8Array(exported), "PRIVATE KEY");
  return { certificate: `${certificate.toString("pem")}\n`, privateKey: `${privateKey}\n` };
}
