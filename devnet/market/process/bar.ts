/** Columns of a minute: what its trades amount to. Amounts in quote are price units times size units. */
const columnCount = 9;

/**
 * What the trades of a stretch of time amount to. Prices, sizes and amounts are whole numbers of the market's units.
 */
export class Bar {
  count = 0;
  open = 0;
  high = 0;
  low = 0;
  close = 0;
  base = 0;
  quote = 0n;
  /** Those in which the buyer took. */
  buyBase = 0;
  buyQuote = 0n;

  /** Takes in what comes next in time. */
  join(next: Bar): void {
    if (next.count === 0) return;
    if (this.count === 0) {
      this.open = next.open;
      this.high = next.high;
      this.low = next.low;
    } else {
      if (next.high > this.high) this.high = next.high;
      if (next.low < this.low) this.low = next.low;
    }
    this.close = next.close;
    this.count += next.count;
    this.base += next.base;
    this.quote += next.quote;
    this.buyBase += next.buyBase;
    this.buyQuote += next.buyQuote;
  }
}

/** The minutes of an hour as they were filled in, and the whole of it once all are. */
export class HourBars {
  readonly #columns = new Float64Array(60 * columnCount);
  readonly #known = new Uint8Array(60);
  #whole: Bar | null = null;

  /** Joins minutes `from` to `to`, exclusive, to a bar; `fill` makes what is not known yet. */
  joinTo(bar: Bar, from: number, to: number, fill: (minute: number) => Bar): void {
    if (from === 0 && to === 60) {
      if (this.#whole === null) {
        this.#whole = new Bar();
        for (let minute = 0; minute < 60; minute += 1) this.#whole.join(this.#minute(minute, fill));
      }
      bar.join(this.#whole);
      return;
    }
    for (let minute = from; minute < to; minute += 1) bar.join(this.#minute(minute, fill));
  }

  #minute(minute: number, fill: (minute: number) => Bar): Bar {
    const at = minute * columnCount;
    const columns = this.#columns;
    if (this.#known[minute] === 1) {
      const bar = new Bar();
      bar.count = columns[at] ?? 0;
      if (bar.count === 0) return bar;
      bar.open = columns[at + 1] ?? 0;
      bar.high = columns[at + 2] ?? 0;
      bar.low = columns[at + 3] ?? 0;
      bar.close = columns[at + 4] ?? 0;
      bar.base = columns[at + 5] ?? 0;
      bar.quote = BigInt(columns[at + 6] ?? 0);
      bar.buyBase = columns[at + 7] ?? 0;
      bar.buyQuote = BigInt(columns[at + 8] ?? 0);
      return bar;
    }
    const bar = fill(minute);
    // A minute's amounts keep below 2^53: the table of listings sees to it.
    const row = [bar.count, bar.open, bar.high, bar.low, bar.close, bar.base, Number(bar.quote), bar.buyBase];
    columns.set(row, at);
    columns[at + 8] = Number(bar.buyQuote);
    this.#known[minute] = 1;
    return bar;
  }
}
