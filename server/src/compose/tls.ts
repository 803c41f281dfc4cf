import type { Clock } from "@sluice/lib";
import type { CertificateFilePaths } from "../config/index.ts";
import {
  CertificateFiles,
  type CertificateSource,
  createCertificateEvents,
  FrontedPeers,
  frontHost,
  listening,
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

/** At its own address, or on loopback behind TLS. */
export const placeOf = ({ hostname, port, tls }: PortOptions): ListeningPlace =>
  tls === null ? { hostname, port } : { hostname: frontHost, port: 0, peers: new FrontedPeers() };

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
}

/**
 * Opens the TLS before each port of a listener that listens at `place`. Rejects, having closed the listener, with a
 * ListenError or a CertificateFault.
 */
export async function openFronts(
  listener: OpenPort,
  { place, ports }: { readonly place: ListeningPlace; readonly ports: readonly FrontedPort[] },
  { clock, certificates }: FrontDependencies,
): Promise<OpenPort> {
  const { peers } = place;
  if (peers === undefined) return listener;
  const fronts: TlsFront[] = [];
  const stop = async (deadlineMs: number, isReplaced?: boolean): Promise<void> => {
    for (const front of fronts) front.close();
    await listener.stop(deadlineMs, isReplaced);
    await Promise.all(fronts.map((front) => front[Symbol.asyncDispose]()));
  };
  try {
    for (const { options, innerPort } of ports) {
      if (options.tls === null) continue;
      const certificate = certificates.of(options.tls);
      const bounds = { connectionsMax: connectionsMaxDefault, ...options };
      fronts.push(await TlsFront.open({ ...bounds, innerPort }, { clock, certificate, peers }));
    }
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
  const place = placeOf(options);
  const listener = listening(options.endpoint, options.port, () => listen(place));
  return await openFronts(listener, { place, ports: [{ options, innerPort: listener.port ?? 0 }] }, dependencies);
}
