/** A program under measurement: it runs on one port in processes of its own. */
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
  readonly directory: string;
}
