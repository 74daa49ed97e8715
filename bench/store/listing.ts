import { createHash } from "node:crypto";
import { ms, percentile, table } from "@/bench/table.ts";
import { residentBytes, usedBy } from "@/bench/process_figures.ts";
import { elements, elementText, S3Wire, textOf } from "@/bench/wire/s3_wire.ts";
import { seededRandom } from "@/embedded/archive/catalogue.ts";
import { openIndexForWriting } from "@/embedded/store/index.ts";
import { type MeasuredServer, SAMPLE_BUCKET, startEmbedded } from "./servers.ts";

const KEYS = 1_000_000;
const KEYS_OF_PREFIX = 10;
const PAGES = 400;
const WARM_PAGES = 40;

/** Pages of 1000 out of a million keys, and of 1000 out of a hundred thousand common prefixes. */
export async function measureListings(): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "stackroom-bench-" });
  let server: MeasuredServer | null = null;
  try {
    await (await startEmbedded(folder)).stop();
    fill(folder);
    server = await startEmbedded(folder);
    const rows = [["pages of 1000, 1,000,000 keys", "p50", "p99", "max", "CPU a page", "RSS at first", "RSS growth"]];
    const kinds: [string, Record<string, string>][] = [
      ["keys", {}],
      ["keys, anywhere", {}],
      ["100,000 common prefixes", { delimiter: "/" }],
      ["prefixes, anywhere", { delimiter: "/" }],
    ];
    for (const [name, query] of kinds) {
      rows.push([name, ...await measurePages(server, query, name.endsWith("anywhere"))]);
    }
    return table(rows);
  } finally {
    await server?.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

async function measurePages(
  server: MeasuredServer,
  query: Record<string, string>,
  anywhere: boolean,
): Promise<string[]> {
  const wire = new S3Wire(server);
  const random = seededRandom("pages");
  let token = "";
  const page = async () => {
    const from: Record<string, string> = anywhere
      ? { "start-after": keyOf(Math.floor(random() * KEYS * 0.9)) }
      : token
      ? { "continuation-token": token }
      : {};
    const asked = { "list-type": "2", "max-keys": "1000", prefix: "tree/", ...query, ...from };
    const start = performance.now();
    const answer = await wire.succeed({ method: "GET", bucket: server.bucket, query: Object.entries(asked) });
    const duration = performance.now() - start;
    const text = textOf(answer);
    token = elementText(text, "NextContinuationToken");
    const isLast = token === "";
    if (!isLast && elements(text, "KeyCount")[0] !== "1000") throw new Error("a page is not of 1000 entries");
    return duration;
  };
  for (let n = 0; n < WARM_PAGES; n++) await page();
  const rss = residentBytes(server.pid ?? 0);
  const { result, used } = await usedBy(server.pid, async () => {
    const durations: number[] = [];
    while (durations.length < PAGES) durations.push(await page());
    return durations;
  });
  wire.close();
  return [
    ms(percentile(result, 0.5)),
    ms(percentile(result, 0.99)),
    ms(Math.max(...result)),
    ms((used?.cpuSeconds ?? NaN) * 1000 / PAGES),
    `${Math.round(rss / 2 ** 20)} MiB`,
    `${((used?.rssGrowth ?? NaN) / 2 ** 20).toFixed(1)} MiB`,
  ];
}

function keyOf(n: number): string {
  return `tree/${String(Math.floor(n / KEYS_OF_PREFIX)).padStart(6, "0")}/${n % KEYS_OF_PREFIX}.xml`;
}

/** Puts a million objects straight into the index of a store that does not run: through S3 it would take minutes. */
function fill(folder: string): void {
  const index = openIndexForWriting(folder);
  const etag = createHash("md5").update(".").digest("hex");
  const first = 1_000_000;
  index.exec(`
    BEGIN;
    WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${KEYS - 1})
      INSERT INTO bodies (id, data) SELECT ${first} + n, x'2e' FROM numbers;
    INSERT INTO objects (bucket, key, seq, is_null, size, etag, modified_ms, content_type, owner, body)
      SELECT buckets.id, CAST(printf('tree/%06d/%d.xml', (bodies.id - ${first}) / ${KEYS_OF_PREFIX},
        (bodies.id - ${first}) % ${KEYS_OF_PREFIX}) AS BLOB), 1700000000000000, 1, 1, '${etag}', 1700000000000,
        'application/xml', buckets.owner, bodies.id
      FROM buckets, bodies WHERE buckets.name = '${SAMPLE_BUCKET}' AND bodies.id >= ${first} ORDER BY bodies.id;
    UPDATE buckets SET stored_count = stored_count + ${KEYS}, stored_bytes = stored_bytes + ${KEYS}
      WHERE name = '${SAMPLE_BUCKET}';
    COMMIT;
  `);
  index.close();
}
