import { linesOf } from "./lines.ts";

/** Statements that may be answered, refused or stopped at a bound; the ledger goes on as before. */

/** Much work, memory or output for little text; each ends within half a second of its time. */
export const heavyStatements: readonly string[] = linesOf(`
  SELECT range(100000000)
  SELECT sum(cityHash64(a, b, c)) FROM (SELECT arrayJoin(range(3000)) AS a, arrayJoin(range(3000)) AS b, arrayJoin(range(3000)) AS c)
  SELECT count() FROM (SELECT arrayJoin(range(100000)) AS a) AS x CROSS JOIN (SELECT arrayJoin(range(100000)) AS b) AS y WHERE cityHash64(a, b) = 1
  SELECT groupArray(repeat('x', 1000000)) FROM (SELECT arrayJoin(range(100000)))
  SELECT repeat(repeat('x', 1000000), 1000000)
  SELECT leftPad('', 1000000000, 'x')
  SELECT space(1000000000)
  SELECT arrayJoin(range(1000000)), repeat('x', 1000)
  SELECT replaceRegexpAll(repeat('a', 1000000), '(a|aa)+', 'b')
  SELECT match(repeat('a', 1000000), '^(a+)+$')
  SELECT match(repeat('a', 1000000), '((((a*)*)*)*)*b')
  SELECT match('x', '(((a{1,100}){1,100}){1,100}){1,100}')
  SELECT arraySort(x -> cityHash64(x), range(10000000))
  SELECT arrayStringConcat(arrayMap(x -> toString(x), range(10000000)), ',')
  SELECT arrayDistinct(arrayMap(x -> x % 1000, range(10000000)))
  SELECT hasAll(range(5000000), arrayReverse(range(5000000)))
  SELECT arrayIntersect(range(5000000), range(5000000))
  SELECT countSubstrings(repeat('a', 1000000), 'a')
  SELECT uniqExact(a, b) FROM (SELECT arrayJoin(range(4000)) AS a, arrayJoin(range(4000)) AS b)
  SELECT a, count() FROM (SELECT arrayJoin(range(3000000)) AS a) GROUP BY a ORDER BY a
  SELECT x FROM (SELECT 1 AS x) ORDER BY x WITH FILL FROM 1 TO 1000000000000
  WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t) SELECT max(n) FROM t
  WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t, blocks) SELECT count() FROM t
  SELECT count() FROM blocks AS a, blocks AS b, blocks AS c, blocks AS d, blocks AS e, blocks AS f, blocks AS g, blocks AS h
  SELECT toFixedString('x', 16777215) FROM (SELECT arrayJoin(range(1000)))
  SELECT toDecimal256(1, 70) * toDecimal256(1, 70)
  SELECT pow(10, 400), exp10(400), 1 / 0, intDiv(1, 0)
  SELECT toUInt64(-1), 18446744073709551615 + 1, toInt64('99999999999999999999')
  SELECT sum(a) OVER (ORDER BY a) FROM (SELECT arrayJoin(range(2000000)) AS a)
  SELECT groupUniqArray(a) FROM (SELECT arrayJoin(range(8000000)) AS a)
  SELECT topK(65536)(a) FROM (SELECT arrayJoin(range(100000)) AS a)
  SELECT quantiles(0.1, 0.2)(a) FROM (SELECT arrayJoin(range(3000000)) AS a)
  SELECT JSONLength(concat(repeat('[', 100000), repeat(']', 100000)))
  SELECT base58Encode(repeat('x', 1000000))
  SELECT base58Decode(repeat('z', 1000000))
  SELECT translate(repeat('a', 1000000), 'a', 'b')
`);

/** The same, of which single steps take seconds: bounds are looked at between steps. */
export const slowStatements: readonly string[] = linesOf(`
  SELECT arrayMap(x -> arrayMap(y -> cityHash64(x, y), range(10000)), range(10000))
  SELECT extractAll(repeat('ab', 1000000), '(a|b)')
  SELECT groupConcat(',')(a) FROM (SELECT arrayJoin(range(10000000)) AS a)
  SELECT JSONExtractKeys(concat('{', arrayStringConcat(arrayMap(x -> concat('"', toString(x), '":1'), range(1000000)), ','), '}'))
  SELECT splitByString('a', repeat('a', 1000000))
  SELECT groupArrayMovingSum(1000000)(a) FROM (SELECT arrayJoin(range(1000000)) AS a)
  SELECT sumMap([a], [1]) FROM (SELECT arrayJoin(range(1000000)) AS a)
  SELECT arrayIntersect(range(1000000), range(1000000))
  SELECT arrayEnumerateUniq(range(1000000), range(1000000))
  SELECT arraySort(x -> cityHash64(x), range(1000000))
  SELECT base58Encode(repeat(toString(a), 2000)) FROM (SELECT arrayJoin(range(10000)) AS a)
`);
