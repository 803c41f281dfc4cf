import { type AddressSet, type Clock, replaceableAddressSet } from "@sluice/lib";
import type { CertificateFilePaths, Config } from "../config/index.ts";
import {
  CertificateFiles,
  type CertificateSource,
  createCertificateEvents,
  createProxyEvents,
  FrontedPeers,
  frontHost,
  listening,
  type ProxyEvents,
  ProxyFront,
  TlsFront,
} from "../net/index.ts";
import type { Metrics, RootLog } from "../observe/index.ts";

interface CertificateDependencies {
  readonly clock: Clock;
  readonly log: RootLog;
  readonly metrics: Metrics;
  readonly resources: AsyncDisposableStack;
}

/** The certificates of the endpoints by their files; what several endpoints name is read once. */
export class Certificates {
  readonly #dependencies: CertificateDependencies;
  readonly #opened = new Map<string, CertificateSource>();

  constructor(dependencies: CertificateDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * The certificate of these files, which are read again while the server runs.
   * @throws {CertificateFault} when they hold none
   */
  of(paths: CertificateFilePaths): CertificateSource {
    const { clock, resources } = this.#dependencies;
    const name = `${paths.certificate}\n${paths.key}`;
    const known = this.#opened.get(name);
    if (known !== undefined) return known;
    const events = createCertificateEvents(this.#dependencies);
    const files = resources.use(new CertificateFiles(paths, { clock, events }));
    this.#opened.set(name, files);
    return files;
  }
}

/** Where a listener listens, and how it knows clients that come through a front. */
export interface ListeningPlace {
  readonly hostname: string;
  readonly port: number;
  readonly peers?: FrontedPeers;
}

export interface PortOptions {
  /** Named in the ListenError when the port cannot be had. */
  readonly endpoint: string;
  readonly hostname: string;
  readonly port: number;
  /** Null where the endpoint speaks without TLS. */
  readonly tls: CertificateFilePaths | null;
  /** Whether other processes of this host listen there as well. */
  readonly sharesPort?: boolean;
  /** Connections that a front takes at a time. */
  readonly connectionsMax?: number;
}

/** As many as a process serves well: what is behind bounds its own. */
const connectionsMaxDefault = 65_536;

/** Who begins connections with a header of the PROXY protocol, on every port of customers. */
export interface TrustedHeaders {
  readonly trusted: AddressSet & { replace(ranges: readonly string[]): void };
  readonly events: ProxyEvents;
}

/** Null where nobody does. */
export function trustedHeadersOf(config: Config, { metrics }: { readonly metrics: Metrics }): TrustedHeaders | null {
  if (config.proxyProtocol === "off") return null;
  return { trusted: replaceableAddressSet(config.trustedProxies), events: createProxyEvents({ metrics }) };
}

/** At its own address, or on loopback behind TLS or the PROXY protocol. */
export const placeOf = (
  { hostname, port, tls }: Pick<PortOptions, "hostname" | "port" | "tls">,
  { proxies }: Pick<FrontDependencies, "proxies">,
): ListeningPlace =>
  tls === null && proxies === null ? { hostname, port } : { hostname: frontHost, port: 0, peers: new FrontedPeers() };

/** A port of a listener that may have TLS before it. */
interface FrontedPort {
  readonly options: PortOptions;
  /** Where the listener listens for it. */
  readonly innerPort: number;
}

/** What takes connections. */
export interface OpenPort {
  /**
   * Takes no more connections and lets requests in flight finish, at most for this long. Probes tell the end unless
   * another process serves in its place.
   */
  stop(deadlineMs: number, isReplaced?: boolean): Promise<void>;
}

interface FrontDependencies {
  readonly clock: Clock;
  readonly certificates: Certificates;
  readonly proxies: TrustedHeaders | null;
}

/** What stands before a listener: TLS, the PROXY protocol, or the one behind the other. */
type Front = TlsFront | ProxyFront;

async function frontsOf(
  { options, innerPort }: FrontedPort,
  peers: FrontedPeers,
  { clock, certificates, proxies }: FrontDependencies,
): Promise<Front[]> {
  const bounds = { connectionsMax: connectionsMaxDefault, ...options };
  if (options.tls === null) {
    return proxies === null ? [] : [await ProxyFront.open({ ...bounds, innerPort }, { ...proxies, clock, peers })];
  }
  const certificate = certificates.of(options.tls);
  if (proxies === null) return [await TlsFront.open({ ...bounds, innerPort }, { clock, certificate, peers })];
  const outerPeers = new FrontedPeers();
  const secured = await TlsFront.open(
    { ...bounds, hostname: frontHost, port: 0, sharesPort: false, innerPort },
    { clock, certificate, peers, outerPeers },
  );
  try {
    const outer = { ...bounds, innerPort: secured.port };
    return [await ProxyFront.open(outer, { ...proxies, clock, peers: outerPeers }), secured];
  } catch (error) {
    await secured[Symbol.asyncDispose]();
    throw error;
  }
}

/**
 * Opens the TLS and what reads the PROXY protocol before each port of a listener that listens at `place`. Rejects,
 * having closed the listener, with a ListenError or a CertificateFault.
 */
export async function openFronts(
  listener: OpenPort,
  { place, ports }: { readonly place: ListeningPlace; readonly ports: readonly FrontedPort[] },
  dependencies: FrontDependencies,
): Promise<OpenPort> {
  const { peers } = place;
  if (peers === undefined) return listener;
  const fronts: Front[] = [];
  const stop = async (deadlineMs: number, isReplaced?: boolean): Promise<void> => {
    for (const front of fronts) front.close();
    await listener.stop(deadlineMs, isReplaced);
    await Promise.all(fronts.map((front) => front[Symbol.asyncDispose]()));
  };
  try {
    for (const port of ports) fronts.push(...(await frontsOf(port, peers, dependencies)));
  } catch (error) {
    await stop(0);
    throw error;
  }
  return { stop };
}

/** Opens an endpoint of one port, behind TLS where it has a certificate. Rejects as `openFronts` does. */
export async function openPort(
  options: PortOptions,
  dependencies: FrontDependencies,
  listen: (place: ListeningPlace) => OpenPort & { readonly port: number | null },
): Promise<OpenPort> {
  const place = placeOf(options, dependencies);
  const listener = listening(options.endpoint, options.port, () => listen(place));
  return await openFronts(listener, { place, ports: [{ options, innerPort: listener.port ?? 0 }] }, dependencies);
}
