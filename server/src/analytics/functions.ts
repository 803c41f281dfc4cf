/**
 * The functions that a statement of a customer may call: those that compute a value from their arguments, within
 * memory and time that grow with them. Absent are those that read anything else (files, tables, dictionaries,
 * settings, the server's state), that take the name of a function or a format as text, that wait, that make random
 * data, that build or read states of aggregates, and those whose time grows with the product of two arguments: maps are
 * searched from end to end for each key.
 */

const words = (text: string): readonly string[] => text.split(/\s+/).filter((word) => word !== "");

const scalars = words(`
  abs and assumeNotNull bar bin bitAnd bitCount bitNot bitOr bitShiftLeft bitShiftRight bitTest bitXor
  caseWithExpr caseWithExpression caseWithoutExpr caseWithoutExpression CAST _CAST ceil ceiling clamp coalesce
  divide divideDecimal divideOrNull equals exp exp10 exp2 floor gcd greater greaterOrEquals greatest hex identity if
  ifNotFinite ifNull intDiv intDivOrNull intDivOrZero isDistinctFrom isFinite isInfinite isNaN isNotDistinctFrom
  isNotNull isNull isZeroOrNull lcm least less lessOrEquals ln log log10 log1p log2 materialize max2 min2 minus mod
  modulo moduloOrNull moduloOrZero multiIf multiply multiplyDecimal negate not notEquals nullIf or pi plus positiveModulo
  pow power round roundBankers roundDown roundToExp2 sign sigmoid sqrt cbrt erf tanh sin cos tan asin acos atan atan2
  degrees radians hypot sinh cosh toTypeName transform trunc truncate unbin unhex width_bucket widthBucket xor

  in notIn nullIn notNullIn globalIn globalNotIn globalNullIn globalNotNullIn exists lambda grouping

  array arrayAll arrayAvg arrayCompact arrayConcat arrayCount arrayCumSum arrayDifference arrayDistinct arrayElement
  arrayElementOrNull arrayEnumerate arrayEnumerateUniq arrayExists arrayFilter arrayFirst arrayFirstIndex
  arrayFirstOrNull arrayFlatten arrayIntersect arrayJoin arrayLast arrayLastIndex arrayLastOrNull arrayMap arrayMax
  arrayMin arrayPopBack arrayPopFront arrayProduct arrayPushBack arrayPushFront arrayReverse arrayReverseSort arraySlice
  arraySort arrayStringConcat arraySum arrayUniq arrayZip countEqual empty emptyArrayString emptyArrayUInt64 flatten has
  indexOf length notEmpty range

  tuple tupleElement

  base58Decode base58Encode base64Decode base64Encode tryBase58Decode tryBase64Decode char_length character_length
  concat concat_ws concatWithSeparator countSubstrings countSubstringsCaseInsensitive
  endsWith extract extractAll extractGroups format formatReadableDecimalSize formatReadableQuantity formatReadableSize
  formatReadableTimeDelta ilike initcap instr lcase left leftPad leftUTF8 lengthUTF8 like lower lowerUTF8 lpad
  ltrim match mid notILike notLike octet_length position positionCaseInsensitive positionUTF8 regexpExtract
  regexp_extract regexpQuoteMeta repeat replace replaceAll replaceOne replaceRegexpAll replaceRegexpOne reverse
  reverseUTF8 right rightPad rightUTF8 rpad rtrim space splitByChar splitByNonAlpha splitByString splitByWhitespace
  startsWith substr substring substringIndex substringUTF8 toValidUTF8 translate trim trimBoth trimLeft trimRight ucase
  upper upperUTF8

  cityHash64 farmHash64 halfMD5 MD5 murmurHash3_64 SHA1 SHA256 sipHash64 xxHash64 reinterpretAsUInt64
  reinterpretAsString byteSwap

  isValidJSON JSONArrayLength JSON_ARRAY_LENGTH JSONExtract JSONExtractArrayRaw JSONExtractBool JSONExtractFloat
  JSONExtractInt JSONExtractKeys JSONExtractKeysAndValuesRaw JSONExtractRaw JSONExtractString JSONExtractUInt JSONHas
  JSONKey JSONLength JSONType JSON_EXISTS JSON_QUERY JSON_VALUE simpleJSONExtractBool simpleJSONExtractFloat
  simpleJSONExtractInt simpleJSONExtractRaw simpleJSONExtractString simpleJSONExtractUInt simpleJSONHas toJSONString

  toBool toDate toDate32 toDateOrNull toDateTime toDateTime32 toDateTime64 toDateTime64OrNull toDateTimeOrNull
  toDecimal128 toDecimal32 toDecimal64 toDecimal128OrNull toDecimal256 toDecimal64OrNull toDecimalString toFixedString
  toFloat32 toFloat64 toFloat64OrNull toFloat64OrZero toInt128 toInt16 toInt256 toInt32 toInt64 toInt64OrNull
  toInt64OrZero toInt8 toLowCardinality toNullable toString toUInt128 toUInt16 toUInt256 toUInt32 toUInt64
  toUInt64OrNull toUInt64OrZero toUInt8

  addDays addHours addMinutes addMonths addQuarters addSeconds addWeeks addYears age curdate current_date date date_diff
  date_format date_trunc dateDiff dateName dateTrunc day dayofmonth dayofweek dayofyear formatDateTime from_unixtime
  fromUnixTimestamp fromUnixTimestamp64Milli hour last_day makeDate makeDateTime minute month monthName now now64
  parseDateTime parseDateTime64BestEffort parseDateTimeBestEffort parseDateTimeBestEffortOrNull quarter second subtractDays
  subtractHours subtractMinutes subtractMonths subtractQuarters subtractSeconds subtractWeeks subtractYears timeSlot
  timestamp_diff timestampDiff toDayOfMonth toDayOfWeek toDayOfYear toHour toISOWeek toISOYear toIntervalDay
  toIntervalHour toIntervalMillisecond toIntervalMinute toIntervalMonth toIntervalQuarter toIntervalSecond
  toIntervalWeek toIntervalYear toLastDayOfMonth toMinute toMonday toMonth toQuarter toRelativeDayNum toRelativeHourNum
  toSecond toStartOfDay toStartOfFifteenMinutes toStartOfFiveMinute toStartOfFiveMinutes toStartOfHour
  toStartOfInterval toStartOfMinute toStartOfMonth toStartOfQuarter toStartOfSecond toStartOfTenMinutes toStartOfWeek
  toStartOfYear toTimeZone toUnixTimestamp toUnixTimestamp64Milli toWeek toYear toYearWeek toYYYYMM toYYYYMMDD
  toYYYYMMDDhhmmss today week year yesterday addInterval subtractInterval toMillisecond
`);

const aggregates = words(`
  any anyHeavy anyLast any_value argMax argMin avg avgWeighted contingency corr corrStable count covarPop covarSamp
  cramersV deltaSum deltaSumTimestamp entropy exponentialMovingAverage first_value groupArray groupArrayLast
  groupArrayMovingAvg groupArrayMovingSum groupArraySorted groupBitAnd groupBitOr groupBitXor groupConcat groupUniqArray
  histogram kurtPop kurtSamp last_value max median medianExact medianTDigest min quantile quantileDeterministic quantileExact
  quantileExactHigh quantileExactLow quantileTDigest quantileTiming quantiles quantilesExact quantilesTDigest skewPop
  skewSamp simpleLinearRegression stddevPop stddevPopStable stddevSamp stddevSampStable sum sumCount sumKahan sumMap
  sumWithOverflow topK topKWeighted uniq uniqCombined uniqCombined64 uniqExact uniqHLL12 uniqTheta varPop varSamp
  array_agg bool_and bool_or stddev_pop stddev_samp var_pop var_samp std stddev variance string_agg group_concat

  cume_dist dense_rank denseRank lag lagInFrame lead leadInFrame nth_value ntile percent_rank percentRank rank
  row_number
`);

/** Endings by which an aggregate becomes another one. Not those that make or take its states. */
const combinators = words("If Array Distinct OrNull OrDefault ForEach ArgMin ArgMax");

const lowerCase = (list: readonly string[]): ReadonlySet<string> => new Set(list.map((name) => name.toLowerCase()));
const scalarNames = lowerCase(scalars);
const aggregateNames = lowerCase(aggregates);
const endings = combinators.map((ending) => ending.toLowerCase());

/** Whether a statement may call the function of this name; the engine takes some names in any letter case. */
export function isAllowedFunction(name: string): boolean {
  const lower = name.toLowerCase();
  return scalarNames.has(lower) || isAggregate(lower);
}

/** Few endings follow one another in what people write; the bound keeps the search short. */
const endingsMax = 4;

function isAggregate(name: string, depth = 0): boolean {
  if (aggregateNames.has(name)) return true;
  if (depth >= endingsMax) return false;
  return endings.some((ending) => name.endsWith(ending) && isAggregate(name.slice(0, -ending.length), depth + 1));
}

/** The names as they are shown. */
export const allowedFunctions: readonly string[] = [...scalars, ...aggregates]
  .filter((name) => !name.startsWith("_") && !name.startsWith("case"))
  .toSorted((one, other) => one.localeCompare(other, "en", { sensitivity: "base" }));

/** Functions whose last argument is the name of a type, which must stand in the text. */
export const typedFunctions: ReadonlySet<string> = lowerCase(["CAST", "_CAST", "JSONExtract"]);

/**
 * Functions that look for a text in another one, whose time may grow with the product of both, and the place of what
 * they look for among their arguments: it must stand in the query and be short.
 */
export const searchFunctions: ReadonlyMap<string, number> = new Map<string, number>([
  ...words(`position positionCaseInsensitive positionUTF8 instr countSubstrings countSubstringsCaseInsensitive like ilike
    notLike notILike match replace replaceAll replaceOne replaceRegexpAll replaceRegexpOne extract extractAll
    extractGroups regexpExtract regexp_extract substringIndex translate`).map(
    (name) => [name.toLowerCase(), 1] as const,
  ),
  ["splitbystring", 0],
]);

/**
 * Functions that go through a list, their first argument, for each row. A list that the statement makes itself may have
 * millions of items and stands in memory once, so that neither bound of a query holds: it has to be a column of a view,
 * or written out.
 */
export const listFunctions: ReadonlySet<string> = lowerCase(words("has indexOf countEqual"));

/** Functions whose second argument may be the name of a table. */
export const membershipFunctions: ReadonlySet<string> = lowerCase(
  words("in notIn nullIn notNullIn globalIn globalNotIn globalNullIn globalNotNullIn"),
);
