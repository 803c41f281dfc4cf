import { clickhouseForms, readClickhouseUrl } from "./clickhouse-url.ts";
import { logForms, readLogUrl } from "./log-url.ts";
import type { Parsed, Parser } from "./parsers.ts";
import { postgresForms, readPostgresUrl } from "./postgres-url.ts";
import { readRedisUrl, redisForms } from "./redis-url.ts";

/** A URL that its store's own reader takes; the text is kept as it was given, and that reader reads it again. */
function storeUrl(expects: string, read: (text: string) => Parsed<unknown>): Parser<string> {
  return {
    expects,
    parse: (text) => {
      const parsed = read(text.trim());
      return parsed.ok ? { ok: true, value: text.trim() } : parsed;
    },
  };
}

export const clickhouseUrl = storeUrl(clickhouseForms, readClickhouseUrl);
export const postgresUrl = storeUrl(postgresForms, readPostgresUrl);
export const logUrl = storeUrl(logForms, readLogUrl);
export const redisUrl = storeUrl(redisForms, readRedisUrl);

const prefixForms = "1 to 64 letters, digits and . _ : / -";

/** What keys of a shared store begin with. Braces would put all of them on one node of a cluster. */
export const keyPrefix: Parser<string> = {
  expects: prefixForms,
  parse: (text) =>
    /^[A-Za-z0-9._:/-]{1,64}$/.test(text.trim())
      ? { ok: true, value: text.trim() }
      : { ok: false, expected: prefixForms },
};
