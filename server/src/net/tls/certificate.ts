import ipaddr from "ipaddr.js";

/** A key of the curve P-256 (PKCS #8), and the certificate for it; PEM texts. */
export interface Certified {
  readonly certificate: string;
  readonly privateKey: string;
}

export interface CertificateTerms {
  /** The common name. */
  readonly name: string;
  /** Unix milliseconds. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** 16 random bytes: no two certificates of an issuer have the same. */
  readonly serial: Uint8Array;
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

/** Loaded when a certificate is created, since it takes 230 ms (Bun 1.4.4) and most starts create none. */
async function loadX509(): Promise<typeof import("@peculiar/x509")> {
  // The library's container of classes reads metadata that the runtime does not have.
  await import("reflect-metadata");
  return await import("@peculiar/x509");
}

/**
 * A certificate of a new authority, signed by itself, which may sign certificates of servers and no further
 * authorities.
 */
export async function certifyAuthority(terms: CertificateTerms): Promise<Certified> {
  const x509 = await loadX509();
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity(terms),
    name: [{ CN: [terms.name] }],
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificate: `${certificate.toString("pem")}\n`, privateKey: await pkcs8(keys.privateKey) };
}

/** A certificate for a server that is called by the names and addresses of `hosts`. */
export async function certifyServer(
  terms: CertificateTerms,
  hosts: readonly string[],
  authority: Certified,
): Promise<Certified> {
  const x509 = await loadX509();
  const issuer = new x509.X509Certificate(authority.certificate);
  const issuerKey = x509.PemConverter.decodeFirst(authority.privateKey);
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const names = hosts.map((host) => ({ type: ipaddr.isValid(host) ? "ip" : "dns", value: host }) as const);
  const certificate = await x509.X509CertificateGenerator.create({
    ...validity(terms),
    subject: [{ CN: [terms.name] }],
    issuer: issuer.subjectName,
    signingAlgorithm: algorithm,
    publicKey: keys.publicKey,
    signingKey: await crypto.subtle.importKey("pkcs8", issuerKey, algorithm, false, ["sign"]),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(names),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      // As the authority says it: verifiers compare both, and there are several ways to derive it from the key.
      new x509.AuthorityKeyIdentifierExtension(issuer.getExtension(x509.SubjectKeyIdentifierExtension)?.keyId ?? ""),
    ],
  });
  return { certificate: `${certificate.toString("pem")}\n`, privateKey: await pkcs8(keys.privateKey) };
}

const validity = ({ notBefore, notAfter, serial }: CertificateTerms) => ({
  serialNumber: Buffer.from(serial).toString("hex"),
  notBefore: new Date(notBefore),
  notAfter: new Date(notAfter),
});

async function pkcs8(key: CryptoKey): Promise<string> {
  const base64 = Buffer.from(await crypto.subtle.exportKey("pkcs8", key)).toString("base64");
  return `-----BEGIN PRIVATE KEY-----\n${base64.replace(/.{1,64}/g, "$&\n")}-----END PRIVATE KEY-----\n`;
}
