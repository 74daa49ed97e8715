import { PutObjectCommand } from "@aws-sdk/client-s3";
import assert from "node:assert/strict";
import { crashRounds } from "@/bench/crash/rounds.ts";
import { ioFaults } from "@/bench/faults/io_faults.ts";
import { faultRounds } from "@/bench/faults/rounds.ts";
import { checkChainFolder } from "@/lib/operations/audit/chain_check.ts";
import { startApplication, STORAGE_ONLY } from "@/tests/application.ts";
import { runTask } from "@/tests/task.ts";
import { accountOf, logIn, putMade, storeClient } from "./gateway_client.ts";

/** `deno task bench crash` has 50. */
const KILLS = 2;
/** The first disks of the rounds: one with some writes that fail, one that is gone, one with some reads that fail. */
const ROUNDS = 3;

Deno.test(
  "embedded store: what was acknowledged survives kill -9 in a mixed load, what was not is whole or absent",
  async () => {
    let compared = 0;
    let unanswered = 0;
    for await (const round of crashRounds(KILLS, Date.now() % 1_000_000)) {
      compared += round.versions;
      unanswered += round.unanswered;
    }
    assert.ok(compared > 0 && unanswered > 0, "the kills came in the middle of the load");
  },
);

const faults = await ioFaults();
const lack = faults ? "" : " (there is no C compiler here for what makes calls fail)";

Deno.test(
  `embedded store: on a failing disk nothing that was acknowledged is lost or changed, and all else is an error${lack}`,
  { ignore: faults === null },
  async () => {
    assert.ok(faults);
    try {
      for await (
        const { disk, failed, refusals, unanswered, ready, end } of faultRounds(faults, ROUNDS, Date.now() % 1_000_000)
      ) {
        assert.ok(failed > 0 && refusals !== "" && unanswered > 0, disk);
        assert.equal(end, "stopped: 0", disk);
        if (disk === "it is gone") assert.equal(ready, "503 full");
      }
    } finally {
      faults.remove();
    }
  },
);

const WRITERS = 8;
/** Acknowledged writes after which the process is killed. */
const WRITES = 150;
const LARGE_BYTES = 64 * 1024 * 1024;
const ARCHIVE = "/mapi/tenants/archive";

Deno.test(
  "whole application: kill -9 loses no object, no setting and no audit record that was acknowledged, and shows no half",
  async () => {
    const dataFolder = Deno.makeTempDirSync();
    const first = await startApplication({ env: STORAGE_ONLY, dataFolder });
    const curator = await logIn(first.site, "archive/curator");
    await curator.json("PUT", `${ARCHIVE}/namespaces`, { name: "kept", hardQuota: "3 GB" });
    await curator.json("PUT", `${ARCHIVE}/userAccounts?password=first-12`, accountOf("lena"));
    await curator.json("POST", `${ARCHIVE}/userAccounts/lena/changePassword`, { newPassword: "second-12" });
    await curator.json("PUT", `${ARCHIVE}/contentClasses`, { name: "kept", namespaces: ["kept"] });
    await curator.json("POST", `${ARCHIVE}/namespaces/kept/protocols/nfs`, { uid: 7 });
    await curator.json("PUT", "/buckets/kept/objects/a", "12345");

    const acknowledged = new Set<string>();
    const direct = await storeClient(curator);
    const ways = [
      (Key: string) => curator.json("PUT", `/buckets/letters/objects/${encodeURIComponent(Key)}`, Key),
      (Key: string) => direct.send(new PutObjectCommand({ Bucket: "letters", Key, Body: Key })),
    ];
    const enough = Promise.withResolvers<void>();
    let isOver = false;
    const write = async (writer: number) => {
      for (let n = 0; !isOver; n++) {
        const key = `killed/${writer}-${n}`;
        try {
          await ways[writer % 2](key);
          acknowledged.add(key);
          if (acknowledged.size === WRITES) enough.resolve();
        } catch {
          // The process has gone.
          return;
        }
      }
    };
    const writers = Array.from({ length: WRITERS }, (_, writer) => write(writer));
    // The kill comes before the long body has arrived whole.
    const { authorization, base } = curator;
    const long = `${base}/buckets/letters/objects/killed/long`;
    let killed: Promise<void> | null = null;
    const large = putMade(long, { authorization }, LARGE_BYTES, 1, async (sent) => {
      if (sent > LARGE_BYTES / 2) await enough.promise.then(() => killed ??= first.kill());
    }).catch(() => null);
    await enough.promise;
    assert.equal(await large, null);
    isOver = true;
    await Promise.all(writers);
    direct.destroy();
    // The end that is noted outside of the trail is never ahead of it.
    const verified = await runTask("verify", dataFolder);
    assert.match(verified.output, / bodies, /);
    const findings = verified.output.split("\n").filter((line) => /^\S+: /.test(line) && !line.startsWith(dataFolder));
    assert.deepEqual(findings.filter((line) => !line.endsWith(": belongs to no object")), [], "a start removes these");

    await using second = await startApplication({ env: STORAGE_ONLY, dataFolder });
    const again = await logIn(second.site, "archive/curator");
    assert.equal((await again.json("GET", `${ARCHIVE}/namespaces/kept`)).hardQuota, "3 GB");
    assert.equal((await again.json("GET", `${ARCHIVE}/namespaces/kept/protocols/nfs`)).uid, 7);
    assert.deepEqual((await again.json("GET", `${ARCHIVE}/contentClasses/kept`)).namespaces, ["kept"]);
    const { chargebackData } = await again.json("GET", `${ARCHIVE}/namespaces/kept/chargebackReport`);
    assert.ok(Array.isArray(chargebackData));
    const [{ bytesIn, writes, objectCount }] = chargebackData;
    assert.deepEqual([bytesIn, writes, objectCount], [5, 1, 1]);
    const own = await logIn(second.site, "archive/lena", "second-12");
    assert.equal((await own.json("GET", `${ARCHIVE}/userAccounts/lena`)).fullName, "lena");

    const { objects } = await again.json("GET", "/buckets/letters/objects?prefix=killed/");
    assert.ok(Array.isArray(objects));
    const keys: string[] = objects.map(({ Key }) => Key);
    assert.deepEqual([...acknowledged].filter((key) => !keys.includes(key)), []);
    for (const key of keys) {
      const response = await again.call("GET", `/buckets/letters/objects/${key}`);
      assert.equal(await response.text(), key, "a write whose response never came is there whole or not at all");
    }
    const query = "format=ndjson&action=object_write&bucket=letters&prefix=killed/";
    const records = (await (await again.call("GET", `/audit?${query}`)).text()).trimEnd().split("\n")
      .map((line) => JSON.parse(line));
    const recorded = records.map(({ target }) => target.key);
    assert.deepEqual([...acknowledged].filter((key) => !recorded.includes(key)), []);
    assert.equal(new Set(recorded).size, recorded.length, "each once");
    for (const { source, target: { key } } of records) {
      assert.equal(source, Number(/\/(\d)-/.exec(key)?.[1]) % 2 === 0 ? "application" : "store", key);
    }
    const bodies = [...Deno.readDirSync(`${dataFolder}/bodies`)].map(({ name }) => `${dataFolder}/bodies/${name}`);
    const sizes = bodies.flatMap((hour) =>
      [...Deno.readDirSync(hour)].map(({ name }) => Deno.statSync(`${hour}/${name}`).size)
    );
    assert.deepEqual(sizes.filter((size) => size > 1024 * 1024), [], "a start removes what is unfinished");
    assert.deepEqual(checkChainFolder(`${dataFolder}/audit`).faults, []);
    Deno.removeSync(dataFolder, { recursive: true });
  },
);
