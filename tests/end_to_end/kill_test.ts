import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { startApplication, STORAGE_ONLY } from "@/tests/application.ts";
import { type GatewayClient, logIn, putMade, streamDigest } from "./gateway_client.ts";

const KILLS = 5;
const WRITERS = 4;
/** So many small writes are acknowledged before each kill. */
const WRITES_PER_ROUND = 20;
const LARGE_BYTES = 64 * 1024 * 1024;

/** What a client was told: the key exists with this digest. */
type Acknowledged = Map<string, string>;

Deno.test({
  name: "whole application: what was acknowledged survives kill -9, what was not finished is never seen",
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    const dataFolder = await Deno.makeTempDir({ prefix: "stackroom-kill-" });
    const acknowledged: Acknowledged = new Map();
    try {
      for (let kill = 0; kill < KILLS; kill++) await writeUntilKilled(dataFolder, kill, acknowledged);
      await checkEverything(dataFolder, acknowledged);
    } finally {
      await Deno.remove(dataFolder, { recursive: true });
    }
  },
});

/** Small and middle-sized writes run beside one large upload, in the middle of which the process is killed. */
async function writeUntilKilled(dataFolder: string, round: number, acknowledged: Acknowledged): Promise<void> {
  const application = await startApplication({ dataFolder, env: STORAGE_ONLY });
  const curator = await logIn(application.site, "archive/curator");
  let killed = false;
  let ofThisRound = 0;
  const enough = Promise.withResolvers<void>();
  const writers = Array.from({ length: WRITERS }, async (_, writer) => {
    for (let n = 0; !killed; n++) {
      const key = `kill-${round}/${writer}-${n}`;
      const body = `${key} `.repeat(n % 3 === 0 ? 4000 : 1 + n % 50);
      const answer = await curator.call("PUT", `/buckets/letters/objects/${key}`, body).catch(() => null);
      if (answer?.status !== 200) return;
      if ((await answer.json().catch(() => null))?.status !== "uploaded") return;
      acknowledged.set(key, createHash("sha256").update(body).digest("hex"));
      if (++ofThisRound >= WRITES_PER_ROUND) enough.resolve();
    }
  });
  // The moment differs by round, and always comes before the large body has arrived whole.
  const killAt = Math.floor((LARGE_BYTES * (round + 1)) / (KILLS + 1));
  const killedNow = Promise.withResolvers<void>();
  const large = putMade(
    `${curator.base}/buckets/letters/objects/large-${round}`,
    { authorization: curator.authorization },
    LARGE_BYTES,
    round,
    async (sent) => {
      if (killed || sent < killAt) return;
      await enough.promise;
      killed = true;
      application.kill().then(killedNow.resolve);
    },
  ).catch(() => null);
  await killedNow.promise;
  assert.equal(await large, null);
  await Promise.all(writers);
}

async function checkEverything(dataFolder: string, acknowledged: Acknowledged): Promise<void> {
  assert.ok(acknowledged.size >= KILLS * WRITES_PER_ROUND);
  const application = await startApplication({ dataFolder, env: STORAGE_ONLY });
  try {
    const curator = await logIn(application.site, "archive/curator");
    const listed = await listAll(curator);
    assert.deepEqual([...listed].filter((key) => key.startsWith("large-")), []);
    for (const [key, digest] of acknowledged) {
      assert.ok(listed.has(key), `${key} was acknowledged and is lost`);
      const answer = await curator.call("GET", `/buckets/letters/objects/${key}`);
      assert.equal((await streamDigest(answer.body)).digest, digest, key);
    }
    // Each writer may have had one write under way whose answer never came: it is there whole, or not at all.
    for (const key of listed) {
      if (acknowledged.has(key) || !key.startsWith("kill-")) continue;
      const answer = await curator.call("GET", `/buckets/letters/objects/${key}`);
      const body = await answer.text();
      assert.equal(body, `${key} `.repeat(body.length / (key.length + 1)), `${key} is half-written`);
    }
    assert.deepEqual(bodyFilesWithoutWriters(dataFolder), 0);
  } finally {
    await application.stop();
  }
}

async function listAll(curator: GatewayClient): Promise<Set<string>> {
  const keys = new Set<string>();
  let token: unknown = null;
  do {
    const query = token === null ? "" : `?continuation_token=${encodeURIComponent(String(token))}`;
    const page = await curator.json("GET", `/buckets/letters/objects${query}`);
    assert.ok(Array.isArray(page.objects));
    for (const { Key } of page.objects) keys.add(Key);
    token = page.next_continuation_token;
  } while (token !== null);
  return keys;
}

/** Files of the unfinished large uploads: a start removes them. */
function bodyFilesWithoutWriters(dataFolder: string): number {
  let large = 0;
  for (const hour of Deno.readDirSync(`${dataFolder}/bodies`)) {
    for (const file of Deno.readDirSync(`${dataFolder}/bodies/${hour.name}`)) {
      if (Deno.statSync(`${dataFolder}/bodies/${hour.name}/${file.name}`).size > 1024 * 1024) large++;
    }
  }
  return large;
}
