import { linesOf } from "./lines.ts";

/** Statements that a customer may send and must gain nothing by: they are refused. */

/** Functions of tables that read or reach anything, or that make rows without end. */
const tableFunctions = linesOf(`
  file('/etc/passwd', 'LineAsString')
  file('../../etc/passwd')
  file('*.bin', 'RawBLOB')
  fileCluster('c', '/etc/passwd')
  url('http://127.0.0.1:8899/health', 'LineAsString')
  url('file:///etc/passwd', LineAsString)
  url('http://169.254.169.254/latest/meta-data/')
  urlCluster('c', 'http://localhost/')
  remote('127.0.0.1', sluice.requests)
  remote('127.0.0.1:9000', 'sluice', 'requests', 'default', '')
  remoteSecure('localhost', system.one)
  cluster('default', sluice.requests)
  clusterAllReplicas('default', system.processes)
  s3('http://localhost/x', 'CSV')
  s3Cluster('c', 'http://localhost/x')
  gcs('http://localhost/x')
  hdfs('hdfs://localhost:9000/x', 'TSV', 'a String')
  azureBlobStorage('http://localhost/x', 'c', 'b')
  mysql('localhost:3306', 'd', 't', 'u', 'p')
  postgresql('127.0.0.1:5432', 'test', 'accounts', 'postgres', '')
  mongodb('localhost:27017', 'd', 'c', 'u', 'p', 'a String')
  redis('localhost:6379', 'key', 'key String, value String')
  sqlite('/var/lib/sluice/state.sqlite', 'accounts')
  odbc('DSN=x', 'd', 't')
  jdbc('jdbc:x', 'd', 't')
  executable('id', TabSeparated, 'a String')
  input('a String')
  merge('sluice', '.*')
  merge('.*', '.*')
  merge(REGEXP('sl.*'), 'requests')
  numbers(1000000000000000000)
  numbers_mt(1e18)
  zeros(1e18)
  generateRandom('a UInt64', 1, 10, 2)
  generateSeries(0, 1000000000000)
  generate_series(0, 10)
  view(SELECT * FROM sluice.requests)
  viewIfPermitted(SELECT 1 ELSE null('a UInt8'))
  values('a UInt8', 1, 2)
  null('a UInt8')
  dictionary('d')
  loop(blocks)
  loop('sluice', 'requests')
  fuzzJSON('a', random_seed=1)
  fuzzQuery('SELECT 1')
  mergeTreeIndex('sluice', 'requests')
  mergeTreeProjection('sluice', 'requests', 'p')
  mergeTreeAnalyzeIndexes('sluice', 'requests')
  iceberg('http://localhost/x')
  deltaLake('http://localhost/x')
  hudi('http://localhost/x')
  paimon('http://localhost/x')
  arrowFlight('localhost:1', 'd')
  ytsaurus('http://localhost', '//t', 't', 'a String')
  format(JSONEachRow, '{"a":1}')
  timeSeriesData('sluice', 't')
  prometheusQuery('a', 'b', 1)
  python('x')
  Python(x)
  system.numbers
  system.one
  system.zeros
  system.processes
  system.tables
  system.settings
  system.users
  system.roles
  system.grants
  system.query_log
  system.disks
  system.parts
  system.build_options
  system.environment
  information_schema.tables
  INFORMATION_SCHEMA.COLUMNS
  sluice.requests
  sluice.bundle_outcomes
  sluice.identity
  sluice.migrations
  sluice.transactions
  sluice_views.blocks
  default.t
  requests
  bundle_outcomes
  oracle_ticks
  migrations
  identity
  dropped_blocks
  held_ranges
  token_movements
  \`sluice\`.\`requests\`
  \`sluice.requests\`
  "sluice"."requests"
`);

/** Calls of functions that read what is none of theirs, wait, or run what is given to them as text. */
const calls = linesOf(`
  file('/etc/passwd')
  FILE('/etc/passwd')
  file('/proc/self/environ')
  sleep(3)
  sleepEachRow(1)
  SLEEP(1)
  getSetting('log_comment')
  getSettingOrDefault('x', '')
  getServerSetting('x')
  getServerPort('tcp_port')
  getMacro('shard')
  getMergeTreeSetting('x')
  getClientHTTPHeader('x-api-key')
  getOSKernelVersion()
  globalVariable('version')
  hostName()
  hostname()
  fullHostName()
  FQDN()
  tcpPort()
  uptime()
  version()
  buildId()
  revision()
  serverUUID()
  serverTimezone()
  displayName()
  currentUser()
  user()
  current_user()
  authenticatedUser()
  currentDatabase()
  database()
  schema()
  currentRoles()
  enabledRoles()
  defaultRoles()
  currentProfiles()
  currentSchemas(true)
  queryID()
  query_id()
  initialQueryID()
  connection_id()
  dictGet('d', 'a', 1)
  dictGetString('d', 'a', 1)
  dictGetOrDefault('d', 'a', 1, 2)
  dictHas('d', 1)
  dictIsIn('d', 1, 2)
  joinGet('sluice.t', 'a', 1)
  joinGetOrNull('sluice.t', 'a', 1)
  hasColumnInTable('sluice', 'requests', 'account_id')
  hasColumnInTable('127.0.0.1', 'sluice', 'requests', 'key_id')
  catboostEvaluate('/x', 1)
  evalMLMethod(1, 2)
  naiveBayesClassifier('m', 'x')
  aiGenerate('x', 'y')
  filesystemAvailable()
  filesystemCapacity()
  filesystemUnreserved()
  transactionID()
  zookeeperSessionUptime()
  showCertificate()
  logTrace('x')
  throwIf(1)
  addressToLine(1)
  addressToSymbol(1)
  demangle('x')
  tid()
  formatQuery('SELECT 1')
  formatQuerySingleLine('SELECT 1')
  normalizeQuery('SELECT 1')
  formatRow('CSV', 1)
  formatRowNoNewline('RawBLOB', 1)
  arrayReduce('sum', [1, 2])
  arrayReduce('uniqState', [1])
  arrayReduceInRanges('sum', [(1, 2)], [1, 2])
  initializeAggregation('sumState', 1)
  finalizeAggregation(sumState(1))
  runningAccumulate(sumState(1))
  sumState(1)
  sumMerge(sumState(1))
  uniqState(1)
  quantileStateIf(1, 1)
  sumSimpleState(1)
  groupBitmapState(1)
  defaultValueOfTypeName('AggregateFunction(sum, UInt64)')
  CAST('x', 'AggregateFunction(uniq, UInt64)')
  CAST(unhex('00'), concat('Aggregate', 'Function(sum, UInt64)'))
  JSONExtract('{}', 'a', concat('Str', 'ing'))
  reinterpret('x', 'AggregateFunction(sum, UInt64)')
  randomString(1000000000)
  randomPrintableASCII(100)
  fuzzBits('x', 0.1)
  generateUUIDv4()
  rand()
  rand64()
  rowNumberInAllBlocks()
  blockNumber()
  encrypt('aes-128-ecb', 'x', '0123456789012345')
  decrypt('aes-128-ecb', 'x', '0123456789012345')
  editDistance(repeat('a', 1000000), repeat('b', 1000000))
  damerauLevenshteinDistance('a', 'b')
  ngramDistance('a', 'b')
  multiMatchAny('x', ['(a*)*'])
  multiFuzzyMatchAny('x', 2, ['a'])
  arrayFold((acc, x) -> acc + x, range(10), toInt64(0))
  arrayWithConstant(1000000000, 1)
  replicate(1, range(1000))
  h3ToGeo(1)
  geohashEncode(1, 2)
  lowCardinalityKeys('x')
  getSubcolumn(tuple(1), 'size')
  dumpColumnStructure(1)
  toColumnTypeName(1)
  blockSerializedSize(1)
  ignore(1)
  indexHint(1)
  identity(file('/etc/passwd'))
  if(1, file('/etc/passwd'), '')
  arrayMap(x -> file('/etc/passwd'), [1])
  arrayMap(x -> sleep(x), [3])
  coalesce(NULL, hostName())
  concat('a', version())
`);

/** Whole statements that are none, or more than, one SELECT over the views. */
const statements = linesOf(`
  SELECT 1; SELECT 2
  SELECT 1;;SELECT 2
  SELECT 1; SET ROLE sluice_server
  SELECT 1; DROP TABLE sluice.requests
  SELECT 1 ; -- harmless \\n DROP TABLE sluice.requests
  SET ROLE sluice_server
  SET ROLE ALL
  SET ROLE NONE
  SET DEFAULT ROLE ALL TO default
  SET readonly = 0
  SET log_comment = 'a b c'
  SET max_execution_time = 0
  USE sluice
  USE system
  KILL QUERY WHERE 1
  KILL QUERY WHERE 1 SYNC
  KILL MUTATION WHERE 1
  SYSTEM SHUTDOWN
  SYSTEM KILL
  SYSTEM RELOAD CONFIG
  SYSTEM FLUSH LOGS
  SYSTEM STOP MERGES
  SYSTEM DROP MARK CACHE
  SYSTEM RESTART DISK d
  DROP TABLE sluice.requests
  DROP VIEW blocks
  DROP DATABASE sluice
  DROP DATABASE IF EXISTS sluice SYNC
  TRUNCATE TABLE sluice.requests
  DETACH TABLE sluice.requests
  ATTACH TABLE sluice.x (a Int8) ENGINE = Memory
  RENAME TABLE sluice.requests TO sluice.gone
  EXCHANGE TABLES sluice.requests AND sluice.blocks
  ALTER TABLE sluice.requests DELETE WHERE 1
  ALTER TABLE sluice.requests UPDATE credits = 0 WHERE 1
  ALTER TABLE sluice.requests FREEZE
  ALTER TABLE sluice.requests DROP PARTITION ID 'all'
  OPTIMIZE TABLE sluice.requests FINAL
  CHECK TABLE sluice.requests
  CREATE TABLE x (a Int8) ENGINE = Memory
  CREATE TABLE x ENGINE = File(CSV, '/tmp/x') AS SELECT 1
  CREATE TABLE x AS SELECT * FROM blocks
  CREATE TEMPORARY TABLE x AS SELECT 1
  CREATE VIEW v AS SELECT * FROM sluice.requests
  CREATE MATERIALIZED VIEW v ENGINE = Memory AS SELECT 1
  CREATE LIVE VIEW v AS SELECT 1
  CREATE FUNCTION f AS (x) -> file('/etc/passwd')
  CREATE DICTIONARY d (a UInt64) PRIMARY KEY a SOURCE(FILE(path '/etc/passwd' format 'CSV')) LAYOUT(FLAT()) LIFETIME(1)
  CREATE DATABASE d
  CREATE DATABASE d ENGINE = PostgreSQL('127.0.0.1:5432', 'test', 'postgres', '')
  CREATE USER u
  CREATE ROLE r
  CREATE ROW POLICY p ON sluice.requests USING 1 TO ALL
  CREATE QUOTA q TO ALL
  CREATE NAMED COLLECTION c AS a = 1
  CREATE WORKLOAD w
  ALTER USER default IDENTIFIED BY 'x'
  GRANT ALL ON *.* TO default
  REVOKE ALL ON *.* FROM sluice_customer
  EXECUTE AS default SELECT 1
  INSERT INTO sluice.requests SELECT 1
  INSERT INTO blocks VALUES (1)
  INSERT INTO FUNCTION file('/tmp/x', 'CSV', 'a Int8') SELECT 1
  INSERT INTO FUNCTION url('http://127.0.0.1/', 'CSV', 'a Int8') SELECT 1
  INSERT INTO t FROM INFILE '/etc/passwd' FORMAT CSV
  DELETE FROM sluice.requests WHERE 1
  UPDATE sluice.requests SET credits = 0 WHERE 1
  SELECT 1 INTO OUTFILE '/tmp/hostile'
  SELECT 1 into outfile '/tmp/hostile'
  SELECT 1 INTO OUTFILE '/tmp/hostile' TRUNCATE FORMAT CSV
  SELECT 1 INTO OUTFILE '/tmp/hostile' AND STDOUT
  SELECT 1/**/INTO/**/OUTFILE/**/'/tmp/hostile'
  SELECT 1 UNION ALL SELECT 2 INTO OUTFILE '/tmp/hostile'
  SELECT 1 INTERSECT SELECT 1 INTO OUTFILE '/tmp/hostile'
  SELECT 1 FORMAT CSV
  SELECT 1 FORMAT Null
  SELECT 1 FORMAT Vertical SETTINGS readonly = 0
  SELECT 1 SETTINGS readonly = 0
  SELECT 1 SETTINGS max_execution_time = 0
  SELECT 1 SETTINGS log_comment = 'x acct_two devnet'
  SELECT 1 SETTINGS additional_table_filters = {}
  SELECT * FROM (SELECT 1 SETTINGS log_comment = 'x acct_two devnet')
  SELECT * FROM (SELECT * FROM my_requests SETTINGS log_comment = 'x acct_two devnet')
  SELECT 1 UNION ALL (SELECT 2 SETTINGS readonly = 2)
  EXPLAIN SELECT 1
  EXPLAIN AST SELECT 1
  EXPLAIN SYNTAX SELECT 1
  EXPLAIN QUERY TREE SELECT file('/etc/passwd')
  EXPLAIN PLAN SELECT * FROM blocks
  EXPLAIN PIPELINE SELECT * FROM blocks
  EXPLAIN ESTIMATE SELECT * FROM blocks
  EXPLAIN TABLE OVERRIDE mysql('a', 'b', 'c', 'd', 'e') PARTITION BY 1
  SELECT * FROM (EXPLAIN SELECT 1)
  SELECT * FROM (SHOW TABLES)
  SELECT * FROM (DESCRIBE TABLE sluice.requests)
  SHOW TABLES
  SHOW DATABASES
  SHOW PROCESSLIST
  SHOW GRANTS
  SHOW SETTINGS LIKE '%'
  SHOW CREATE TABLE sluice.requests
  SHOW CREATE VIEW blocks
  SHOW COLUMNS FROM sluice.requests
  SHOW ACCESS
  SHOW USERS
  SHOW FUNCTIONS
  DESCRIBE TABLE blocks
  DESC sluice.requests
  DESCRIBE file('/etc/passwd')
  EXISTS TABLE sluice.requests
  WATCH v
  BACKUP TABLE sluice.requests TO File('/tmp/b')
  RESTORE TABLE sluice.requests FROM File('/tmp/b')
  BEGIN TRANSACTION
  COMMIT
  ROLLBACK
  SELECT 1 PARALLEL WITH SELECT 2
  DROP TABLE a PARALLEL WITH DROP TABLE b
  PREPARE x FROM 'SELECT 1'
  VALUES (1)
  FROM sluice.requests SELECT *
  FROM file('/etc/passwd') SELECT *
  (SELECT 1) INTO OUTFILE '/tmp/hostile'
  WITH t AS (SELECT * FROM sluice.requests) SELECT * FROM t
  WITH \`sluice.requests\` AS (SELECT 1) SELECT * FROM sluice.requests
  WITH \`system.processes\` AS (SELECT 1) SELECT * FROM system.processes
  WITH requests AS (SELECT 1 AS a), b AS (SELECT * FROM sluice.requests) SELECT * FROM b
  WITH 1 AS sluice SELECT * FROM sluice.requests
  SELECT 1 AS \`system.tables\`, 'a' IN system.tables
  SELECT 1 IN sluice.requests
  SELECT 1 IN system.processes
  SELECT 1 IN requests
  SELECT 1 IN (SELECT 1 FROM sluice.requests)
  SELECT 1 GLOBAL IN (SELECT status FROM sluice.requests)
  SELECT 1 NOT IN numbers(10)
  SELECT 1 IN file('/etc/passwd')
  SELECT (SELECT count() FROM sluice.requests)
  SELECT EXISTS (SELECT 1 FROM sluice.requests)
  SELECT * FROM blocks WHERE slot = (SELECT max(status) FROM sluice.requests)
  SELECT * FROM blocks JOIN sluice.requests ON 1
  SELECT * FROM blocks LEFT JOIN system.one ON 1
  SELECT * FROM blocks ASOF JOIN requests USING (slot)
  SELECT * FROM blocks PASTE JOIN numbers(10)
  SELECT * FROM blocks, system.tables
  SELECT * FROM blocks UNION ALL SELECT * FROM sluice.blocks
  SELECT * FROM blocks EXCEPT SELECT * FROM sluice.blocks
  SELECT * FROM blocks INTERSECT SELECT * FROM sluice.blocks
  SELECT * FROM blocks SAMPLE 0.1
  SELECT * APPLY(file) FROM blocks
  SELECT * APPLY(x -> file(x)) FROM blocks
  SELECT COLUMNS('.*') APPLY(sleep) FROM blocks
  SELECT count() FROM blocks HAVING sleep(3)
  SELECT count() FROM blocks GROUP BY hostName()
  SELECT * FROM blocks ORDER BY sleep(1)
  SELECT * FROM blocks LIMIT 1 BY sleep(1)
  SELECT * FROM blocks LIMIT sleep(1)
  SELECT * FROM blocks PREWHERE sleep(1) = 0
  SELECT * FROM blocks QUALIFY sleep(1) = 0
  SELECT sum(1) OVER (PARTITION BY sleep(1)) FROM blocks
  SELECT sum(1) FILTER (WHERE sleep(1) = 0) FROM blocks
  SELECT * FROM blocks ARRAY JOIN [sleep(1)] AS x
  SELECT * REPLACE (file('/etc/passwd') AS leader) FROM blocks
  SELECT 1 AS x ORDER BY x WITH FILL FROM sleep(1) TO 2
  SELECT x FROM (SELECT 1 AS x) ORDER BY x INTERPOLATE (x AS sleep(1))
  SELECT $$x$$; SELECT 2
  SELECT 'x' -- ' ; SELECT 2 \\n ; SELECT 3
  SELECT /* ; */ 1 ; SELECT 2
  SELECT 1 # comment \\n ; SELECT 2
  SELECT * FROM blocks AS sluice WHERE sluice.requests = 1
  SELECT {t:Identifier}
  SELECT * FROM {t:Identifier}
  SELECT {x:AggregateFunction(sum, UInt64)}
  SELECT \`a\\nb\` FROM blocks
  SELECT 1 AS \`a\\nFunction file\`
  SELECT 1 AS "x') FROM sluice.requests --"
  SELECT ‘x
  ＳＥＬＥＣＴ 1
  SELECT 1 ；SELECT 2
  ЅELECT 1
  SELECT 1\u2028;SELECT 2
  SELECT\u00a0file('/etc/passwd')
  SELECT ﬁle('/etc/passwd')
  '
  "
  \`
  /*
  --
  (
  SELECT
  SELECT FROM
  SELECT * FROM
  SELECT ((((
  SELECT 'unclosed
  SELECT "unclosed
  SELECT 1 1 1
  ;
`);

const text = (line: string): string => line.replaceAll("\\n", "\n");

/** Refused, each for itself, whatever the tables hold. */
export const hostileStatements: readonly string[] = [
  ...tableFunctions.map((source) => `SELECT * FROM ${source}`),
  ...calls.map((call) => `SELECT ${call}`),
  ...statements.map(text),
  `SELECT ${"(".repeat(5_000)}1${")".repeat(5_000)}`,
  `SELECT ${"1 + ".repeat(5_000)}1`,
  `SELECT ${"-".repeat(3_000)}1`,
  `SELECT ${"[".repeat(2_000)}${"]".repeat(2_000)}`,
  `${"SELECT * FROM (".repeat(500)}SELECT 1${")".repeat(500)}`,
  `${"SELECT 1 UNION ALL ".repeat(3_000)}SELECT 1`,
  `SELECT ${"CASE WHEN 1 THEN ".repeat(1_000)}1${" END".repeat(1_000)}`,
];
