/**
 * The metrics of several processes as one text. Counters and histograms are summed over all processes that there were,
 * so that they never fall when one ends. A gauge says what is now in one process: each has its own series, with the
 * label `worker`.
 */

/** A process whose metrics are read. */
export interface MetricSource {
  /** What no other process of this host has: one life of a worker. */
  readonly life: number;
  /** Its value of the label `worker`. */
  readonly label: string;
  /** The Prometheus text format, without timestamps. */
  readonly text: string;
}

interface ReadFamily {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  /** By the series as it is written: name and labels. */
  readonly series: ReadonlyMap<string, number>;
}

const headForm = /^# (HELP|TYPE) (\S+) ?(.*)$/;

/** Reads the families of a text, in their order. A line that is none is passed over. */
export function readFamilies(text: string): ReadFamily[] {
  const families = new Map<string, { name: string; help: string; type: string; series: Map<string, number> }>();
  let current: { series: Map<string, number> } | null = null;
  for (const line of text.split("\n")) {
    const [, head, name = "", rest = ""] = headForm.exec(line) ?? [];
    if (head !== undefined) {
      const family = families.get(name) ?? { name, help: "", type: "untyped", series: new Map<string, number>() };
      families.set(name, family);
      if (head === "HELP") family.help = rest;
      else family.type = rest;
      current = family;
      continue;
    }
    const at = line.lastIndexOf(" ");
    if (at > 0 && current !== null) current.series.set(line.slice(0, at), numberOf(line.slice(at + 1)));
  }
  return [...families.values()];
}

const numberOf = (text: string): number =>
  text === "+Inf" ? Number.POSITIVE_INFINITY : text === "-Inf" ? Number.NEGATIVE_INFINITY : Number(text);

const textOf = (value: number): string =>
  value === Number.POSITIVE_INFINITY ? "+Inf" : value === Number.NEGATIVE_INFINITY ? "-Inf" : String(value);

const isSummed = (type: string): boolean => type === "counter" || type === "histogram";

/** A series with one more label before its own. */
function labelled(series: string, label: string): string {
  const brace = series.indexOf("{");
  const own = `worker="${label}"`;
  return brace < 0 ? `${series}{${own}}` : `${series.slice(0, brace)}{${own},${series.slice(brace + 1)}`;
}

type Sums = Map<string, number>;

function addTo(sums: Sums, series: ReadonlyMap<string, number>): void {
  for (const [name, value] of series) if (!Number.isNaN(value)) sums.set(name, (sums.get(name) ?? 0) + value);
}

/** What was counted by one family, in processes that have ended. */
interface Family {
  readonly help: string;
  readonly type: string;
  readonly ended: Sums;
}

export class MetricSums {
  readonly #families = new Map<string, Family>();
  /** What each living process said last. */
  readonly #last = new Map<number, readonly ReadFamily[]>();

  /** Takes what a process says now. */
  seen({ life, text }: Pick<MetricSource, "life" | "text">): void {
    const families = readFamilies(text);
    this.#last.set(life, families);
    for (const { name, help, type } of families) {
      if (!this.#families.has(name)) this.#families.set(name, { help, type, ended: new Map() });
    }
  }

  /** The process has ended: what it counted, as far as it was seen, is kept. */
  ended(life: number): void {
    for (const { name, type, series } of this.#last.get(life) ?? []) {
      const family = this.#families.get(name);
      if (family !== undefined && isSummed(type)) addTo(family.ended, series);
    }
    this.#last.delete(life);
  }

  /** The text over all processes: those that are given say what they are now. */
  render(sources: readonly MetricSource[]): string {
    for (const source of sources) this.seen(source);
    const lines: string[] = [];
    for (const [name, { help, type, ended }] of this.#families) {
      const series = isSummed(type) ? this.#summed(name, ended) : this.#gauges(name, sources);
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
      for (const [each, value] of series) lines.push(`${each} ${textOf(value)}`);
      lines.push("");
    }
    return `${lines.join("\n")}\n`;
  }

  #summed(name: string, ended: Sums): Sums {
    const sums: Sums = new Map();
    // Living processes first: their series are in order, which an ended one with fewer would break.
    for (const families of this.#last.values()) addTo(sums, seriesOf(families, name));
    addTo(sums, ended);
    return sums;
  }

  #gauges(name: string, sources: readonly MetricSource[]): Sums {
    const gauges: Sums = new Map();
    for (const { life, label } of sources) {
      for (const [series, value] of seriesOf(this.#last.get(life) ?? [], name)) {
        gauges.set(labelled(series, label), value);
      }
    }
    return gauges;
  }
}

const seriesOf = (families: readonly ReadFamily[], wanted: string): ReadonlyMap<string, number> =>
  families.find(({ name }) => name === wanted)?.series ?? new Map();
