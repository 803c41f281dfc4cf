/** A program under measurement: it runs on one port in its own processes. */
export interface RunningSubject extends AsyncDisposable {
  readonly port: number;
  readonly path: string;
  /** Root of the process tree whose CPU is counted. */
  readonly pid: number;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Subject {
  readonly name: string;
  /** Null when the program is not installed; throws when it is and does not start. */
  readonly start: (place: Place) => Promise<RunningSubject | null>;
}

/** Where a subject finds its node and may put its files. */
export interface Place {
  readonly upstreamPort: number;
  /** The certificate (PEM) of who signed the node's, which is for `localhost`; left out, the node speaks plain HTTP. */
  readonly authorityFile?: string;
  readonly directory: string;
}

/** The node's URL. A certificate is for a name; a plain node is reached without a look-up. */
export const nodeUrl = ({ upstreamPort, authorityFile }: Pick<Place, "upstreamPort" | "authorityFile">): string =>
  authorityFile === undefined ? `http://127.0.0.1:${upstreamPort}` : `https://localhost:${upstreamPort}`;

/** The environment variables with which Sluice's programs trust the node. */
export const trustIn = ({ authorityFile }: Pick<Place, "authorityFile">): Record<string, string> =>
  authorityFile === undefined ? {} : { NODE_EXTRA_CA_CERTS: authorityFile };
